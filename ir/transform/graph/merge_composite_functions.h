// Composite functions of one library that follow each other become one function
// for its code generator.
//
//   a = cls.add(x, y)       gv = cls.add_relu_dnnl(x, y)
//   gv = cls.relu(a)
//
// where add and relu say "Composite": "dnnl.add", "dnnl.relu", and the new
// function, which holds both, "Codegen": "dnnl".
#ifndef KILN_IR_TRANSFORM_GRAPH_MERGE_COMPOSITE_FUNCTIONS_H_
#define KILN_IR_TRANSFORM_GRAPH_MERGE_COMPOSITE_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info, as FuseOpsByPattern leaves it. Looks at the
// dataflow blocks of functions that are not composite themselves. A call joins
// those that its arguments come from, unless something of another kind lies in
// between. What several of a group's values are needed for, it gives as a
// tuple. Composite functions that nothing calls any more are dropped.
absl::StatusOr<Module> MergeCompositeFunctions(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_MERGE_COMPOSITE_FUNCTIONS_H_
