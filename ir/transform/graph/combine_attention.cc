// What exporters write, with heads moved in front of the sequence and back:
//
//   q = permute_dims(x, [0, 2, 1, 3])
//   t = permute_dims(permute_dims(k, [0, 2, 1, 3]), [0, 1, 3, 2])
//   s = multiply(matmul(q, t), 0.125)
//   p = softmax(add(s, mask))
//   y = permute_dims(matmul(p, permute_dims(v, [0, 2, 1, 3])), [0, 2, 1, 3])
//     →
//   y = nn.attention_bias(x, k, v, mask, scale=0.125)
//
// As one op it is one kernel, in which some rows of scores at a time stay in a
// near cache; of a few rows they stay there anyway.
#include "kiln/ir/transform/graph/combine_attention.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/pattern/rewrite_call.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

// Queries, and keys, from which on scores are worth keeping in a near cache;
// of open lengths they are kept where there are as many of both.
constexpr int64_t kLeastLength = 64;

Pattern Permuted(const Pattern& x, std::initializer_list<int> axes) {
  AttrList list;
  for (const int axis : axes) list.emplace_back(Int(axis));
  return IsOp("permute_dims", {x}).HasAttr("axes", Attr(std::move(list)));
}

Pattern HeadsFirst(const Pattern& x) { return Permuted(x, {0, 2, 1, 3}); }

// A value, perhaps times or by a number.
struct Scaled {
  Pattern factor = IsConstant(), divisor = IsConstant();
  Pattern quotient, pattern;

  explicit Scaled(const Pattern& x)
      : quotient(IsOp("divide", {x, divisor})),
        pattern(x | IsOp("multiply", {x, factor}) |
                IsOp("multiply", {factor, x}) | quotient) {}

  // nullopt where what it is multiplied by is no number.
  std::optional<double> Of(const Match& match) const {
    if (match.Has(quotient)) {
      const auto by = NumberOf(match.at(divisor));
      return by ? std::optional(1 / *by) : std::nullopt;
    }
    return match.Has(factor) ? NumberOf(match.at(factor)) : 1;
  }

  static std::optional<double> NumberOf(const graph::Expr& e) {
    const auto* constant = e.As<graph::ConstantNode>();
    if (!constant || !constant->shape.empty() ||
        !graph::CheckHasBytes(*constant).ok()) {
      return std::nullopt;
    }
    const auto* value = graph::ElementOf(*constant, 0).As<FloatImmNode>();
    return value ? std::optional(value->value) : std::nullopt;
  }
};

class Attention {
 public:
  explicit Attention(const UseCounts& uses) : uses_(uses) {}

  const Pattern& pattern() const { return answers_; }

  // What stands for it; null where it is to stay.
  graph::Expr Combine(const Match& match) const {
    const auto queries = scaled_queries_.Of(match);
    const auto scores = scaled_scores_.Of(match);
    if (!queries || !scores || !IsAlone(match) || !HasShapes(match)) return {};
    const bool has_mask = match.Has(mask_);
    if (has_mask && !SuitsScores(match)) return {};
    std::vector<graph::Expr> args = {match.at(q_), match.at(k_), match.at(v_)};
    if (has_mask) args.push_back(match.at(mask_));
    return graph::CallOp(
        has_mask ? "nn.attention_bias" : "nn.attention", args,
        {{"scale", Attr(Float(*queries * *scores, DType::Float(64)))},
         {"causal_mask", Attr()},
         {"window_size", Attr()}});
  }

 private:
  // Whether nothing else uses what would be computed twice then.
  bool IsAlone(const Match& match) const {
    const std::vector<Pattern> parts = {product_, scaled_scores_.pattern,
                                        masked_, shares_, sum_};
    return absl::c_all_of(parts, [&](const Pattern& part) {
      const auto* var =
          match.Has(part) ? match.at(part).As<graph::VarNode>() : nullptr;
      const auto used = uses_.find(var);
      return used == uses_.end() || used->second <= 1;
    });
  }

