// Calls that only give elements in another shape become reshapes.
//
//   lv = R.call_tir(cls.flatten, (x,), out_sinfo=R.Tensor((12,), "float32"))
//   lv = R.reshape(x, R.shape([12]))
#ifndef KILN_IR_TRANSFORM_GRAPH_DATAFLOW_RESHAPE_H_
#define KILN_IR_TRANSFORM_GRAPH_DATAFLOW_RESHAPE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether `f` copies its first parameter to its second one, element by element
// in row-major order.
bool IsReshape(const Function& f);

// The tensor that a R.call_tir of such a function gives in another shape; null
// for other calls.
graph::Expr ReshapedBy(const graph::CallNode& call, const Module& module);

// Takes a module with struct info. Looks at values that dataflow blocks keep to
// themselves: what a function gives out is to be memory of its own.
absl::StatusOr<Module> RewriteDataflowReshape(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_DATAFLOW_RESHAPE_H_
