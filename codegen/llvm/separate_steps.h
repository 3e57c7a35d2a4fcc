// Unrolled steps of a sum that stay apart. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_SEPARATE_STEPS_H_
#define KILN_CODEGEN_LLVM_SEPARATE_STEPS_H_

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"

namespace kiln::codegen_internal {

// Where a block of code adds to a tile of vectors step by step, and the tile
// fills half of the registers or more: no load moves from one step to another.
// Returns whether the function changed.
bool SeparateSteps(llvm::Function& function,
                   const llvm::TargetTransformInfo& target);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_SEPARATE_STEPS_H_
