// A pattern is a tree of nodes that are compared by identity; each node is a
// test of a value, and of what follows (matcher.h). What a node matched is
// noted, and taken back where an alternative fails:
//
//   (exp(a) | log(a)) on log(x): exp fails, log matches, a is x
#include "kiln/ir/pattern/pattern.h"

#include <algorithm>
#include <utility>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/pattern/make_pattern.h"
#include "kiln/ir/pattern/matcher.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

BoundValues BoundValuesOf(const graph::Expr& e) {
  BoundValues bound;
  graph::Visit(e, [&](const graph::Expr& below) {
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return true;
    for (const graph::BindingBlock& block : seq->blocks) {
      for (const graph::Binding& binding : block.bindings) {
        bound[binding.var.get()] = binding.value;
      }
    }
    return true;
  });
  return bound;
}

const graph::Expr& Match::at(const Pattern& pattern) const {
  static const graph::Expr& none = *new graph::Expr();
  const auto found = found_.find(pattern.get());
  return found == found_.end() ? none : found->second;
}

bool Match::Has(const Pattern& pattern) const {
  return found_.count(pattern.get()) > 0;
}

std::vector<graph::Expr> Match::Inner() const {
  std::vector<graph::Expr> inner;
  for (const auto& [pattern, value] : found_) {
    if (pattern->looks_inside) inner.push_back(value);
  }
  return inner;
}

std::vector<graph::Expr> Match::All() const {
  std::vector<graph::Expr> all;
  for (const auto& [pattern, value] : found_) all.push_back(value);
  return all;
}

std::optional<Match> Pattern::Match(
    const graph::Expr& value, const BoundValues& bound,
    const graph::StructInfo& info,
    const std::function<bool(const kiln::Match&)>& accepts) const {
  Matcher matcher(bound, value, info);
  const bool matches = matcher.Run(*this, value, [&] {
    return matcher.HoldsWhatWasPutOff() &&
           (!accepts || accepts(matcher.match()));
  });
  if (!matches) return std::nullopt;
  return matcher.match();
}

Pattern MakePattern(PatternTest test) {
  return Pattern(
      std::make_shared<const PatternNode>(PatternNode{std::move(test), false}));
}

Pattern MakeInnerPattern(PatternTest test) {
  return Pattern(
      std::make_shared<const PatternNode>(PatternNode{std::move(test), true}));
}

Pattern Narrowed(const Pattern& pattern, PatternTest test) {
  return MakePattern(
      [pattern, test](const graph::Expr& e, Matcher& matcher, Then then) {
        return matcher.Run(pattern, e, [&] { return test(e, matcher, then); });
      });
}

namespace {

bool AreSameConstants(const Expr& a, const Expr& b) {
  const int64_t* left = AsInt(a);
  const int64_t* right = AsInt(b);
  if (left && right) {
    return *left == *right && a.dtype().is_bool() == b.dtype().is_bool();
  }
  return SameExpr(a, b) || PrintExpr(a) == PrintExpr(b);
}

}  // namespace

bool AreSame(const AttrMap& a, const AttrMap& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) {
                      return left.first == right.first &&
                             AreSame(left.second, right.second);
                    });
}

bool AreSame(const Attr& a, const Attr& b) {
  if (a.value.index() != b.value.index()) return false;
  if (a.expr()) return AreSameConstants(*a.expr(), *b.expr());
  if (a.string()) return *a.string() == *b.string();
  if (a.map()) return AreSame(*a.map(), *b.map());
  if (!a.list()) return true;
  return std::equal(
      a.list()->begin(), a.list()->end(), b.list()->begin(), b.list()->end(),
      [](const Attr& left, const Attr& right) { return AreSame(left, right); });
}

Pattern Pattern::HasDType(DType dtype) const {
  return Narrowed(
      *this, [dtype](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::StructInfo info = matcher.InfoOf(e);
        const auto* tensor = info.As<graph::TensorInfo>();
        const auto* prim = info.As<graph::PrimInfo>();
        const bool has =
            tensor ? tensor->dtype == dtype : prim && prim->dtype == dtype;
        return has && then();
      });
}

Pattern Pattern::HasRank(int rank) const {
  return Narrowed(*this,
                  [rank](const graph::Expr& e, Matcher& matcher, Then then) {
                    const graph::StructInfo info = matcher.InfoOf(e);
                    const auto* tensor = info.As<graph::TensorInfo>();
                    return tensor && tensor->rank == rank && then();
                  });
}

Pattern Pattern::HasShape(std::vector<int64_t> shape) const {
  std::vector<graph::Scalar> extents;
  for (const int64_t extent : shape) extents.push_back(Int(extent));
  return HasExtents(std::move(extents));
}

Pattern Pattern::HasExtents(std::vector<graph::Scalar> extents) const {
  return HasInfo(graph::Tensor(std::move(extents), DType::Void()));
}

Pattern Pattern::HasInfo(graph::StructInfo info) const {
  return Narrowed(*this,
                  [info](const graph::Expr& e, Matcher& matcher, Then then) {
                    return matcher.RunInfo(info, matcher.InfoOf(e), then);
                  });
}

Pattern Pattern::HasAttr(std::string name, Attr value) const {
  return Narrowed(
      *this, [name, value](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr bound = matcher.ValueOf(e);
        const auto* call = bound.As<graph::CallNode>();
        if (!call) return false;
        const auto found = call->attrs.find(name);
        return found != call->attrs.end() && AreSame(found->second, value) &&
               then();
      });
}

Pattern Pattern::operator|(const Pattern& other) const {
  return MakePattern([a = *this, b = other](const graph::Expr& e,
                                            Matcher& matcher, Then then) {
    return matcher.Run(a, e, then) || matcher.Run(b, e, then);
  });
}

Pattern Pattern::operator&(const Pattern& other) const {
  return MakePattern([a = *this, b = other](const graph::Expr& e,
                                            Matcher& matcher, Then then) {
    return matcher.Run(a, e, [&] { return matcher.Run(b, e, then); });
  });
}

Pattern Pattern::Again() const {
  return Pattern(std::make_shared<const PatternNode>(*node_));
}

Pattern Wildcard() {
  return MakePattern(
      [](const graph::Expr&, Matcher&, Then then) { return then(); });
}

Pattern IsVar(std::string name) {
  return MakePattern([name](const graph::Expr& e, Matcher&, Then then) {
    const auto* var = e.As<graph::VarNode>();
    return var && (name.empty() || var->name == name) && then();
  });
}

Pattern IsDataflowVar(std::string name) {
  return MakePattern([name](const graph::Expr& e, Matcher&, Then then) {
    const auto* var = e.As<graph::VarNode>();
    return var && var->is_dataflow && (name.empty() || var->name == name) &&
           then();
  });
}

Pattern IsNot(Pattern pattern) {
  return MakePattern(
      [pattern](const graph::Expr& e, Matcher& matcher, Then then) {
        return !matcher.Tries(pattern, e) && then();
      });
}

}  // namespace kiln
