// Matrix products, softmax and norms.
#include "kiln/ir/te/ops.h"

namespace kiln::te {
namespace {

const DType kF32 = DType::Float(32);

using Indices = const std::vector<Expr>&;

Tensor Input(std::vector<Expr> shape, std::string name) {
  return Placeholder(std::move(shape), kF32, std::move(name));
}

}  // namespace

std::vector<Tensor> Gmm(const Dims& d) {
  const Expr batch = Int(d[0]), n = Int(d[1]), m = Int(d[2]), k = Int(d[3]);
  Tensor x = Input({batch, n, k}, "X"), y = Input({batch, k, m}, "Y");
  IterVar r = ReduceAxis(Int(0), k, "k");
  Tensor z = Compute(
      {batch, n, m},
      [&](Indices i) { return Sum(x(i[0], i[1], r) * y(i[0], r, i[2]), {r}); },
      "Z", {.axes = {"b", "i", "j"}});
  return {x, y, z};
}

std::vector<Tensor> Nrm(const Dims& d) {
  const Expr n = Int(d[0]), m = Int(d[1]);
  Tensor a = Input({Int(1), n, m}, "A");
  IterVar i = ReduceAxis(Int(0), n, "i"), j = ReduceAxis(Int(0), m, "j");
  Tensor c = Compute(
      {Int(1)},
      [&](Indices b) { return Sum(a(b[0], i, j) * a(b[0], i, j), {i, j}); },
      "C", {.axes = {"b"}});
  Tensor root = Compute(
      {Int(1)}, [&](Indices b) { return Call(kF32, Intrinsic::kSqrt, {c(b)}); },
      "D", {.axes = {"b"}});
  return {a, root};
}

std::vector<Tensor> Sfm(const Dims& d) {
  const Expr n = Int(d[0]), m = Int(d[1]);
  Tensor a = Input({n, m}, "A");
  IterVar k = ReduceAxis(Int(0), m, "k"), k2 = ReduceAxis(Int(0), m, "k");
  Tensor highest = Compute(
      {n}, [&](Indices i) { return te::Max(a(i[0], k), {k}); },
      "T_softmax_maxelem");
  Tensor exps = Compute(
      {n, m},
      [&](Indices i) {
        return Call(kF32, Intrinsic::kExp, {a(i) - highest(i[0])});
      },
      "T_softmax_exp");
  Tensor sum = Compute(
      {n}, [&](Indices i) { return Sum(exps(i[0], k2), {k2}); },
      "T_softmax_expsum");
  Tensor norm = Compute(
      {n, m},
      [&](Indices i) { return Binary(ExprKind::kDiv, exps(i), sum(i[0])); },
      "T_softmax_norm", {.annotations = {{"axis", Attr(Int(1))}}});
  return {a, norm};
}

std::vector<Tensor> Tbg(const Dims& d) {
  const Expr one = Int(1), seq = Int(d[0]), heads = Int(d[1]), dim = Int(d[2]);
  Tensor query = Input({one, seq, heads, dim}, "query");
  Tensor value = Input({one, seq, heads, dim}, "value");
  Tensor query_t =
      Compute({one, heads, seq, dim},
              [&](Indices i) { return query(i[0], i[2], i[1], i[3]); },
              "query_T", {.axes = {"b", "h", "l", "d"}});
  Tensor value_t =
      Compute({one, heads, dim, seq},
              [&](Indices i) { return value(i[0], i[3], i[1], i[2]); },
              "value_T", {.axes = {"b", "h", "d", "l"}});
  IterVar k = ReduceAxis(Int(0), dim, "k");
  Tensor c = Compute(
      {one, heads, seq, seq},
      [&](Indices i) {
        return Sum(query_t(i[0], i[1], i[2], k) * value_t(i[0], i[1], k, i[3]),
                   {k});
      },
      "C", {.axes = {"b", "h", "i", "j"}});
  return {query, value, c};
}

}  // namespace kiln::te
