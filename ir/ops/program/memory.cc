// Ops of memory that passes bring in: storage, tensors in it, and their ends.
//
//   s = R.memory.alloc_storage(R.shape([24]), 0, "global", "float32")
//   t = R.memory.alloc_tensor(s, 0, R.shape([2, 3]), "float32")
//   R.memory.kill_storage(s)
//
// A view reads a tensor's bytes as those of another shape or type, from an
// offset on; it never reaches behind them.
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/program/program.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferObject(const OpCall&) {
  return graph::Object();
}

absl::StatusOr<StructInfo> InferNothing(const OpCall&) {
  return graph::Tuple({});
}

absl::StatusOr<StructInfo> InferSame(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return call.info(0);
}

absl::StatusOr<DType> TypeArg(const OpCall& call, size_t arg) {
  if (!call.Has(arg)) return call.Error("`dtype` is missing");
  if (const auto* type = call.arg(arg).As<graph::DataTypeNode>()) {
    return type->dtype;
  }
  return call.ErrorAt(arg, "`dtype` has to be a type");
}

// A new tensor by arguments that are its shape and its type.
template <size_t shape_arg, size_t type_arg>
absl::StatusOr<StructInfo> InferAllocated(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(shape_arg));
  KILN_ASSIGN_OR_RETURN(const DType dtype, TypeArg(call, type_arg));
  if (shape->values) return graph::Tensor(*shape->values, dtype);
  // The shape may be known by a variable that holds it.
  const auto* var = call.arg(shape_arg).As<graph::VarNode>();
  if (var) return graph::TensorOfShape(graph::Var(var), dtype);
  return graph::TensorOfRank(shape->rank, dtype);
}

// --- Views.

// An argument that is left out: missing, an empty tuple, or R.null_value().
bool IsLeftOut(const OpCall& call, size_t arg) {
  if (!call.Has(arg)) return true;
  const bool is_var = call.arg(arg).As<graph::VarNode>();
  if (is_var && call.info(arg).As<graph::ObjectInfo>()) return true;
  const auto* tuple = call.info(arg).As<graph::TupleInfo>();
  return tuple && tuple->fields.empty();
}

// The bytes of a tensor; null where they are not known.
Expr BytesOf(const OpCall& call, const Extents* extents, DType dtype) {
  if (!extents || dtype.is_void()) return Expr();
  Expr bytes = Int(dtype.bytes());
  for (const Expr& extent : *extents) bytes = Mul(bytes, extent);
  return call.analyzer().Simplify(bytes);
}

absl::Status CheckView(const OpCall& call, const Expr& own, const Expr& viewed,
                       const Expr& offset) {
  if (!own || !viewed || !offset) return absl::OkStatus();
  const Expr end = Add(viewed, Cast(DType::Index(), offset));
  if (call.analyzer().CanProve(LT(own, end))) {
    return call.ErrorAt(0, "the view reaches behind the tensor");
  }
  if (call.analyzer().CanProve(LT(offset, Int(0, offset.dtype())))) {
    return call.ErrorAt(3, "the view begins ahead of the tensor");
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferView(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  DType dtype = x->dtype;
  if (!IsLeftOut(call, 2)) {
    KILN_ASSIGN_OR_RETURN(dtype, TypeArg(call, 2));
  }
  Expr offset = Int(0);
  if (!IsLeftOut(call, 3)) {
    KILN_ASSIGN_OR_RETURN(offset, call.Number(3));
  }
  const Extents* extents = x->extents();
  int rank = x->rank;
  const bool keeps_shape = IsLeftOut(call, 1);
  if (!keeps_shape) {
    KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(1));
    extents = shape->values ? &*shape->values : nullptr;
    rank = shape->rank;
  }
  KILN_RETURN_IF_ERROR(CheckView(call, BytesOf(call, x->extents(), x->dtype),
                                 BytesOf(call, extents, dtype), offset));
  if (keeps_shape) return WithType(*x, dtype);
  if (extents) return graph::Tensor(*extents, dtype, x->device);
  return graph::TensorOfRank(rank, dtype, x->device);
}

absl::StatusOr<StructInfo> InferAny(const OpCall& call) {
  if (call.Has(0)) return call.info(0);
  return call.Error("`x` is missing");
}

constexpr OpRow kRows[] = {
    {"builtin.alloc_tensor", InferAllocated<0, 1>},
    {"builtin.stop_lift_params", InferAny},
    {"memory.alloc_storage", InferObject},
    {"memory.alloc_tensor", InferAllocated<2, 3>},
    {"memory.ensure_zero_offset", InferSame},
    {"memory.kill_storage", InferNothing, nullptr, nullptr, false},
    {"memory.kill_tensor", InferNothing, nullptr, nullptr, false},
    {"memory.view", InferView},
    {"vm.alloc_storage", InferObject},
    {"vm.alloc_tensor", InferAllocated<2, 3>},
    {"vm.kill_object", InferNothing, nullptr, nullptr, false},
};

}  // namespace

absl::Span<const OpRow> MemoryOps() { return kRows; }

}  // namespace kiln
