// What depends on constants only is computed ahead.
//
//   a = R.add(R.const([1.0, 2.0]), R.const(1.0))
//   y = R.multiply(x, a)  →  y = R.multiply(x, R.const([2.0, 3.0]))
//
// Calls of ops and of tensor functions are: pure ones whose arguments and
// whose result's extents are known. A constant that is made of none, such as
// R.zeros, is kept as a call where it is large, as is what would take the
// interpreter long, and what is wrong: it is told when the program runs.
#ifndef KILN_IR_TRANSFORM_GRAPH_FOLD_CONSTANTS_H_
#define KILN_IR_TRANSFORM_GRAPH_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct FoldOptions {
  // Elements of a constant that is made without one.
  int64_t max_made = 1024;
  // Elements of one that is computed from others.
  int64_t max_elements = int64_t{1} << 26;
  // Loop iterations for one call.
  int64_t max_steps = int64_t{1} << 26;
};

// Takes a module that is inferred (ir/ops/infer.h).
absl::StatusOr<Module> FoldConstants(const Module& module,
                                     const FoldOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FOLD_CONSTANTS_H_
