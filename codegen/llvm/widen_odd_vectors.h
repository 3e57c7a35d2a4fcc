// Vectors that fill no register. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_WIDEN_ODD_VECTORS_H_
#define KILN_CODEGEN_LLVM_WIDEN_ODD_VECTORS_H_

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"

namespace kiln::codegen_internal {

// Where the target has masked loads and stores: what is computed in a number of
// lanes that is no power of two is computed in the next power of two, and what
// shares elements with whole registers in a whole one, as everything is beside
// whole registers of 16 floats, between loads that are masked where they need
// it, and stores where masks have registers of their own. Memory beyond the
// lanes is not touched. Returns whether the function changed.
bool WidenOddVectors(llvm::Function& function,
                     const llvm::TargetTransformInfo& target);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_WIDEN_ODD_VECTORS_H_
