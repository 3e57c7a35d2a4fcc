// Rewriting a module by rules.
#ifndef KILN_IR_TRANSFORM_GRAPH_RULES_APPLY_RULES_H_
#define KILN_IR_TRANSFORM_GRAPH_RULES_APPLY_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {

// Takes a module with struct info, and gives one. Rules are applied one after
// the other, and again from the first, until none matches; functions that are
// one kernel or are called by a library (primitive, composite) are left alone.
// Values match within a dataflow block, or within bindings without effects that
// follow each other. What only replaced values needed goes.
//
// A rule that names tensor functions matches calls of functions equal to them,
// whatever their names, and the module gets those of the replacement.
//
// Rules are taken at their word: check_rule.h proves them. ResourceExhausted
// where they do not come to an end (ir/pattern/rewrite_bindings.h), with their
// names.
absl::StatusOr<Module> ApplyRules(const Module& module,
                                  const std::vector<Rule>& rules);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_RULES_APPLY_RULES_H_
