// Ops that say where a tensor is, and that pass it between workers.
//
//   R.to_vdevice(x, dst_vdevice="cuda:0")         x, there
//   R.ccl.broadcast_from_worker0(x)               x of worker 0, everywhere
//   R.ccl.allreduce(x, op_type="sum")             the sum of all x
//   R.ccl.allgather(x, num_workers=2)             all x, one behind the other
//   R.ccl.scatter_from_worker0(x, num_workers=2, axis=1)
//       worker w gets columns w * n / 2 to (w + 1) * n / 2 of worker 0
//
// Collectives become calls of the packed functions of a runtime for several
// workers; what is scattered is laid out by worker first.
#include <iterator>

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
  if (!call.IsMultiple(shape[axis], workers)) {
    return call.ErrorAt(
        0, absl::StrCat("axis ", axis, " cannot be shared evenly among ",
                        workers, " workers"));
  }
  shape[axis] = call.analyzer().Simplify(FloorDiv(shape[axis], Int(workers)));
  return TensorLike(*x, x->rank, &shape);
}

// A call of a packed function that writes `result`.
graph::Expr PackedCall(const std::string& name, std::vector<graph::Expr> args,
                       StructInfo result) {
  return graph::CallOp("call_dps_packed",
                       {graph::Extern(absl::StrCat("runtime.disco.", name)),
                        graph::TupleOf(std::move(args))},
                       {}, {std::move(result)});
}

// --- Among all workers.

constexpr std::string_view kReductions[] = {"sum", "prod", "min", "max", "avg"};

absl::StatusOr<int64_t> ReductionNumber(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const std::string op, call.String("op_type"));
  for (size_t i = 0; i < std::size(kReductions); ++i) {
    if (kReductions[i] == op) return static_cast<int64_t>(i);
  }
  return call.Error(absl::StrCat("`op_type` is \"", op,
                                 "\"; it is sum, prod, min, max or avg"));
}

absl::StatusOr<StructInfo> InferAllReduce(const OpCall& call) {
  KILN_RETURN_IF_ERROR(ReductionNumber(call).status());
  return InferSame(call);
}

absl::StatusOr<graph::Expr> ExpandAllReduce(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const StructInfo result, InferAllReduce(call));
  KILN_ASSIGN_OR_RETURN(const int64_t op, ReductionNumber(call));
  KILN_ASSIGN_OR_RETURN(const bool in_group, call.Bool("in_group"));
  return PackedCall(
      "allreduce",
      {call.arg(0), graph::ShapeOf({Int(op)}), graph::Number(Int(in_group))},
      result);
}

absl::StatusOr<StructInfo> InferAllGather(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t workers, Workers(call));
  if (x->rank == 0) return call.ErrorAt(0, "a scalar has no dimension to join");
  if (!x->extents()) return TensorLike(*x, x->rank, nullptr);
  Extents shape = *x->extents();
  shape[0] = call.analyzer().Simplify(Mul(shape[0], Int(workers)));
  return TensorLike(*x, x->rank, &shape);
}

absl::StatusOr<graph::Expr> ExpandAllGather(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const StructInfo result, InferAllGather(call));
  KILN_ASSIGN_OR_RETURN(const bool in_group, call.Bool("in_group"));
  return PackedCall("allgather", {call.arg(0), graph::Number(Int(in_group))},
                    result);
}

// --- From worker 0.

absl::StatusOr<graph::Expr> ExpandBroadcast(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return PackedCall("broadcast_from_worker0",
                    {call.arg(0), graph::Number(Int(0))}, call.info(0));
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
  return PackedCall("scatter_from_worker0", {x, graph::Number(Int(0))}, result);
}

constexpr OpRow kRows[] = {
    {"ccl.allgather", InferAllGather, nullptr, ExpandAllGather},
    {"ccl.allreduce", InferAllReduce, nullptr, ExpandAllReduce},
    {"ccl.broadcast_from_worker0", InferSame, nullptr, ExpandBroadcast},
    {"ccl.scatter_from_worker0", InferScatter, nullptr, ExpandScatter},
    {"hint_on_device", InferSame},
    {"to_vdevice", InferToDevice},
};

}  // namespace

absl::Span<const OpRow> DeviceOps() { return kRows; }

}  // namespace kiln
