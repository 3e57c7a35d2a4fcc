// R.nn.batch_norm gives the normalized data and the moving moments, three
// tensors. In training the moments are those of the batch, and the moving ones
// follow them:
//
//   y = (x - mean) * rsqrt(variance + epsilon) * gamma + beta
//   moving_mean = momentum * mean + (1 - momentum) * moving_mean
//
// R.nn.dropout gives the data and its mask.
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/network/moments.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/network/norm.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferBatchNorm(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  KILN_RETURN_IF_ERROR(CheckCount(call, 5));
  KILN_ASSIGN_OR_RETURN(const bool is_certain, CheckNorm(call, {axis}));
  std::vector<StructInfo> fields = {call.info(0), call.info(3), call.info(4)};
  if (!is_certain) {
    for (StructInfo& field : fields) {
      const auto* tensor = field.As<graph::TensorInfo>();
      const bool is_data = &field == &fields[0];
      field = graph::TensorOfRank(is_data ? tensor->rank : 1, tensor->dtype,
                                  tensor->device);
    }
  }
  return graph::Tuple(std::move(fields));
}

Sample Channels(const te::Tensor& x, int axis) {
  Sample sample;
  sample.extents = x.shape();
  sample.is_reduced.resize(x.shape().size(), true);
  sample.is_reduced[axis] = false;
  sample.element = [x](const Extents& i) {
    return Cast(SumType(x.dtype()), x(i));
  };
  return sample;
}

// momentum * now + (1 - momentum) * before.
te::Tensor Moved(const te::Tensor& before, double momentum,
                 FunctionRef<Expr(const Extents&)> now) {
  return te::Compute(
      before.shape(),
      [&](const Extents& i) -> te::Value {
        const Expr next = now(i);
        const DType dtype = next.dtype();
        const Expr old = Cast(dtype, before(i));
        return Cast(before.dtype(), Add(Mul(Float(1 - momentum, dtype), old),
                                        Mul(Float(momentum, dtype), next)));
      },
      "T_add");
}

te::Tensor Copied(const te::Tensor& x) {
  return te::Compute(
      x.shape(), [&](const Extents& i) -> te::Value { return x(i); }, "copy");
}

struct Normal {
  const Affine& affine;
  const Sample& sample;
  int axis;
  double epsilon;
};

te::Tensor Normalized(const Normal& normal, const te::Tensor& mean,
                      FunctionRef<Expr(const Extents&)> variance) {
  return te::Compute(
      normal.sample.extents,
      [&](const Extents& i) -> te::Value {
        const Extents at = {i[normal.axis]};
        const Expr x = normal.sample.element(i);
        const DType dtype = x.dtype();
        const Expr spread =
            Call(dtype, Intrinsic::kSqrt,
                 {Add(variance(at), Float(normal.epsilon, dtype))});
        const Expr distance = Sub(x, Cast(dtype, mean(at)));
        return normal.affine.Of(Binary(ExprKind::kDiv, distance, spread), at);
      },
      "T_batch_norm");
}

absl::StatusOr<Lowered> LowerBatchNorm(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  KILN_ASSIGN_OR_RETURN(const double momentum, call.Real("momentum"));
  KILN_ASSIGN_OR_RETURN(const bool trains, call.Bool("training"));
  KILN_ASSIGN_OR_RETURN(const Affine affine, AffineOf(call, in));
  const Sample sample = Channels(in[0], axis);
  const Normal normal{affine, sample, axis, epsilon};
  if (!trains) {
    const auto variance = [&](const Extents& i) {
      return Cast(SumType(in[0].dtype()), in[4](i));
    };
    return Lowered(std::vector<te::Tensor>{Normalized(normal, in[3], variance),
                                           Copied(in[3]), Copied(in[4])});
  }
  const Moments moments = MomentsOf(sample);
  const auto variance = [&](const Extents& i) {
    const Expr squares = moments.squares(i);
    return Binary(ExprKind::kDiv, squares, sample.Count(squares.dtype()));
  };
  const auto mean = [&](const Extents& i) { return moments.mean(i); };
  return Lowered(std::vector<te::Tensor>{
      Normalized(normal, moments.mean, variance), Moved(in[3], momentum, mean),
      Moved(in[4], momentum, variance)});
}

// A network that is used drops nothing, and its mask is one of ones; what
// training does instead is up to the program.
absl::StatusOr<graph::Expr> ExpandDropout(const OpCall& call) {
  const graph::Var mask("mask");
  return graph::Seq({{false,
                      {{mask, graph::CallOp("ones_like", {call.arg(0)},
                                            {{"dtype", Attr()}})}}}},
                    graph::TupleOf({call.arg(0), mask}));
}

absl::StatusOr<StructInfo> InferDropout(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return graph::Tuple({call.info(0), call.info(0)});
}

constexpr OpRow kRows[] = {
    {"nn.batch_norm", InferBatchNorm, LowerBatchNorm},
    {"nn.dropout", InferDropout, nullptr, ExpandDropout},
};

}  // namespace

absl::Span<const OpRow> BatchNormOps() { return kRows; }

}  // namespace kiln
