// What casts tell of symbolic dimensions.
//
//   y = R.match_cast(x, R.Tensor((k,), "float32"))     of x: (n,), k is n
#ifndef KILN_IR_TRANSFORM_GRAPH_CAST_DIMS_H_
#define KILN_IR_TRANSFORM_GRAPH_CAST_DIMS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a function with struct info. From a cast on, to the end of the sequence
// that it stands in, a dimension that it names is written as what the value's
// own struct info says; so that the cast says nothing new. A dimension that a
// parameter or an earlier cast has is checked by a cast, and stays. What a
// branch gives is cast back where its struct info names the dimension. Of
// dimensions that numbers of the program are made of, which are looked up where
// it runs, the casts and the numbers stay, and only the struct info of other
// bindings says more. A cast that tells what makes some call ill-typed stays
// with all that follow it: the call may be in a branch that is not taken.
absl::StatusOr<graph::GraphFunction> ResolveCastDims(
    const graph::GraphFunction& f, const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_CAST_DIMS_H_
