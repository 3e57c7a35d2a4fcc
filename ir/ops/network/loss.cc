// Losses of networks that tell classes apart:
//
//   R.nn.nll_loss(x, t, w, ignore_index=k)
//       loss[n] = -x[n, t[n]] * w[t[n]] where t[n] != k, else 0
//       mean: the sum of losses, divided by the sum of w[t[n]] that count
//   R.nn.cross_entropy_with_logits(x, y)
//       -sum(x * y) / N, of vectors without the division
#include "kiln/ir/ops/network/loss.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/network/moments.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

constexpr int kUnknown = graph::kUnknownRank;

// --- nll_loss.

// The type that predictions and weights have in common, void where one is not
// known.
absl::StatusOr<DType> TypeOfLoss(const OpCall& call, size_t first) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(first));
  if (!call.Has(first + 2)) return x->dtype;
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* w, call.Tensor(first + 2));
  if (x->dtype.is_void() || w->dtype.is_void()) return DType::Void();
  if (x->dtype == w->dtype) return x->dtype;
  return call.ErrorAt(first + 2, "its type is not that of the predictions");
}

// Losses one by one are of the shape of predictions without their classes.
StructInfo Unreduced(const graph::TensorInfo& x, DType dtype) {
  if (const auto* extents = x.extents()) {
    Extents shape = *extents;
    shape.erase(shape.begin() + (x.rank == 1 ? 0 : 1));
    return graph::Tensor(std::move(shape), dtype, x.device);
  }
  const int rank = x.rank == kUnknown ? kUnknown : x.rank - 1;
  if (rank == 0) return graph::Tensor({}, dtype, x.device);
  return graph::TensorOfRank(rank, dtype, x.device);
}

absl::StatusOr<StructInfo> InferNllLoss(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckLoss(call, 0));
  KILN_RETURN_IF_ERROR(CheckClasses(call, 0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, TypeOfLoss(call, 0));
  KILN_ASSIGN_OR_RETURN(const std::string reduction, ReductionOfLoss(call));
  if (reduction == "none") return Unreduced(*x, dtype);
  return graph::Tensor({}, dtype, x->device);
}

Expr Negative(const Expr& e) { return Sub(Constant(0, e.dtype()), e); }

absl::StatusOr<Lowered> LowerNllLoss(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const ClassLoss loss, ClassLossOf(call, in, 0));
  KILN_ASSIGN_OR_RETURN(const std::string reduction, ReductionOfLoss(call));
  const te::Tensor losses = te::Compute(
      loss.targets.shape(),
      [&](const Extents& i) -> te::Value {
        const Expr own = loss.Prediction(i, loss.Target(i));
        return loss.Unless(i, Mul(Negative(own), loss.Weight(i)));
      },
      "nll_loss");
  if (reduction == "none") return Lowered(losses);
  const te::Tensor sum = SumOfAll(losses, "nll_loss_red");
  if (reduction == "sum") return Lowered(sum);
  const te::Tensor weights = te::Compute(
      loss.targets.shape(),
      [&](const Extents& i) -> te::Value {
        return loss.Unless(i, loss.Weight(i));
      },
      "nll_loss_weight");
  const te::Tensor total = SumOfAll(weights, "nll_loss_weight_red");
  const ExprKind kind =
      sum.dtype().is_float() ? ExprKind::kDiv : ExprKind::kTruncDiv;
  return Lowered(te::Compute(
      {}, [&](const Extents& i) { return Binary(kind, sum(i), total(i)); },
      "T_divide"));
}

// --- cross_entropy_with_logits.

absl::StatusOr<StructInfo> InferCrossEntropy(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Tensor(1));
  const bool is_known = !x->dtype.is_void() && !y->dtype.is_void();
  if (is_known && x->dtype != y->dtype) {
    return call.ErrorAt(1, "its type is not that of the predictions");
  }
  if (x->rank != y->rank && x->rank != kUnknown && y->rank != kUnknown) {
    return call.ErrorAt(1, absl::StrCat("its rank is ", y->rank,
                                        ", that of the predictions ", x->rank));
  }
  for (int d = 0; d < x->rank; ++d) {
    KILN_RETURN_IF_ERROR(CheckExtent(call, 1, d, ExtentOf(call, 0, d),
                                     "that of the predictions"));
  }
  return graph::Tensor({}, is_known ? x->dtype : DType::Void(), x->device);
}

