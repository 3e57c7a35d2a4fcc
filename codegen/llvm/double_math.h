#ifndef KILN_CODEGEN_LLVM_DOUBLE_MATH_H_
#define KILN_CODEGEN_LLVM_DOUBLE_MATH_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kiln/ir/expr/expr.h"
#include "llvm/IR/IRBuilder.h"

namespace kiln::codegen_internal {

// Emits `op` of float32 scalars or vectors in the arithmetic of float64,
// rounded once: within 0.52 units in the last place. `libm` emits the same by
// calls of libm; it is used where an argument is beyond what the formula holds
// for, in a branch of its own. `fma`: the machine has fused multiplication of
// float64. Null where there is no formula for `op`.
llvm::Value* EmitInDouble(llvm::IRBuilder<>& b, bool fma, Intrinsic op,
                          absl::Span<llvm::Value* const> args,
                          absl::FunctionRef<llvm::Value*()> libm);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_DOUBLE_MATH_H_
