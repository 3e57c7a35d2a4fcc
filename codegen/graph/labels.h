// What instructions are called in profiles and messages.
#ifndef KILN_CODEGEN_GRAPH_LABELS_H_
#define KILN_CODEGEN_GRAPH_LABELS_H_

#include <string>
#include <unordered_map>

#include "kiln/ir/graph/expr.h"

namespace kiln {

// By the variables that bindings of `f` define: their names; of a call that
// writes its result into a tensor, the name that the tensor goes by afterwards:
//
//   alloc = R.builtin.alloc_tensor(...)
//   _ = cls.add(x, alloc)                  called lv1
//   lv1 = alloc
std::unordered_map<const graph::VarNode*, std::string> LabelsOf(
    const graph::FunctionNode& f);

}  // namespace kiln

#endif  // KILN_CODEGEN_GRAPH_LABELS_H_
