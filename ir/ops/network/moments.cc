#include "kiln/ir/ops/network/moments.h"

#include "absl/strings/str_cat.h"

namespace kiln {

using Extents = std::vector<Expr>;

Extents Sample::Kept(const Extents& i) const {
  Extents kept;
  for (size_t d = 0; d < i.size(); ++d) {
    if (!is_reduced[d]) kept.push_back(i[d]);
  }
  return kept;
}

Expr Sample::Count(DType dtype) const {
  Expr count = Int(1);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (is_reduced[d]) count = Mul(count, extents[d]);
  }
  if (const int64_t* value = AsInt(count)) {
    return Constant(static_cast<double>(*value), dtype);
  }
  return Cast(dtype, count);
}

te::Tensor SumOver(const Sample& sample, FunctionRef<Expr(const Extents&)> term,
                   const std::string& name) {
  std::vector<te::IterVar> axes;
  for (size_t d = 0; d < sample.extents.size(); ++d) {
    if (!sample.is_reduced[d]) continue;
    axes.push_back(
        te::ReduceAxis(Int(0), sample.extents[d], absl::StrCat("k", d)));
  }
  return te::Compute(
      sample.Kept(sample.extents),
      [&](const Extents& i) -> te::Value {
        Extents at;
        size_t kept = 0, axis = 0;
        for (const bool is_reduced : sample.is_reduced) {
          at.push_back(is_reduced ? Expr(axes[axis++]) : i[kept++]);
        }
        const Expr value = term(at);
        return axes.empty() ? te::Value(value) : te::Sum(value, axes);
      },
      name);
}

Moments MomentsOf(const Sample& sample) {
  const te::Tensor sum = SumOver(sample, sample.element, "x_sum");
  const te::Tensor mean = te::Compute(
      sum.shape(),
      [&](const Extents& i) -> te::Value {
        return Binary(ExprKind::kDiv, sum(i), sample.Count(sum.dtype()));
      },
      "x_mean");
  const te::Tensor squares = SumOver(
      sample,
      [&](const Extents& i) {
        const Expr distance = Sub(sample.element(i), mean(sample.Kept(i)));
        return Mul(distance, distance);
      },
      "x_var_sum");
  return {mean, squares};
}

Expr InverseDeviation(const Sample& sample, const Expr& squares,
                      double epsilon) {
  const DType dtype = squares.dtype();
  const Expr variance = Binary(ExprKind::kDiv, squares, sample.Count(dtype));
  return Call(dtype, Intrinsic::kRsqrt, {Add(variance, Float(epsilon, dtype))});
}

}  // namespace kiln
