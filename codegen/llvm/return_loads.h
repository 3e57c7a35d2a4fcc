// Loads that loops do not change, where the registers do not suffice for them.
// Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_RETURN_LOADS_H_
#define KILN_CODEGEN_LLVM_RETURN_LOADS_H_

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/ValueHandle.h"

namespace kiln::codegen_internal {

// The vectors that the blocks of loops load, and the elements that they spread
// over the lanes of one, as they stand before LICM.
class LoadsInLoops {
 public:
  LoadsInLoops(llvm::Function& function, const llvm::LoopInfo& loops);

  // After LICM, and nothing else: what it moved out of a block goes back where
  // that block asks for more vector registers than there are, what is used
  // least often first. Returns whether the function changed.
  bool Return(const llvm::LoopInfo& loops,
              const llvm::TargetTransformInfo& target) const;

 private:
  // By block, in a fixed order.
  llvm::MapVector<llvm::BasicBlock*, std::vector<llvm::WeakVH>> loads_;
};

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_RETURN_LOADS_H_
