#ifndef KILN_CODEGEN_LOWER_STORAGE_PLAN_STORAGE_H_
#define KILN_CODEGEN_LOWER_STORAGE_PLAN_STORAGE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Constant allocations of at most this size go on the stack, while all of a
// function's together stay within the second limit. Those that the program
// puts in scope "local" may be as large as the third one.
inline constexpr int64_t kMaxStackBytes = 16 << 10;
inline constexpr int64_t kMaxStackBytesTogether = 256 << 10;
inline constexpr int64_t kMaxLocalBytes = 64 << 10;

// Decides where each allocation lives: scope "local" is the stack, scope
// "workspace" is memory from the host. A workspace whose size does not depend
// on loops moves to the start of the function, of the innermost parallel loop
// around it, or of a branch that stands in these outside of serial loops, so
// that no serial loop allocates. There, workspaces of one element type whose
// lifetimes do not overlap share one:
//
//   for i: (allocate S: ...)            allocate T:
//   for j: (allocate T: ...)      →       for i: (... T ...)
//                                         for j: (... T ...)
//
// Expects one-dimensional buffers.
absl::StatusOr<Function> PlanStorage(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_STORAGE_PLAN_STORAGE_H_
