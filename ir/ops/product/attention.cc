// R.nn.attention: each query is answered by a mean of values, weighted by how
// well their keys match it.
//
//   query (B, S, N, H), key (B, K, N, H), value (B, K, N, V), bias (B, N, S, K)
//   score[b, n, i, j] = sum over h of query[b, i, n, h] * key[b, j, n, h]
//                       * scale + bias[b, n, i, j]
//   y[b, i, n, v] = sum over j of softmax over j of score * value[b, j, n, v]
//
// Which keys a query sees says sight.h. Keys may have fewer heads, each for a
// group of heads of queries. The queries and keys of nn.attention_var_len are
// those of several sequences, one behind the other; how long the longest one
// is, another kind of kernel would ask.
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/product/product.h"
#include "kiln/ir/ops/product/sight.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

absl::Status CheckKeys(const OpCall& call) {
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 1, 0, ExtentOf(call, 0, 0), "the batch is"));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 2, 0, ExtentOf(call, 0, 0), "the batch is"));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 1, 3, ExtentOf(call, 0, 3), "queries have"));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 2, 1, ExtentOf(call, 1, 1), "the keys are"));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 2, 2, ExtentOf(call, 1, 2), "the heads of keys are"));
  const Expr queries = ExtentOf(call, 0, 2), keys = ExtentOf(call, 1, 2);
  if (!queries || !keys || IsZero(keys) ||
      call.AreEqual(FloorMod(queries, keys), Int(0))) {
    return absl::OkStatus();
  }
  return call.ErrorAt(1, "its heads do not divide those of the queries");
}

absl::Status CheckBias(const OpCall& call) {
  if (call.name() != "nn.attention_bias" || !call.Has(3)) {
    return absl::OkStatus();
  }
  KILN_RETURN_IF_ERROR(RankedTensor(call, 3, 4).status());
  const Expr wanted[] = {ExtentOf(call, 0, 0), ExtentOf(call, 0, 2),
                         ExtentOf(call, 0, 1), ExtentOf(call, 1, 1)};
  for (int d = 0; d < 4; ++d) {
    const Expr own = ExtentOf(call, 3, d);
    if (own && IsOne(own)) continue;
    KILN_RETURN_IF_ERROR(
        CheckExtent(call, 3, d, wanted[d], "what it is added to has"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferAttention(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* q, RankedTensor(call, 0, 4));
  for (const size_t arg : {1, 2}) {
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x,
                          RankedTensor(call, arg, 4));
    if (!x->dtype.is_void() && !q->dtype.is_void() && x->dtype != q->dtype) {
      return call.ErrorAt(arg, "its type is not that of the queries");
    }
  }
  KILN_RETURN_IF_ERROR(Sight::Of(call).status());
  KILN_RETURN_IF_ERROR(CheckKeys(call));
  KILN_RETURN_IF_ERROR(CheckBias(call));
  const Expr values = ExtentOf(call, 2, 3);
  if (!q->extents() || !values) return TensorLike(*q, 4, nullptr);
  Extents shape = *q->extents();
  shape[3] = values;
  return TensorLike(*q, 4, &shape);
}

// The head of keys and values that a head of queries reads.
Expr KeyHead(const te::Tensor& q, const te::Tensor& k, const Expr& head) {
  const Expr &queries = q.shape()[2], &keys = k.shape()[2];
  if (queries.get() == keys.get()) return head;
  const int64_t *a = AsInt(queries), *b = AsInt(keys);
  if (a && b && *a == *b) return head;
  return FloorDiv(head, FloorDiv(queries, keys));
}

struct Scores {
  te::Tensor q, k;
  std::optional<te::Tensor> bias;
  std::optional<double> scale;  // 1 / sqrt(H)
  DType dtype;
};

Expr Scaled(const Scores& s, const Expr& product) {
  if (s.scale) return Mul(product, Float(*s.scale, s.dtype));
  const Expr& size = s.q.shape()[3];
  if (const int64_t* known = AsInt(size)) {
    const double root = std::sqrt(static_cast<double>(*known));
    return Binary(ExprKind::kDiv, product, Float(root, s.dtype));
  }
  return Binary(ExprKind::kDiv, product,
                Call(s.dtype, Intrinsic::kSqrt, {Cast(s.dtype, size)}));
}

// (B, N, S, K)
te::Tensor ScoresOf(const Scores& s) {
  const Extents &q = s.q.shape(), &k = s.k.shape();
  const te::IterVar h = te::ReduceAxis(Int(0), q[3], "k");
  const Extents shape = {q[0], q[2], q[1], k[1]};
  const te::Tensor products = te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr head = KeyHead(s.q, s.k, i[1]);
        return te::Sum(Mul(Cast(s.dtype, s.q(i[0], i[2], i[1], h)),
                           Cast(s.dtype, s.k(i[0], i[3], head, h))),
                       {h});
      },
      "T_batch_matmul_NT");
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr score = Scaled(s, products(i));
        if (!s.bias) return score;
        Extents at = i;
        for (size_t d = 0; d < 4; ++d) {
          if (IsOne(s.bias->shape()[d])) at[d] = Int(0);
        }
        return Add(score, Cast(s.dtype, (*s.bias)(at)));
      },
      "T_add");
}

