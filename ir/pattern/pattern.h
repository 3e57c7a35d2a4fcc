// Patterns over the values of a graph function.
//
//   const Pattern x = Wildcard(), w = Wildcard();
//   const Pattern relu = IsOp("nn.relu", {IsOp("matmul", {x, w})});
//   if (auto match = relu.Match(value, bindings)) Use(match->at(x));
//
// A variable matches as itself and as the value that it is bound to, other
// names for it in between. A pattern that stands in several places has to match
// the same value in all of them.
#ifndef KILN_IR_PATTERN_PATTERN_H_
#define KILN_IR_PATTERN_PATTERN_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// The values that variables are bound to.
using BoundValues = std::unordered_map<const graph::VarNode*, graph::Expr>;
BoundValues BoundValuesOf(const graph::Expr& e);

class Pattern;
class Matcher;
struct PatternNode;

// What each pattern matched: a variable or another leaf where it stands for an
// operand.
class Match {
 public:
  const graph::Expr& at(const Pattern& pattern) const;
  bool Has(const Pattern& pattern) const;
  // The values that patterns looked into: calls, tuples and fields, by the
  // variables they are bound to where there are such. The rest are operands.
  std::vector<graph::Expr> Inner() const;

 private:
  friend class Matcher;
  std::map<const PatternNode*, graph::Expr> found_;
};

class Pattern {
 public:
  explicit Pattern(std::shared_ptr<const PatternNode> node)
      : node_(std::move(node)) {}

  // nullopt where `value` does not match.
  std::optional<kiln::Match> Match(const graph::Expr& value,
                                   const BoundValues& bound) const;

  // Narrower patterns: of what is known of the value, and of the call.
  Pattern HasDType(DType dtype) const;
  Pattern HasRank(int rank) const;
  Pattern HasShape(std::vector<int64_t> shape) const;
  Pattern HasAttr(std::string name, Attr value) const;
  Pattern operator|(const Pattern& other) const;
  Pattern operator&(const Pattern& other) const;

  const PatternNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const PatternNode> node_;
};

Pattern Wildcard();
Pattern IsVar(std::string name = "");  // any name
Pattern IsConstant();
Pattern IsTuple(std::vector<Pattern> fields);
Pattern IsItem(Pattern tuple, int index);
// A call of the op with these arguments; more of them may follow.
Pattern IsOp(std::string op, std::vector<Pattern> args);
// One of any op whose name matches the regular expression in full. These two
// refuse (InvalidArgument) what is no regular expression.
absl::StatusOr<Pattern> IsOpLike(const std::string& regex,
                                 std::vector<Pattern> args);
// A function of the module, or a packed one, as an operand, by its name.
absl::StatusOr<Pattern> IsFunctionLike(const std::string& regex);
Pattern IsNot(Pattern pattern);

}  // namespace kiln

#endif  // KILN_IR_PATTERN_PATTERN_H_
