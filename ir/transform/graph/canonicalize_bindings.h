// Names that only stand for other names go.
//
//   with R.dataflow():               with R.dataflow():
//       lv = R.exp(x)                    gv = R.exp(x)
//       gv = lv                          R.output(gv)
//       R.output(gv)                 return gv
//   return gv
#ifndef KILN_IR_TRANSFORM_GRAPH_CANONICALIZE_BINDINGS_H_
#define KILN_IR_TRANSFORM_GRAPH_CANONICALIZE_BINDINGS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module whose bindings have struct info. Variables, fields of tuples
// that are known, and casts that check nothing are replaced by what they stand
// for; values that are not needed outside of their dataflow block are kept to
// it; calls whose arguments changed are inferred again.
absl::StatusOr<Module> CanonicalizeBindings(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_CANONICALIZE_BINDINGS_H_