// exp(score - the largest that is seen), and 0 for what is not seen.
te::Tensor Exponentials(const Sight& sight, const te::Tensor& scores) {
  const DType dtype = scores.dtype();
  const auto choose = [&](const Extents& i, const Expr& seen,
                          const Expr& other) {
    const Expr sees = sight.Sees(i[2], i[3]);
    return sees ? Select(sees, seen, other) : seen;
  };
  const Extents& shape = scores.shape();
  const te::IterVar j = te::ReduceAxis(Int(0), shape[3], "k2");
  const te::Tensor largest = te::Compute(
      {shape[0], shape[1], shape[2]},
      [&](const Extents& i) -> te::Value {
        const Extents at = {i[0], i[1], i[2], j};
        const Expr lowest = Call(dtype, Intrinsic::kMinValue, {});
        return te::Max(choose(at, scores(at), lowest), {j});
      },
      "T_softmax_maxelem");
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr below = Sub(scores(i), largest(i[0], i[1], i[2]));
        return choose(i, Call(dtype, Intrinsic::kExp, {below}),
                      Constant(0, dtype));
      },
      "T_softmax_exp");
}

// A query that sees no key is answered by 0 where there are sequences, behind
// which it stands.
te::Tensor Answers(const Scores& s, const Sight& sight, const te::Tensor& exp,
                   const te::Tensor& v) {
  const Extents &q = s.q.shape(), &shape = exp.shape();
  const te::IterVar j = te::ReduceAxis(Int(0), shape[3], "k2");
  const te::Tensor sum = te::Compute(
      {shape[0], shape[1], shape[2]},
      [&](const Extents& i) { return te::Sum(exp(i[0], i[1], i[2], j), {j}); },
      "T_softmax_expsum");
  const te::Tensor weights = te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr total = sum(i[0], i[1], i[2]);
        const Expr share = Binary(ExprKind::kDiv, exp(i), total);
        const Expr zero = Constant(0, s.dtype);
        return sight.key_sequences ? Select(LT(zero, total), share, zero)
                                   : share;
      },
      "T_softmax_norm");
  const te::IterVar key = te::ReduceAxis(Int(0), shape[3], "k");
  return te::Compute(
      {q[0], q[1], q[2], v.shape()[3]},
      [&](const Extents& i) -> te::Value {
        const Expr value = v(i[0], key, KeyHead(s.q, s.k, i[2]), i[3]);
        return te::Sum(
            Mul(weights(i[0], i[2], i[1], key), Cast(s.dtype, value)), {key});
      },
      "T_batch_matmul_NN");
}

absl::StatusOr<Lowered> Attend(const OpCall& call, const Inputs& in,
                               Scores scores, Sight sight) {
  if (!scores.dtype.is_float()) {
    return absl::UnimplementedError("attention of integers");
  }
  if (!call.IsNone("scale")) {
    KILN_ASSIGN_OR_RETURN(scores.scale, call.Real("scale"));
  }
  sight.queries = in[0].shape()[1];
  sight.keys = in[1].shape()[1];
  const te::Tensor exp = Exponentials(sight, ScoresOf(scores));
  const te::Tensor sums = Answers(scores, sight, exp, in[2]);
  if (sums.dtype() == in[0].dtype()) return Lowered(sums);
  return Lowered(te::Compute(
      sums.shape(),
      [&](const Extents& i) -> te::Value {
        return Cast(in[0].dtype(), sums(i));
      },
      "T_cast"));
}

Scores ScoresBetween(const Inputs& in) {
  return {in[0], in[1], std::nullopt, std::nullopt, SumType(in[0].dtype())};
}

absl::StatusOr<Lowered> LowerAttention(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Sight sight, Sight::Of(call));
  Scores scores = ScoresBetween(in);
  if (in.size() > 3) scores.bias = in[3];
  return Attend(call, in, std::move(scores), sight);
}

// --- Several sequences.

absl::StatusOr<StructInfo> InferVarLen(const OpCall& call) {
  for (const size_t arg : {3, 4}) {
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* starts,
                          RankedTensor(call, arg, 1));
    KILN_RETURN_IF_ERROR(CheckIntegers(call, arg, *starts));
  }
  KILN_RETURN_IF_ERROR(CheckExtent(call, 4, 0, ExtentOf(call, 3, 0),
                                   "the starts of queries are"));
  return InferAttention(call);
}

absl::StatusOr<Lowered> LowerVarLen(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(Sight sight, Sight::Of(call));
  if (in.size() < 5) return absl::UnimplementedError("starts are missing");
  sight.query_sequences = Sequences::Of(in[3], in[0].shape()[1]);
  sight.key_sequences = Sequences::Of(in[4], in[1].shape()[1]);
  return Attend(call, in, ScoresBetween(in), sight);
}

constexpr OpRow kRows[] = {
    {"nn.attention", InferAttention, LowerAttention},
    {"nn.attention_bias", InferAttention, LowerAttention},
    {"nn.attention_var_len", InferVarLen, LowerVarLen},
};

}  // namespace

absl::Span<const OpRow> AttentionOps() { return kRows; }

}  // namespace kiln
