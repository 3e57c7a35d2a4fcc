// Multiply-adds of branches that stay what they are. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_FUSE_BRANCH_UPDATES_H_
#define KILN_CODEGEN_LLVM_FUSE_BRANCH_UPDATES_H_

#include "llvm/IR/Function.h"

namespace kiln::codegen_internal {

// Where two or more branches add products to one sum, each addition and its
// product become one llvm.fmuladd, if both allow contraction and have no other
// use. Returns whether the function changed.
bool FuseBranchUpdates(llvm::Function& function);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_FUSE_BRANCH_UPDATES_H_
