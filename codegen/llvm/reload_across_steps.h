// Loads that several unrolled steps of a sum share. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_RELOAD_ACROSS_STEPS_H_
#define KILN_CODEGEN_LLVM_RELOAD_ACROSS_STEPS_H_

#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instruction.h"

namespace kiln::codegen_internal {

// Where the values of `block` do not fit in the registers: each of its steps
// makes the loads itself that an earlier one has made. `beginnings` are the
// first instructions of the second step and of each later one, in order.
// Returns whether the block changed.
bool ReloadAcrossSteps(llvm::BasicBlock& block,
                       const std::vector<llvm::Instruction*>& beginnings,
                       const llvm::TargetTransformInfo& target);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_RELOAD_ACROSS_STEPS_H_
