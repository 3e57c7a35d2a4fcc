// Which interval a number falls into:
//
//   R.bucketize(x, b)     y[i] = how many of the boundaries are < x[i]; <= x[i]
//                         with right=True
//   R.multinomial_from_uniform(p, u, s)
//                         y[i, 0] = the first k where u[i, 0] is less than
//                         p[s, 0] + ... + p[s, k], s = s[i, 0]
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

// --- bucketize.

absl::StatusOr<StructInfo> InferBucketize(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* boundaries, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckRank(call, 1, *boundaries, 1));
  KILN_ASSIGN_OR_RETURN(const bool is_short, call.Bool("out_int32"));
  return WithType(*x, is_short ? DType::Int(32) : DType::Int(64));
}

absl::StatusOr<Lowered> LowerBucketize(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferBucketize(call));
  KILN_ASSIGN_OR_RETURN(const bool is_right, call.Bool("right"));
  const DType dtype = info.As<TensorInfo>()->dtype;
  if (in[0].dtype() != in[1].dtype()) {
    return absl::UnimplementedError("boundaries of another type");
  }
  const te::IterVar k = te::ReduceAxis(Int(0), in[1].shape()[0], "k");
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Expr boundary = in[1](k);
        const Expr is_below =
            is_right ? LE(boundary, in[0](i)) : LT(boundary, in[0](i));
        return te::Sum(Select(is_below, Int(1, dtype), Int(0, dtype)), {k});
      },
      "bucketize"));
}

// --- multinomial_from_uniform.

absl::StatusOr<StructInfo> InferMultinomial(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  bool is_ranked = true;
  for (size_t i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(i));
    KILN_RETURN_IF_ERROR(CheckRank(call, i, *x, 2));
    is_ranked = is_ranked && x->rank != graph::kUnknownRank;
  }
  KILN_ASSIGN_OR_RETURN(const TensorInfo* uniform, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* rows, call.Tensor(2));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 2, *rows));
  const Extents* of_uniform = KnownExtents(*uniform);
  const Extents* of_rows = KnownExtents(*rows);
  for (int d = 0; of_uniform && of_rows && d < 2; ++d) {
    const Expr wanted = d == 0 ? (*of_uniform)[0] : Int(1);
    if (call.AreEqual((*of_uniform)[d], wanted) &&
        call.AreEqual((*of_rows)[d], wanted)) {
      continue;
    }
    return call.ErrorAt(2, "samples and their rows are columns of one length");
  }
  if (!is_ranked)
    return graph::TensorOfRank(graph::kUnknownRank, dtype, uniform->device);
  return WithType(*uniform, dtype);
}

absl::StatusOr<Lowered> LowerMultinomial(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferMultinomial(call));
  const DType dtype = info.As<TensorInfo>()->dtype;
  const te::Tensor &prob = in[0], &uniform = in[1], &rows = in[2];
  if (prob.dtype() != uniform.dtype() || dtype.is_void()) {
    return absl::UnimplementedError("samples of another type");
  }
  NestBuilder builder(in);
  const Buffer out = builder.Output(uniform.shape(), dtype, "out");
  const Buffer sums = builder.Temporary(prob.shape(), prob.dtype(), "sums");
  builder.Nest(
      "sums", {{prob.shape()[0]}, {prob.shape()[1], IterType::kOpaque}},
      [&](const Extents& i) {
        const Expr before = Load(sums, {i[0], Sub(i[1], Int(1))});
        const Expr sum =
            IfThenElse(EQ(i[1], Int(0)), prob(i), Add(before, prob(i)));
        return MakeStore(sums, sum, i);
      });
  // The number of sums that are not larger; the last k where all are.
  builder.Reduce(
      "count", {{uniform.shape()[0]}, {prob.shape()[1], IterType::kReduce}},
      [&](const Extents& i) {
        return MakeStore(out, Constant(0, dtype), {i[0], Int(0)});
      },
      [&](const Extents& i) {
        const Extents at = {i[0], Int(0)};
        const Expr row = Cast(DType::Index(), rows(at));
        const Expr is_last = LE(prob.shape()[1], Add(i[1], Int(1)));
        const Expr is_below =
            And(Not(is_last), LE(Load(sums, {row, i[1]}), uniform(at)));
        const Expr one =
            Select(is_below, Constant(1, dtype), Constant(0, dtype));
        return MakeStore(out, Add(Load(out, at), one), at);
      });
  return Lowered(builder.Finish());
}

constexpr OpRow kRows[] = {
    {"bucketize", InferBucketize, LowerBucketize},
    {"multinomial_from_uniform", InferMultinomial, LowerMultinomial},
};

}  // namespace

absl::Span<const OpRow> BinOps() { return kRows; }

}  // namespace kiln