  static bool AreEqual(const Expr& a, const Expr& b) {
    Analyzer analyzer;
    return analyzer.CanProveEqual(a, b);
  }

  // (batch, sequence, heads, size) each.
  bool HasShapes(const Match& match) const {
    std::vector<std::vector<Expr>> shapes;
    for (const Pattern& x : {q_, k_, v_}) {
      const auto* tensor = TensorInfoOf(match.at(x));
      if (!tensor || !tensor->extents() || tensor->extents()->size() != 4 ||
          (tensor->dtype != DType::Float(32) &&
           tensor->dtype != DType::Float(64))) {
        return false;
      }
      const int64_t* length = AsInt((*tensor->extents())[1]);
      if (length && *length < kLeastLength) return false;
      shapes.push_back(*tensor->extents());
    }
    if (!AsInt(shapes[1][1]) && !AreEqual(shapes[0][1], shapes[1][1])) {
      return false;
    }
    return absl::c_all_of(shapes, [&](const std::vector<Expr>& shape) {
      return AreEqual(shape[0], shapes[0][0]) &&
             AreEqual(shape[2], shapes[0][2]);
    });
  }

  // Whether the mask has four dimensions, each that of the scores or 1.
  bool SuitsScores(const Match& match) const {
    const auto* mask = TensorInfoOf(match.at(mask_));
    if (!mask || !mask->extents() || mask->extents()->size() != 4) return false;
    const auto& q = *TensorInfoOf(match.at(q_))->extents();
    const auto& k = *TensorInfoOf(match.at(k_))->extents();
    const Expr scores[] = {q[0], q[2], q[1], k[1]};
    for (int i = 0; i < 4; ++i) {
      const Expr& own = (*mask->extents())[i];
      if (!IsOne(own) && !AreEqual(own, scores[i])) return false;
    }
    return mask->dtype == TensorInfoOf(match.at(q_))->dtype;
  }

  const UseCounts& uses_;
  const Pattern q_ = Wildcard(), k_ = Wildcard(), v_ = Wildcard();
  const Pattern mask_ = Wildcard();
  const Pattern queries_ = HeadsFirst(q_);
  const Scaled scaled_queries_{queries_};
  const Pattern keys_ =
      Permuted(HeadsFirst(k_), {0, 1, 3, 2}) | Permuted(k_, {0, 2, 3, 1});
  const Pattern product_ = IsOp("matmul", {scaled_queries_.pattern, keys_});
  const Scaled scaled_scores_{product_};
  const Pattern masked_ = scaled_scores_.pattern |
                          IsOp("add", {scaled_scores_.pattern, mask_}) |
                          IsOp("add", {mask_, scaled_scores_.pattern});
  const Pattern shares_ =
      IsOp("nn.softmax", {masked_}).HasAttr("axis", Attr(Int(-1))) |
      IsOp("nn.softmax", {masked_}).HasAttr("axis", Attr(Int(3)));
  const Pattern sum_ = IsOp("matmul", {shares_, HeadsFirst(v_)});
  const Pattern answers_ = HeadsFirst(sum_);
};

}  // namespace

absl::StatusOr<Module> CombineAttention(const Module& module) {
  Module out = module;
  bool is_combined = false;
  for (graph::GraphFunction& f : out.graph_functions) {
    const UseCounts uses = CountUses(f);
    const Attention attention(uses);
    const graph::Expr e = RewriteCall(
        f, attention.pattern(),
        [&](const graph::Expr& value, const Match& match, graph::Emitter&) {
          return value.As<graph::CallNode>() ? attention.Combine(match)
                                             : graph::Expr();
        });
    is_combined = is_combined || e.get() != f.get();
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  if (!is_combined) return module;
  KILN_ASSIGN_OR_RETURN(Module inferred, InferModule(out));
  return WithoutUnusedBindings(std::move(inferred));
}

}  // namespace kiln
