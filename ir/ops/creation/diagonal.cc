// Tensors that tell apart the two sides of a diagonal, k above the main one:
//
//   R.eye(2, 3, 1)    [[0, 1, 0], [0, 0, 1]]: 1 where j == i + k
//   R.tril(x, k)      x where j <= i + k, else 0
//   R.one_hot(i, on, off, depth=3)    on where k == i, else off
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// An integer as an extent or an index; null where it is not known.
absl::StatusOr<Expr> IndexArg(const OpCall& call, size_t arg) {
  KILN_ASSIGN_OR_RETURN(const Expr number, call.Number(arg));
  if (!number) return Expr();
  if (number.dtype().is_integral()) return Cast(DType::Index(), number);
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` has to be an integer"));
}

// --- eye.

absl::StatusOr<StructInfo> InferEye(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Expr rows, IndexArg(call, 0));
  KILN_ASSIGN_OR_RETURN(const Expr columns, IndexArg(call, 1));
  KILN_RETURN_IF_ERROR(IndexArg(call, 2).status());
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  if (!rows || !columns) return graph::TensorOfRank(2, dtype);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t* extent = AsInt(i == 0 ? rows : columns);
    if (extent && *extent < 0) return call.ErrorAt(i, "an extent is negative");
  }
  return graph::Tensor({rows, columns}, dtype);
}

absl::StatusOr<StructInfo> InferEyeLike(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_RETURN_IF_ERROR(CheckRank(call, 0, *x, 2));
  KILN_RETURN_IF_ERROR(IndexArg(call, 1).status());
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return dtype.is_void() ? call.info(0) : WithType(*x, dtype);
}

template <InferFn infer, size_t diagonal>
absl::StatusOr<Lowered> LowerEye(const OpCall& call, const Inputs&) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, infer(call));
  KILN_ASSIGN_OR_RETURN(const Expr k, IndexArg(call, diagonal));
  const auto* result = info.As<graph::TensorInfo>();
  const DType dtype = result->dtype;
  if (!k || !result->extents() || dtype.is_void()) {
    return absl::UnimplementedError("extents, type or k are not known");
  }
  return Lowered(te::Compute(
      *result->extents(),
      [&](const std::vector<Expr>& i) -> te::Value {
        const Expr row = IsZero(k) ? i[1] : Sub(i[1], k);
        return IfThenElse(EQ(i[0], row), Constant(1, dtype),
                          Constant(0, dtype));
      },
      "eye"));
}

// --- tril, triu.

absl::StatusOr<StructInfo> InferTriangle(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_RETURN_IF_ERROR(IndexArg(call, 1).status());
  if (x->rank >= 2 || x->rank == graph::kUnknownRank) return call.info(0);
  return call.ErrorAt(
      0, absl::StrCat("a tensor of ", x->rank, " dimensions has no triangles"));
}

template <bool is_upper>
absl::StatusOr<Lowered> LowerTriangle(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Expr k, IndexArg(call, 1));
  if (!k) return absl::UnimplementedError("k is not known");
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const std::vector<Expr>& i) -> te::Value {
        const Expr& column = i.back();
        const Expr diagonal =
            IsZero(k) ? i[i.size() - 2] : Add(i[i.size() - 2], k);
        return Select(is_upper ? LE(diagonal, column) : LE(column, diagonal),
                      in[0](i), Constant(0, in[0].dtype()));
      },
      "trilu"));
}

// --- one_hot.

// The axis of the result that stands for the values of the indices.
absl::StatusOr<int> DepthAxis(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Int("axis"));
  return call.NormalAxis(axis, rank + 1);
}

absl::StatusOr<StructInfo> InferOneHot(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 0, *x));
  if (!call.Has(2)) return call.Error("on_value or off_value is missing");
  const auto* on = call.info(1).As<graph::PrimInfo>();
  const auto* off = call.info(2).As<graph::PrimInfo>();
  if (!on || !off || on->dtype != off->dtype) {
    return call.ErrorAt(on ? 2 : 1,
                        "on_value and off_value have to be numbers of one "
                        "type");
  }
  KILN_ASSIGN_OR_RETURN(const int64_t depth, call.Int("depth"));
  if (depth <= 0) return call.Error("`depth` has to be positive");
  if (x->rank == graph::kUnknownRank) {
    return graph::TensorOfRank(x->rank, on->dtype, x->device);
  }
  KILN_ASSIGN_OR_RETURN(const int axis, DepthAxis(call, x->rank));
  if (!x->extents()) {
    return graph::TensorOfRank(x->rank + 1, on->dtype, x->device);
  }
  std::vector<Expr> shape = *x->extents();
  shape.insert(shape.begin() + axis, Int(depth));
  return graph::Tensor(std::move(shape), on->dtype, x->device);
}

absl::StatusOr<Lowered> LowerOneHot(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferOneHot(call));
  KILN_ASSIGN_OR_RETURN(const Expr on, call.Number(1));
  KILN_ASSIGN_OR_RETURN(const Expr off, call.Number(2));
  if (!on || !off) return absl::UnimplementedError("a value is not known");
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, DepthAxis(call, rank));
  return Lowered(te::Compute(
      *info.As<graph::TensorInfo>()->extents(),
      [&](std::vector<Expr> i) -> te::Value {
        const Expr value = i[axis];
        i.erase(i.begin() + axis);
        return Select(EQ(Cast(DType::Index(), in[0](i)), value), on, off);
      },
      "one_hot"));
}

constexpr OpRow kRows[] = {
    {"eye", InferEye, LowerEye<InferEye, 2>},
    {"eye_like", InferEyeLike, LowerEye<InferEyeLike, 1>},
    {"one_hot", InferOneHot, LowerOneHot},
    {"tril", InferTriangle, LowerTriangle<false>},
    {"triu", InferTriangle, LowerTriangle<true>},
};

}  // namespace

absl::Span<const OpRow> DiagonalOps() { return kRows; }

}  // namespace kiln
