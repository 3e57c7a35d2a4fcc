// Multiples of loop counters, step by step. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_STEP_MULTIPLES_H_
#define KILN_CODEGEN_LLVM_STEP_MULTIPLES_H_

#include "llvm/Analysis/LoopInfo.h"

namespace kiln::codegen_internal {

// What multiplies the counter of a loop within another one by a constant
// becomes a counter of its own, unless the constant is 1, 2, 4 or 8: addresses
// scale by those anyway. Returns whether the function of `loops` changed.
bool StepMultiples(const llvm::LoopInfo& loops);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_STEP_MULTIPLES_H_
