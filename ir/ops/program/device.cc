// Ops that say where a tensor is, and that pass it between workers.
//
//   R.to_vdevice(x, dst_vdevice="cuda:0")         x, there
//   R.ccl.broadcast_from_worker0(x)               x of worker 0, everywhere
//   R.ccl.scatter_from_worker0(x, num_workers=2, axis=1)
//       worker w gets columns w * n / 2 to (w + 1) * n / 2 of worker 0
//
// Collectives become calls of the packed functions of a runtime for several
// workers; what is scattered is laid out by worker first.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/program/program.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferSame(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return call.info(0);
}

absl::StatusOr<StructInfo> InferToDevice(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (call.IsNone("dst_vdevice")) return call.info(0);
  KILN_ASSIGN_OR_RETURN(std::string device, call.String("dst_vdevice"));
  return StructInfo(
      new graph::TensorInfo(x->shape, x->rank, x->dtype, std::move(device)));
}

absl::StatusOr<int64_t> Workers(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int64_t workers, call.Int("num_workers"));
  if (workers >= 1 && workers <= INT32_MAX) return workers;
  return call.Error(
      absl::StrCat("`num_workers` is ", workers, "; there is at least one"));
}

absl::StatusOr<StructInfo> InferScatter(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t workers, Workers(call));
  if (!x->extents()) return TensorLike(*x, x->rank, nullptr);
  Extents shape = *x->extents();
  if (call.analyzer().CanProve(
          Binary(ExprKind::kNE, FloorMod(shape[axis], Int(workers)), Int(0)))) {
    return call.ErrorAt(
        0, absl::StrCat("axis ", axis, " cannot be shared evenly among ",
                        workers, " workers"));
  }
  shape[axis] = call.analyzer().Simplify(FloorDiv(shape[axis], Int(workers)));
  return TensorLike(*x, x->rank, &shape);
}

graph::Expr Packed(const std::string& name, graph::Expr x, StructInfo result) {
  return graph::CallOp("call_dps_packed",
                       {graph::Extern(name),
                        graph::TupleOf({std::move(x), graph::Number(Int(0))})},
                       {}, {std::move(result)});
}

absl::StatusOr<graph::Expr> ExpandBroadcast(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return Packed("runtime.disco.broadcast_from_worker0", call.arg(0),
                call.info(0));
}

absl::StatusOr<graph::Expr> ExpandScatter(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const StructInfo result, InferScatter(call));
  const auto* part = result.As<graph::TensorInfo>();
  if (!part->extents()) {
    return absl::UnimplementedError("shares of a shape that is not known");
  }
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", part->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t workers, Workers(call));
  Extents shape = *part->extents();
  shape.insert(shape.begin() + axis, Int(workers));
  graph::Expr x =
      graph::CallOp("reshape", {call.arg(0), graph::ShapeOf(shape)});
  if (axis > 0) {
    AttrList order = {Attr(Int(axis))};
    for (int d = 0; d <= part->rank; ++d) {
      if (d != axis) order.push_back(Attr(Int(d)));
    }
    x = graph::CallOp("permute_dims", {x}, {{"axes", Attr(std::move(order))}});
  }
  return Packed("runtime.disco.scatter_from_worker0", x, result);
}

constexpr OpRow kRows[] = {
    {"ccl.broadcast_from_worker0", InferSame, nullptr, ExpandBroadcast},
    {"ccl.scatter_from_worker0", InferScatter, nullptr, ExpandScatter},
    {"hint_on_device", InferSame},
    {"to_vdevice", InferToDevice},
};

}  // namespace

absl::Span<const OpRow> DeviceOps() { return kRows; }

}  // namespace kiln
