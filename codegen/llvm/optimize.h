// The LLVM passes that kernels need. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_OPTIMIZE_H_
#define KILN_CODEGEN_LLVM_OPTIMIZE_H_

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::codegen_internal {

// Runs SROA, EarlyCSE, InstCombine, SimplifyCFG and LICM on every function
// that is not marked to be left alone, and joins its sums over lanes.
// Vector code and unrolling come in with the IR, so that the rest of O3 would
// cost time and gain nothing.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_OPTIMIZE_H_
