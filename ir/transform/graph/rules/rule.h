// Rules as text: what to find, and what to put there, as two graph functions.
//
//   @R.function
//   def pattern(x: R.Tensor(("m", "k"), "float32"),
//               a: R.Tensor(("k", "n"), "float32"),
//               b: R.Tensor(("k", "n"), "float32")):
//       return R.add(R.matmul(x, a), R.matmul(x, b))
//
//   @R.function
//   def replacement(x: R.Tensor(("m", "k"), "float32"),
//                   a: R.Tensor(("k", "n"), "float32"),
//                   b: R.Tensor(("k", "n"), "float32")):
//       return R.matmul(x, R.add(a, b))
//
// A parameter stands for any value of its struct info, a dimension for any
// extent; extents that are not told (ndim=2) may be any. A tuple as the result
// is several values that are found together. Parameters of the two functions
// are the same ones by their places, whatever their names.
//
// A text with several rules calls them pattern_NAME and replacement_NAME.
#ifndef KILN_IR_TRANSFORM_GRAPH_RULES_RULE_H_
#define KILN_IR_TRANSFORM_GRAPH_RULES_RULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct Rule {
  std::string name;
  // Inferred; has the two functions, as the text calls them, and the tensor
  // functions that they call.
  Module module;
  std::string pattern_name, replacement_name;
  // The two, in the dimensions of the pattern. Their bodies are calls, tuples
  // and fields of tuples, in one order.
  graph::GraphFunction pattern, replacement;
};

// The rules of a text, in their order. `name` is what messages call the text.
//
// InvalidArgument names the rule and says what is wrong: parameters or results
// that differ, a parameter or a dimension that the replacement uses and the
// pattern does not tell, a result that matches everything, a value that no
// result needs, what is no call of an op, of a tensor function or of a pure
// packed function, and a pattern of more than 1000 calls and operands.
absl::StatusOr<std::vector<Rule>> ReadRules(const std::string& name,
                                            const std::string& text);
// The only one of a text.
absl::StatusOr<Rule> ReadRule(const std::string& name, const std::string& text);

// The bindings of a function of a rule, and its results: fields of the tuple
// that it gives, or what it gives.
struct RuleBody {
  std::vector<graph::Binding> bindings;
  std::vector<graph::Expr> results;
};
RuleBody BodyOf(const graph::FunctionNode& f);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_RULES_RULE_H_
