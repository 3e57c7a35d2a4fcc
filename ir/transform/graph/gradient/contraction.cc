// Products by labels, and attention, which is two of them.
//
//   y = R.einsum((a, b), "bij,jk->bik")    of a: R.einsum((grad, b),
//   "bik,jk->bij")
//
// A label that only one operand has, and not the result, is one that the
// partial repeats. Of attention, with the weights p that values get:
//
//   of value: p^T grad       of scores: p * (grad value^T - sum(p * ...))
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;
using graph::Scalar;

Expr Einsum(std::vector<Expr> operands, std::string subscripts) {
  return CallOp("einsum", {graph::TupleOf(std::move(operands))},
                {{"subscripts", Attr(std::move(subscripts))}});
}

// Labels of the operands and of the result.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

absl::StatusOr<Equation> EquationOf(const GradientCall& call) {
  const std::string* text = call.attr("subscripts").string();
  if (!text) return call.Refuse("its `subscripts` have to be text");
  std::string plain = *text;
  plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
  if (plain.find('.') != std::string::npos) {
    return call.Refuse("its dimensions need labels, in place of \"...\"");
  }
  const size_t arrow = plain.find("->");
  Equation equation;
  equation.operands = absl::StrSplit(plain.substr(0, arrow), ',');
  if (arrow != std::string::npos) {
    equation.result = plain.substr(arrow + 2);
    return equation;
  }
  // The labels that occur once, by the alphabet.
  const std::string all = absl::StrJoin(equation.operands, "");
  for (const char label : std::set<char>(all.begin(), all.end())) {
    if (std::count(all.begin(), all.end(), label) == 1) {
      equation.result += label;
    }
  }
  return equation;
}

// The partial of operand `i`; `fields` are the operands.
absl::StatusOr<Expr> OfOperand(const GradientCall& call,
                               const Equation& equation,
                               const std::vector<Expr>& fields, size_t i) {
  const std::string& own = equation.operands[i];
  if (std::set<char>(own.begin(), own.end()).size() != own.size()) {
    return call.Refuse("an operand has a label twice");
  }
  std::vector<std::string> labels = {equation.result};
  std::vector<Expr> operands = {call.grad()};
  for (size_t k = 0; k < fields.size(); ++k) {
    if (k == i) continue;
    labels.push_back(equation.operands[k]);
    operands.push_back(fields[k]);
  }
  const std::string known = absl::StrJoin(labels, "");
  const graph::StructInfo info = graph::InfoOf(fields[i]);
  const auto* tensor = info.As<graph::TensorInfo>();
  if (!tensor || !tensor->extents()) {
    return call.Refuse("the extents of its operands have to be known");
  }
  std::string given;
  std::vector<int64_t> alone;
  for (size_t d = 0; d < own.size(); ++d) {
    if (known.find(own[d]) == std::string::npos) {
      alone.push_back(static_cast<int64_t>(d));
    } else {
      given += own[d];
    }
  }
  const Expr e =
      Einsum(operands, absl::StrCat(absl::StrJoin(labels, ","), "->", given));
  if (alone.empty()) return e;
  return CallOp("broadcast_to",
                {CallOp("expand_dims", {e}, {{"axis", AxesAttr(alone)}}),
                 ShapeOfInfo(*tensor)});
}

absl::StatusOr<Partials> OfEinsum(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Equation equation, EquationOf(call));
  const auto* tuple = call.arg(0).As<graph::TupleNode>();
  std::vector<Expr> fields;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    fields.push_back(
        tuple ? tuple->fields[i]
              : call.Emit(graph::Item(call.arg(0), static_cast<int>(i))));
  }
  std::vector<Expr> partials;
  for (size_t i = 0; i < fields.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(partials.emplace_back(),
                          OfOperand(call, equation, fields, i));
  }
  return Partials{graph::TupleOf(std::move(partials))};
}

// --- Attention: queries (b, q, n, h), keys (b, k, n, h), values (b, k, n, v).

struct Attention {
  const graph::TensorInfo *query, *key;
  double scale;
};

absl::StatusOr<Attention> AttentionOf(const GradientCall& call) {
  Attention a;
  KILN_ASSIGN_OR_RETURN(a.query, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(a.key, call.Tensor(1));
  const Scalar &heads = (*a.query->extents())[2], &own = (*a.key->extents())[2];
  const int64_t *have = AsInt(heads), *want = AsInt(own);
  if (heads.get() != own.get() && !(have && want && *have == *want)) {
    return call.Refuse("queries and keys have to have as many heads");
  }
  if (!call.attr("scale").is_none()) {
    KILN_ASSIGN_OR_RETURN(a.scale, call.Real("scale"));
    return a;
  }
  const int64_t* size = AsInt((*a.query->extents())[3]);
  if (!size) return call.Refuse("the extent of a head has to be a constant");
  a.scale = 1 / std::sqrt(static_cast<double>(*size));
  return a;
}

// (b, q, n, k): what each key's value is weighted by, which attention gives for
// values that are one at their key and zero elsewhere.
absl::StatusOr<Expr> WeightsOf(const GradientCall& call, const Attention& a) {
  const auto& keys = *a.key->extents();
  const Expr ones = CallOp("ones", {graph::ShapeOf({keys[1], keys[1]})},
                           {{"dtype", a.key->dtype.ToString()}});
  const Expr number = graph::Number(Int(0));
  const Expr unit = CallOp("tril", {CallOp("triu", {ones, number}), number});
  const Expr values =
      CallOp("broadcast_to",
             {CallOp("expand_dims", {unit}, {{"axis", AxesAttr({0, 2})}}),
              graph::ShapeOf({keys[0], keys[1], keys[2], keys[1]})});
  std::vector<Expr> args = call.node().args;
  args[2] = values;
  const std::string name = call.node().callee.As<graph::OpNode>()->name;
  return call.Emit(CallOp(name, std::move(args), call.node().attrs));
}

absl::StatusOr<Partials> OfAttention(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Attention a, AttentionOf(call));
  KILN_ASSIGN_OR_RETURN(const Expr weights, WeightsOf(call, a));
  const Expr of_weights =
      call.Emit(Einsum({call.grad(), call.arg(2)}, "bqnv,bknv->bqnk"));
  const Expr along =
      CallOp("sum", {Times(of_weights, weights)},
             {{"axis", AxesAttr({3})}, {"keepdims", Bool(true)}});
  const Expr scores = call.Emit(Times(weights, Minus(of_weights, along)));
  const Expr scaled =
      call.Emit(Times(scores, NumberLike(a.scale, call.arg(0))));
  Partials partials(call.size());
  partials[0] = Einsum({scaled, call.arg(1)}, "bqnk,bknh->bqnh");
  partials[1] = Einsum({scaled, call.arg(0)}, "bqnk,bqnh->bknh");
  partials[2] = Einsum({weights, call.grad()}, "bqnk,bqnv->bknv");
  if (call.IsWanted(3)) {
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* bias, call.Tensor(3));
    partials[3] = CallOp("collapse_sum_to",
                         {Permuted(scores, {0, 2, 1, 3}), ShapeOfInfo(*bias)});
  }
  return partials;
}

constexpr GradientRow kRows[] = {
    {"einsum", OfEinsum},
    {"nn.attention", OfAttention},
    {"nn.attention_bias", OfAttention},
};

}  // namespace

absl::Span<const GradientRow> ContractionGradients() { return kRows; }

}  // namespace kiln
