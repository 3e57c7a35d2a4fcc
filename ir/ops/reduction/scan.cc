// Sums and products of what came before:
//
//   R.cumsum(x, axis=1)                   y[i, k] = x[i, 0] + ... + x[i, k]
//   R.cumsum(x, axis=1, exclusive=True)   y[i, k] = x[i, 0] + ... + x[i, k - 1]
//
// Without an axis x counts as a vector of its elements in row-major order.
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

absl::StatusOr<StructInfo> InferScan(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(DType dtype, call.Type("dtype"));
  if (dtype.is_void()) dtype = x->dtype;
  if (!call.IsNone("axis")) {
    KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
    return WithType(*x, dtype);
  }
  const Extents* extents = x->extents();
  if (!extents) return graph::TensorOfRank(1, dtype, x->device);
  return graph::Tensor({Product(*extents)}, dtype, x->device);
}

// The scan of one axis, or of all elements.
struct Scan {
  te::Tensor x;
  Extents shape;  // of the result
  int axis = 0;
  bool is_flat = false;
  DType dtype = DType::Void();

  Expr Element(const Extents& i) const {
    return Cast(dtype, x(is_flat ? IndexOfFlat(x.shape(), i[0]) : i));
  }
  // i, one step back.
  Extents Before(Extents i) const {
    i[axis] = Sub(i[axis], Int(1));
    return i;
  }
};

absl::StatusOr<Scan> ScanOf(const OpCall& call, const te::Tensor& x) {
  Scan scan{x, x.shape()};
  KILN_ASSIGN_OR_RETURN(scan.dtype, call.Type("dtype"));
  if (scan.dtype.is_void()) scan.dtype = x.dtype();
  scan.is_flat = call.IsNone("axis");
  if (scan.is_flat) {
    scan.shape = {Product(x.shape())};
  } else {
    const int rank = static_cast<int>(x.shape().size());
    KILN_ASSIGN_OR_RETURN(scan.axis, call.Axis("axis", rank));
  }
  return scan;
}

// What came before and the next element; of bools whether one is true, or all.
Expr Combined(ExprKind combine, const Expr& so_far, const Expr& next) {
  if (!next.dtype().is_bool()) return Binary(combine, so_far, next);
  return combine == ExprKind::kAdd ? Or(so_far, next) : And(so_far, next);
}

template <ExprKind combine, int identity>
absl::StatusOr<Lowered> LowerScan(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Scan scan, ScanOf(call, in[0]));
  bool is_exclusive = false;
  if (!call.IsNone("exclusive")) {
    KILN_ASSIGN_OR_RETURN(is_exclusive, call.Bool("exclusive"));
  }
  NestBuilder builder(in);
  const Buffer out = builder.Output(scan.shape, scan.dtype, "out");
  std::vector<NestLoop> loops = LoopsOver(scan.shape);
  loops[scan.axis].type = IterType::kOpaque;
  builder.Nest("scan", loops, [&](const Extents& i) {
    const Extents before = scan.Before(i);
    const Expr so_far = Load(out, before);
    const Expr first =
        is_exclusive ? Constant(identity, scan.dtype) : scan.Element(i);
    const Expr next =
        Combined(combine, so_far, scan.Element(is_exclusive ? before : i));
    return MakeStore(out, IfThenElse(EQ(i[scan.axis], Int(0)), first, next), i);
  });
  return Lowered(builder.Finish());
}

constexpr OpRow kRows[] = {
    {"cumprod", InferScan, LowerScan<ExprKind::kMul, 1>},
    {"cumsum", InferScan, LowerScan<ExprKind::kAdd, 0>},
};

}  // namespace

absl::Span<const OpRow> ScanOps() { return kRows; }

}  // namespace kiln
