// Rules proved on random inputs.
#ifndef KILN_IR_TRANSFORM_GRAPH_RULES_CHECK_RULE_H_
#define KILN_IR_TRANSFORM_GRAPH_RULES_CHECK_RULE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {

struct RuleCheck {
  int trials = 12;
  uint64_t seed = 0;
  // Functions that the rule calls by name; may be null.
  const graph::PackedTable* packed = nullptr;
};

// Interprets both functions of the rule on the same inputs and compares what
// they give, elements of floats within the error of sums in another order. Each
// trial has extents of its own, of 1 to 5, where the rule leaves them open.
// Tensors of which less is told have shapes that broadcast, and one type of
// several: a rule for R.Tensor holds for bytes, too. Elements are small, and in
// turn reals, integers with zero among them, and positive.
//
// FailedPrecondition with the first counterexample: seed, trial, inputs, and
// what differs. An input on which the pattern cannot run, as an index is out of
// range, is no trial; InvalidArgument where there is no other, with the reason.
// ResourceExhausted where extents that the rule names are too large to be
// interpreted.
absl::Status CheckRule(const Rule& rule, const RuleCheck& check = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_RULES_CHECK_RULE_H_
