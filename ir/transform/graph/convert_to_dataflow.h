// Bindings without effects stand in dataflow blocks, where passes look.
//
//   a = R.matmul(x, w)          with R.dataflow():
//   y = R.nn.relu(a)                a = R.matmul(x, w)
//   z = cls.log(y)                  y = R.nn.relu(a)
//                                   R.output(a, y)
//                               z = cls.log(y)
#ifndef KILN_IR_TRANSFORM_GRAPH_CONVERT_TO_DATAFLOW_H_
#define KILN_IR_TRANSFORM_GRAPH_CONVERT_TO_DATAFLOW_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info. At least two bindings in a row that are
// pure, and neither branch nor make functions, become a block; next to one
// there already is, even one does. Everything is given out of the blocks;
// canonicalize_bindings.h keeps inside what nobody else uses.
absl::StatusOr<Module> ConvertToDataflow(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_CONVERT_TO_DATAFLOW_H_
