// What LLVM knows of a target's processor. Internal to codegen/target.
#ifndef KILN_CODEGEN_TARGET_SUBTARGET_H_
#define KILN_CODEGEN_TARGET_SUBTARGET_H_

#include <memory>

#include "kiln/codegen/target/target.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen_internal {

// Whether code is generated for it: 64-bit x86 and AArch64, little-endian, in
// ELF objects.
bool CanEmit(const llvm::Triple& triple);

// Null where this LLVM does not know the triple.
std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(const Target& target);

// Sets what follows from triple, CPU, features and number of cores: machine,
// fma and bf16.
void Describe(Target* target);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_TARGET_SUBTARGET_H_