absl::StatusOr<Lowered> LowerCrossEntropy(const OpCall& call,
                                          const Inputs& in) {
  const te::Tensor& x = in[0];
  if (!x.dtype().is_float()) {
    return absl::UnimplementedError("a cross entropy of integers");
  }
  const te::Tensor products = te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value { return Mul(x(i), in[1](i)); },
      "T_multiply");
  const te::Tensor sum = SumOfAll(products, "T_multiply_red");
  const te::Tensor negative = te::Compute(
      {},
      [&](const Extents& i) -> te::Value {
        return Mul(sum(i), Constant(-1, x.dtype()));
      },
      "T_multiply");
  if (x.shape().size() < 2) return Lowered(negative);
  return Lowered(te::Compute(
      {},
      [&](const Extents& i) -> te::Value {
        return Binary(ExprKind::kDiv, negative(i),
                      Cast(x.dtype(), x.shape()[0]));
      },
      "T_divide"));
}

constexpr OpRow kRows[] = {
    {"nn.cross_entropy_with_logits", InferCrossEntropy, LowerCrossEntropy},
    {"nn.nll_loss", InferNllLoss, LowerNllLoss},
};

absl::Status CheckTargets(const OpCall& call, size_t first) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(first));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* t, call.Tensor(first + 1));
  if (!t->dtype.is_void() && !t->dtype.is_integral()) {
    return call.ErrorAt(first + 1, "targets are classes, of an integer type");
  }
  if (x->rank == kUnknown) return absl::OkStatus();
  if (t->rank != kUnknown && t->rank != x->rank - 1) {
    return call.ErrorAt(first + 1,
                        absl::StrCat("targets of these predictions have ",
                                     x->rank - 1, " dimensions"));
  }
  for (int d = 0; d + 1 < x->rank; ++d) {
    const Expr extent = ExtentOf(call, first, d == 0 ? 0 : d + 1);
    KILN_RETURN_IF_ERROR(
        CheckExtent(call, first + 1, d, extent, "that of the predictions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReductionOfLoss(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(std::string reduction, call.String("reduction"));
  if (reduction == "none" || reduction == "sum" || reduction == "mean") {
    return reduction;
  }
  return call.Error(absl::StrCat("`reduction` is \"", reduction,
                                 "\"; it is none, sum or mean"));
}

absl::Status CheckLoss(const OpCall& call, size_t first) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(first));
  if (x->rank == 0) {
    return call.ErrorAt(first, "predictions have a dimension of classes");
  }
  KILN_RETURN_IF_ERROR(TypeOfLoss(call, first).status());
  KILN_RETURN_IF_ERROR(CheckTargets(call, first));
  if (!call.Has(first + 2)) return absl::OkStatus();
  return RankedTensor(call, first + 2, 1).status();
}

absl::Status CheckClasses(const OpCall& call, size_t first) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(first));
  const Expr classes = ExtentOf(call, first, x->rank == 1 ? 0 : 1);
  return CheckExtent(call, first + 2, 0, classes, "the classes are");
}

absl::StatusOr<ClassLoss> ClassLossOf(const OpCall& call, const Inputs& inputs,
                                      size_t first) {
  KILN_ASSIGN_OR_RETURN(const int64_t ignored, call.Int("ignore_index"));
  std::optional<te::Tensor> weights;
  if (inputs.size() > first + 2) weights = inputs[first + 2];
  return ClassLoss{inputs[first], inputs[first + 1], weights, ignored};
}

Expr ClassLoss::Target(const Extents& i) const {
  return Cast(DType::Index(), targets(i));
}

Expr ClassLoss::Unless(const Extents& i, const Expr& value) const {
  const Expr counts = Binary(ExprKind::kNE, Target(i), Int(ignored));
  return Call(value.dtype(), Intrinsic::kIfThenElse,
              {counts, value, Constant(0, value.dtype())});
}

Expr ClassLoss::Weight(const Extents& i) const {
  if (!weights) return Constant(1, predictions.dtype());
  return (*weights)(std::vector<Expr>{Target(i)});
}

Expr ClassLoss::Prediction(Extents i, const Expr& c) const {
  i.insert(i.begin() + ClassAxis(), c);
  return predictions(std::move(i));
}

te::Tensor SumOfAll(const te::Tensor& x, const std::string& name) {
  if (x.shape().empty()) return x;
  Sample sample;
  sample.extents = x.shape();
  sample.is_reduced.resize(x.shape().size(), true);
  return SumOver(sample, [&](const Extents& i) { return x(i); }, name);
}

absl::Span<const OpRow> LossOps() { return kRows; }

}  // namespace kiln
