// Roundings to a half type move behind what is computed of one element.
//
//   h = R.astype(x, "bfloat16")     f = R.astype(b, "float32")
//   s = R.add(h, b)                 u = R.add(x, f)
//   r = R.nn.relu(s)                v = R.nn.relu(u)
//                                   r = R.astype(v, "bfloat16")
//
// A chain rounds once, and needs no conversions within. Others that read `h`
// keep it as it is.
#ifndef KILN_IR_TRANSFORM_GRAPH_ROUND_LATE_H_
#define KILN_IR_TRANSFORM_GRAPH_ROUND_LATE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info. Looks at float32 values in dataflow blocks
// that are rounded to float16 or bfloat16. Results are closer to those of
// float32, not the same: for models whose half types are a means
// (mixed_precision.h), to run before ops are fused.
absl::StatusOr<Module> RoundLate(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_ROUND_LATE_H_
