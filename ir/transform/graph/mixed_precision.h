// Products and convolutions of float32 are computed of float16, and so is what
// follows them, where that does no harm.
//
//   y = R.nn.conv2d(x, w)       h = R.astype(x, "float16")
//   z = R.nn.relu(y)            v = R.astype(w, "float16")
//   return z                    s = R.nn.conv2d(h, v, out_dtype="float32")
//                               y = R.astype(s, "float16")
//                               r = R.nn.relu(y)
//                               z = R.astype(r, "float32")
//
// What dataflow blocks give out, and what other blocks see, keeps its type.
#ifndef KILN_IR_TRANSFORM_GRAPH_MIXED_PRECISION_H_
#define KILN_IR_TRANSFORM_GRAPH_MIXED_PRECISION_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

struct MixedPrecisionOptions {
  // Of what products and convolutions are computed: float16 or bfloat16.
  DType half = DType::Float(16);
  // In which they add up: float32 or that type.
  DType sums = DType::Float(32);
  // Parameters of float32 tensors that become such ones, by name, of every
  // function that has them.
  std::set<std::string> half_params;
};

// Takes a module that is inferred (ir/ops/infer.h). InvalidArgument for other
// types.
absl::StatusOr<Module> ToMixedPrecision(
    const Module& module, const MixedPrecisionOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_MIXED_PRECISION_H_
