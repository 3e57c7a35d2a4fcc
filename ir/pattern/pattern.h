// Patterns over the values of a graph function.
//
//   const Pattern x = Wildcard(), w = Wildcard();
//   const Pattern relu = IsOp("nn.relu", {IsOp("matmul", {x, w})});
//   if (auto match = relu.Match(value, bindings)) Use(match->at(x));
//
// A variable matches as itself and as the value that it is bound to, other
// names for it in between. A pattern that stands in several places has to match
// the same value in all of them; every way to match is tried. Copies of a
// pattern are the same pattern, and Again makes another one.
//
//   IsCallTir({x, y})                     R.call_tir(any, (x, y), ...)
//   IsCallDpsPacked("dnnl.add", {x, y})   R.call_dps_packed("dnnl.add", (x, y))
//   IsUnorderedTuple({a, b})              (a, b) and (b, a)
//
// Several values at once: pattern_context.h.
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
#include "kiln/ir/expr/visit.h"
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
  // What the variables in the extents of patterns stand for.
  const VarMap& dims() const { return dims_; }
  // The values that patterns looked into: calls, tuples and fields, by the
  // variables they are bound to where there are such. The rest are operands.
  std::vector<graph::Expr> Inner() const;
  // All that matched, operands included.
  std::vector<graph::Expr> All() const;

 private:
  friend class Matcher;
  std::map<const PatternNode*, graph::Expr> found_;
  VarMap dims_;
};

class Pattern {
 public:
  explicit Pattern(std::shared_ptr<const PatternNode> node)
      : node_(std::move(node)) {}

  // nullopt where `value` does not match. `info` is what is known of it where
  // it does not say so itself, as a call. Where `accepts` is given, the first
  // match that it takes.
  std::optional<kiln::Match> Match(
      const graph::Expr& value, const BoundValues& bound,
      const graph::StructInfo& info = {},
      const std::function<bool(const kiln::Match&)>& accepts = nullptr) const;

  // Narrower patterns: of what is known of the value, and of the call.
  Pattern HasDType(DType dtype) const;  // of a tensor or a number
  Pattern HasRank(int rank) const;
  Pattern HasShape(std::vector<int64_t> shape) const;
  // Variables in the extents stand for any extent, the same one in all places
  // (Match::dims); (n, 2 * n) matches what is certainly twice as wide as high.
  Pattern HasExtents(std::vector<graph::Scalar> extents) const;
  // Struct info that says at least what `info` does; variables as above.
  Pattern HasInfo(graph::StructInfo info) const;
  Pattern HasAttr(std::string name, Attr value) const;
  Pattern operator|(const Pattern& other) const;
  Pattern operator&(const Pattern& other) const;
  // Another pattern, with what is below it shared.
  Pattern Again() const;

  const PatternNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const PatternNode> node_;
};

Pattern Wildcard();
Pattern IsVar(std::string name = "");  // any name
Pattern IsDataflowVar(std::string name = "");
Pattern IsNot(Pattern pattern);  // what is below it is noted nowhere

// --- Calls, tuples and leaves.

Pattern IsConstant();
// This leaf: a constant, a number, text, a data type, a function or an op by
// its name, extents. Variables in numbers and extents are dimensions of the
// pattern (Pattern::HasExtents); other variables are those of the program.
Pattern IsLeaf(graph::Expr leaf);
Pattern IsTuple(std::vector<Pattern> fields);
// The fields in any order.
Pattern IsUnorderedTuple(std::vector<Pattern> fields);
Pattern IsItem(Pattern tuple, int index);
Pattern IsItem(Pattern tuple);  // any index
// A call of the op with these arguments; more of them may follow.
Pattern IsOp(std::string op, std::vector<Pattern> args);
// One of any op whose name matches the regular expression in full. These two
// refuse (InvalidArgument) what is no regular expression.
absl::StatusOr<Pattern> IsOpLike(const std::string& regex,
                                 std::vector<Pattern> args);
// A function of the module, or a packed one, as an operand, by its name.
absl::StatusOr<Pattern> IsFunctionLike(const std::string& regex);
// A call of whatever matches `callee`, ops included, with these arguments and
// no other.
Pattern IsCall(Pattern callee, std::vector<Pattern> args);
// Such a call whose attributes and declared results are those of `call`; in the
// latter, variables are dimensions of the pattern.
Pattern IsCallLike(const graph::CallNode& call, Pattern callee,
                   std::vector<Pattern> args);
// R.call_tir of a tensor function: its tensors, all of them.
Pattern IsCallTir(std::vector<Pattern> args);
Pattern IsCallTir(Pattern function, std::vector<Pattern> args);
// A packed function that writes into its results.
Pattern IsCallDpsPacked(const std::string& function, std::vector<Pattern> args);
// A packed function that gives its result, pure or not.
Pattern IsCallPacked(const std::string& function, std::vector<Pattern> args);
// A packed function as an operand: "" for any.
Pattern IsExtern(std::string name = "");

// What a call is given: its arguments; of R.call_tir and R.call_dps_packed, the
// tensors.
std::vector<graph::Expr> ArgumentsOf(const graph::CallNode& call);

}  // namespace kiln

#endif  // KILN_IR_PATTERN_PATTERN_H_
