// Calls that only give elements in another shape become views, where nobody can
// see that they share memory:
//
//   lv1 = R.call_tir(cls.reshape, (lv,), R.Tensor((1, 128, 12, 32), "float32"))
//     ->
//   lv1 = R.memory.view(lv, R.shape([1, 128, 12, 32]))
#ifndef KILN_IR_TRANSFORM_GRAPH_VIEW_RESHAPES_H_
#define KILN_IR_TRANSFORM_GRAPH_VIEW_RESHAPES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// In dataflow blocks, of tensors that a R.call_tir made or that are parameters
// of the function, where R.call_tir alone reads them and the view.
absl::StatusOr<Module> ViewReshapes(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_VIEW_RESHAPES_H_
