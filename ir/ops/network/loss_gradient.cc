// Gradients that training asks for by name:
//
//   R.grad.nll_loss_backward(g, x, t, w)    of R.nn.nll_loss by x:
//       -w[t[n]] * g[n] at class t[n], 0 at others; g / the sum of weights
//       where the loss was a mean
//   R.grad.take_backward(g, x, i, axis=0)   of R.take by x: every row of g is
//       added to the row of x that it was taken from
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/network/loss.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/script.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferNllGradient(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  KILN_RETURN_IF_ERROR(CheckLoss(call, 1));
  KILN_RETURN_IF_ERROR(ReductionOfLoss(call).status());
  return call.info(1);
}

absl::StatusOr<Lowered> LowerNllGradient(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const ClassLoss loss, ClassLossOf(call, in, 1));
  KILN_ASSIGN_OR_RETURN(const std::string reduction, ReductionOfLoss(call));
  if (!in[0].shape().empty()) {
    KILN_RETURN_IF_ERROR(
        RankedTensor(call, 0, static_cast<int>(loss.targets.shape().size()))
            .status());
  }
  const te::Tensor weights = te::Compute(
      loss.targets.shape(),
      [&](const Extents& i) -> te::Value {
        return loss.Unless(i, loss.Weight(i));
      },
      "all_weights");
  const te::Tensor total = SumOfAll(weights, "all_weights_red");
  const DType dtype = weights.dtype();
  const ExprKind divide =
      dtype.is_float() ? ExprKind::kDiv : ExprKind::kTruncDiv;
  te::Tensor grads = te::Compute(
      loss.targets.shape(),
      [&](const Extents& at) -> te::Value {
        return Cast(dtype, in[0](in[0].shape().empty() ? Extents{} : at));
      },
      "T_broadcast_to");
  if (reduction == "mean") {
    const te::Tensor whole = grads;
    grads = te::Compute(
        whole.shape(),
        [&](const Extents& at) -> te::Value {
          return Binary(divide, whole(at), total(Extents{}));
        },
        "T_divide");
  }
  Lowered lowered(te::Compute(
      loss.predictions.shape(),
      [&](const Extents& i) -> te::Value {
        Extents at = i;
        at.erase(at.begin() + loss.ClassAxis());
        const Expr slope =
            Mul(Mul(weights(at), Constant(-1, dtype)), grads(at));
        const Expr is_target = EQ(i[loss.ClassAxis()], loss.Target(at));
        return Select(is_target, slope, Constant(0, dtype));
      },
      "pred_grad"));
  lowered.keeps_unread = true;
  return lowered;
}

// --- take.

// How places outside of x are taken; by default there are none.
absl::StatusOr<std::string> TakeMode(const OpCall& call) {
  if (call.IsNone("mode")) return std::string("fast");
  KILN_ASSIGN_OR_RETURN(std::string mode, call.String("mode"));
  if (mode.empty()) return std::string("fast");
  for (const char* known : {"fast", "clip", "wrap", "nan"}) {
    if (mode == known) return mode;
  }
  return call.Error("`mode` is fast, clip, wrap or nan");
}

absl::StatusOr<StructInfo> InferTakeGradient(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* indices, call.Tensor(2));
  if (!indices->dtype.is_void() && !indices->dtype.is_integral()) {
    return call.ErrorAt(2, "indices are of an integer type");
  }
  KILN_RETURN_IF_ERROR(TakeMode(call).status());
  if (call.IsNone("axis")) {
    KILN_RETURN_IF_ERROR(RankedTensor(call, 1, 1).status());
  } else {
    KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  }
  const bool is_ranked =
      x->rank != graph::kUnknownRank && indices->rank != graph::kUnknownRank;
  if (is_ranked) {
    const int rank = x->rank - 1 + indices->rank;
    KILN_RETURN_IF_ERROR(RankedTensor(call, 0, rank).status());
  }
  return call.info(1);
}

// "p0, p1", `count` of them.
std::vector<std::string> Names(const std::string& prefix, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return names;
}

// Extents as a grid has them; one loop where there is none.
std::string Grid(Script& script, const Extents& extents) {
  std::vector<std::string> texts;
  for (const Expr& extent : extents) texts.push_back(script.Spelled(extent));
  return texts.empty() ? "1" : absl::StrJoin(texts, ", ");
}

std::string Listed(const std::vector<std::string>& names) {
  return names.empty() ? "()" : absl::StrJoin(names, ", ");
}

constexpr char kTakeGradient[] = R"(
with T.block("take_backward"):
    for $at in T.grid($shape):
        out[$at] = T.Cast("$type", 0)
    for $grad_loops in T.grid($grad_shape):
        if $counts:
            out[$source] = out[$source] + grad[$grad_at])";

// The place that the index reads: the nearest end, round the extent, or as it
// is.
std::string PlaceTaken(const std::string& index, const std::string& extent,
                       const std::string& mode) {
  if (mode == "clip") {
    return absl::StrCat("T.max(T.min(", index, ", ", extent, " - 1), 0)");
  }
  return mode == "wrap" ? absl::StrCat(index, " % ", extent) : index;
}

absl::StatusOr<Lowered> LowerTakeGradient(const OpCall& call,
                                          const Inputs& in) {
  const Extents &x = in[1].shape(), &indices = in[2].shape();
  KILN_ASSIGN_OR_RETURN(const std::string mode, TakeMode(call));
  int axis = 0;
  if (!call.IsNone("axis")) {
    KILN_ASSIGN_OR_RETURN(axis, call.Axis("axis", static_cast<int>(x.size())));
  }
  Script script;
  script.Param("grad", in[0].shape(), in[0].dtype());
  script.Param("x", x, in[1].dtype());
  script.Param("indices", indices, in[2].dtype());
  script.Param("out", x, in[1].dtype());
  const std::vector<std::string> at = Names("i", x.size());
  const std::vector<std::string> taken = Names("j", indices.size());
  std::vector<std::string> grad_at = at, source = at;
  grad_at.erase(grad_at.begin() + axis);
  grad_at.insert(grad_at.begin() + axis, taken.begin(), taken.end());
  const std::string index =
      absl::StrCat("T.Cast(\"int64\", indices[", Listed(taken), "])");
  const std::string extent = script.Spelled(x[axis]);
  source[axis] = PlaceTaken(index, extent, mode);
  // Outside of x a NaN was taken, on which nothing depends.
  const std::string inside =
      absl::StrCat("0 <= ", index, " and ", index, " < ", extent);
  script.Set("grad_loops", grad_at.empty() ? "j" : Listed(grad_at))
      .Set("grad_shape", Grid(script, in[0].shape()))
      .Set("grad_at", Listed(grad_at))
      .Set("source", Listed(source))
      .Set("shape", Grid(script, x))
      .Set("counts", mode == "nan" ? inside : "True")
      .Set("at", Listed(at))
      .Set("type", in[1].dtype().ToString());
  KILN_ASSIGN_OR_RETURN(Function f, script.Read(kTakeGradient));
  return Lowered(std::move(f));
}

constexpr OpRow kRows[] = {
    {"grad.nll_loss_backward", InferNllGradient, LowerNllGradient},
    {"grad.take_backward", InferTakeGradient, LowerTakeGradient},
};

}  // namespace

absl::Span<const OpRow> GradientOps() { return kRows; }

}  // namespace kiln
