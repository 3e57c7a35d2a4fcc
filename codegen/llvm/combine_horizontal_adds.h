// Sums over the lanes of several vectors at a time. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_COMBINE_HORIZONTAL_ADDS_H_
#define KILN_CODEGEN_LLVM_COMBINE_HORIZONTAL_ADDS_H_

#include "llvm/IR/Function.h"

namespace kiln::codegen_internal {

// Where three or four vectors of one block of code are each summed up, first
// their quarters (halves) of four lanes and then these four one after the
// other:
//
//   y = z[0:4] + z[4:8] + z[8:12] + z[12:16]      for each z of z0, z1, z2, z3
//   s = y[0] + y[1] + y[2] + y[3]
//
// makes vectors of the first, second .. quarters of all of them, so that each
// addition is one operation for all. Results are the same to the last bit.
// Returns whether it changed anything. Done in functions with the mark
// kLaneSums (ir/tensor/marks.h).
bool CombineHorizontalAdds(llvm::Function& function);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_COMBINE_HORIZONTAL_ADDS_H_
