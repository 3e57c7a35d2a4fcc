// Functions that get other parameters or results, and their callers.
#ifndef KILN_IR_TRANSFORM_GRAPH_SIGNATURES_H_
#define KILN_IR_TRANSFORM_GRAPH_SIGNATURES_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Private graph functions that are only named to be called, as the value of a
// binding: their signatures may change.
std::set<std::string> OnlyCalled(const Module& module);

// Calls, by the name of the function, rewritten: gives the arguments.
using ArgumentRule = std::function<std::vector<graph::Expr>(
    const graph::CallNode&, graph::Emitter&)>;
void RewriteArguments(const std::map<std::string, ArgumentRule>& rules,
                      Module& module);

// Private functions do without parameters that they do not use; dimensions that
// only those told are handed over as shapes.
absl::StatusOr<Module> RemoveUnusedParameters(const Module& module);

// Private functions give only those fields of a tuple that a caller looks at.
absl::StatusOr<Module> RemoveUnusedOutputs(const Module& module);

// Tuples that private functions take are handed over field by field.
absl::StatusOr<Module> ExpandTupleArguments(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_SIGNATURES_H_
