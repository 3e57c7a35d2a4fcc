// Operands are checked before their node, so that a rule may look at types of
// operands which are known to be right. The makers of ir/expr check the same,
// but as bugs of their caller; programs that come as bytes are made without
// them, and a wrong type has to be an error that names its place:
//
//   Add(i: int64, X[0]: int32)    "Add of int64 and int32; both operands must
//                                 have one type"
//   A[i, j] with A of one         "buffer A has 1 dimensions and 2 indices"
//   dimension
//
// A variable of a let expression is in scope in the body of that let alone, and
// may not be defined again there. Calls are checked for the number of
// arguments; of their types, only those of if_then_else.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/verify/place.h"

namespace kiln::verify_internal {

void Place::Fail(const std::string& what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(absl::StrJoin(path_, " / "), ": ", what));
}

namespace {

std::string TypeOf(const Expr& e) { return e.dtype().ToString(); }

void CheckBinary(const BinaryNode& node, Place& place) {
  const DType a = node.a.dtype(), b = node.b.dtype();
  const std::string name(ExprKindName(node.kind));
  if (a != b) {
    place.Fail(absl::StrCat(name, " of ", a.ToString(), " and ", b.ToString(),
                            "; both operands must have one type"));
  }
  const bool gives_bool = GetBinaryInfo(node.kind)->gives_bool;
  const DType result = gives_bool ? DType::Bool().WithLanes(a.lanes()) : a;
  if (node.dtype != result) {
    place.Fail(absl::StrCat(name, " of ", a.ToString(), " gives ",
                            result.ToString(), ", not ",
                            node.dtype.ToString()));
  }
  const bool is_logical =
      node.kind == ExprKind::kAnd || node.kind == ExprKind::kOr;
  if (is_logical && !a.is_bool()) {
    place.Fail(absl::StrCat(name, " of ", a.ToString(), "; it takes bool"));
  }
  if (node.kind == ExprKind::kDiv && !a.is_float()) {
    place.Fail(absl::StrCat("division of ", a.ToString(),
                            "; integers divide by // or truncdiv"));
  }
}

void CheckSelect(const SelectNode& node, Place& place) {
  const DType condition = node.condition.dtype(), value = node.dtype;
  const bool lanes_match =
      condition.lanes() == 1 || condition.lanes() == value.lanes();
  if (!condition.is_bool() || !lanes_match) {
    place.Fail(absl::StrCat("Select on a condition of ", condition.ToString(),
                            " for values of ", value.ToString()));
  }
  if (node.true_value.dtype() != value || node.false_value.dtype() != value) {
    place.Fail(absl::StrCat("Select between ", TypeOf(node.true_value), " and ",
                            TypeOf(node.false_value)));
  }
}

void CheckLoad(const LoadNode& node, Place& place) {
  const int lanes = CheckAccess(node.buffer, node.indices, place);
  const DType element = node.buffer->dtype;
  const DType expected = element.WithLanes(element.lanes() * lanes);
  if (node.dtype != expected) {
    place.Fail(absl::StrCat("load from buffer ", node.buffer->name, " gives ",
                            expected.ToString(), ", not ",
                            node.dtype.ToString()));
  }
}

void CheckRamp(const RampNode& node, Place& place) {
  if (!node.base.dtype().is_scalar() ||
      node.base.dtype() != node.stride.dtype() || node.lanes < 2 ||
      node.dtype.lanes() != node.lanes) {
    place.Fail(absl::StrCat("Ramp of ", TypeOf(node.base), " by ",
                            TypeOf(node.stride), " with ", node.lanes,
                            " lanes"));
  }
}

void CheckBroadcast(const BroadcastNode& node, Place& place) {
  if (!node.value.dtype().is_scalar() || node.lanes < 2 ||
      node.dtype != node.value.dtype().WithLanes(node.lanes)) {
    place.Fail(absl::StrCat("Broadcast of ", TypeOf(node.value), " to ",
                            node.lanes, " lanes"));
  }
}

void CheckLaneSums(const CallNode& node, Place& place) {
  const int64_t* count = AsInt(node.args[1]);
  const DType all = node.args[0].dtype();
  if (!count || *count < 1 || all.lanes() % *count != 0 ||
      node.dtype != all.WithLanes(static_cast<int>(all.lanes() / *count))) {
    place.Fail(absl::StrCat("lane_sums of ", TypeOf(node.args[0]), " as ",
                            node.dtype.ToString()));
  }
}

void CheckCall(const CallNode& node, Place& place) {
  const IntrinsicInfo& info = GetIntrinsicInfo(node.op);
  const int count = static_cast<int>(node.args.size());
  if (info.arity >= 0 && info.arity != count) {
    place.Fail(absl::StrCat("call of ", std::string(info.name), " with ", count,
                            " arguments; it takes ", info.arity));
    return;
  }
  if (node.op == Intrinsic::kLaneSums) return CheckLaneSums(node, place);
  if (node.op != Intrinsic::kIfThenElse) return;
  if (!node.args[0].dtype().is_bool() || node.args[1].dtype() != node.dtype ||
      node.args[2].dtype() != node.dtype) {
    place.Fail(absl::StrCat("if_then_else(", TypeOf(node.args[0]), ", ",
                            TypeOf(node.args[1]), ", ", TypeOf(node.args[2]),
                            ") as ", node.dtype.ToString()));
  }
}

void CheckVar(const VarNode& node, Place& place) {
  if (place.vars.count(&node) || place.data.count(&node)) return;
  if (place.hidden.count(&node)) {
    return place.Fail(absl::StrCat(
        "the loop variable ", node.name,
        " of a loop around the block is used inside; the body of a block uses "
        "its own iterators: bind one, vi = T.axis.spatial(extent, ",
        node.name, ")"));
  }
  place.Fail(
      absl::StrCat("variable ", node.name, " is used where it is not defined"));
}

void CheckLet(const LetNode& node, Place& place) {
  CheckExpr(node.value, place);
  if (node.var.dtype() != node.value.dtype()) {
    place.Fail(absl::StrCat("let ", node.var.name(), ": ",
                            node.var.dtype().ToString(), " = a value of ",
                            TypeOf(node.value)));
  }
  const bool is_new = place.vars.insert(node.var.get()).second;
  if (!is_new) {
    place.Fail(absl::StrCat("variable ", node.var.name(),
                            " is defined inside its own scope"));
  }
  CheckExpr(node.body, place);
  if (is_new) place.vars.erase(node.var.get());
}

void CheckImmediate(const Expr& e, bool fits, Place& place) {
  if (fits && e.dtype().is_scalar()) return;
  place.Fail(absl::StrCat("a constant of type ", TypeOf(e)));
}

// Checks the node itself; its operands are known to be correct.
void CheckNode(const Expr& e, Place& place) {
  switch (e.kind()) {
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
    return CheckBinary(*e.As<BinaryNode>(), place);
    case ExprKind::kIntImm:
      return CheckImmediate(e, e.dtype().is_integral(), place);
    case ExprKind::kFloatImm:
      return CheckImmediate(e, e.dtype().is_float(), place);
    case ExprKind::kVar:
      return CheckVar(*e.As<VarNode>(), place);
    case ExprKind::kCast:
      if (e.As<CastNode>()->value.dtype().lanes() != e.dtype().lanes()) {
        place.Fail(absl::StrCat("Cast of ", TypeOf(e.As<CastNode>()->value),
                                " to ", TypeOf(e)));
      }
      return;
    case ExprKind::kNot:
      if (!e.dtype().is_bool()) place.Fail("Not of " + TypeOf(e));
      return;
    case ExprKind::kSelect:
      return CheckSelect(*e.As<SelectNode>(), place);
    case ExprKind::kLoad:
      return CheckLoad(*e.As<LoadNode>(), place);
    case ExprKind::kRamp:
      return CheckRamp(*e.As<RampNode>(), place);
    case ExprKind::kBroadcast:
      return CheckBroadcast(*e.As<BroadcastNode>(), place);
    case ExprKind::kCall:
      return CheckCall(*e.As<CallNode>(), place);
    case ExprKind::kStringImm:
    case ExprKind::kLet:
      return;
  }
}

}  // namespace

void CheckExpr(const Expr& e, Place& place) {
  if (!place.ok()) return;
  if (!e) return place.Fail("an expression is missing");
  if (const auto* let = e.As<LetNode>()) return CheckLet(*let, place);
  ForEachOperand(e, [&](const Expr& operand) { CheckExpr(operand, place); });
  if (place.ok()) CheckNode(e, place);
}

void CheckIndex(const Expr& e, const char* what, Place& place,
                bool may_be_vector) {
  CheckExpr(e, place);
  if (!place.ok()) return;
  const bool fits = may_be_vector ? e.dtype().Element() == DType::Index()
                                  : e.dtype() == DType::Index();
  if (!fits) {
    place.Fail(
        absl::StrCat(what, " has type ", TypeOf(e), "; it must be int64"));
  }
}

int CheckAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                Place& place) {
  if (!buffer) {
    place.Fail("a buffer is missing");
    return 1;
  }
  if (!place.buffers.count(buffer.get())) {
    place.Fail(absl::StrCat("buffer ", buffer->name,
                            " is used where it is not defined"));
  }
  if (indices.size() != buffer->shape.size()) {
    place.Fail(absl::StrCat("buffer ", buffer->name, " has ",
                            buffer->shape.size(), " dimensions and ",
                            indices.size(), " indices"));
  }
  int lanes = 1;
  for (size_t d = 0; d < indices.size(); ++d) {
    const bool is_last = d + 1 == indices.size();
    CheckIndex(indices[d], "an index", place, is_last);
    if (place.ok() && is_last) lanes = indices[d].dtype().lanes();
  }
  return lanes;
}

namespace {

void CheckSize(const BufferNode& buffer, Place& place) {
  int64_t bytes = buffer.dtype.bytes();
  for (const Expr& e : buffer.shape) {
    const int64_t* extent = AsInt(e);
    if (!extent) continue;
    if (*extent < 0) {
      place.Fail(absl::StrCat("buffer ", buffer.name, " has a negative extent ",
                              *extent));
    }
    if (__builtin_mul_overflow(bytes, *extent, &bytes)) {
      return place.Fail(absl::StrCat("the size of buffer ", buffer.name,
                                     " in bytes overflows 64 bits"));
    }
  }
}

}  // namespace

void CheckBuffer(const Buffer& buffer, Place& place) {
  if (!buffer) return place.Fail("a buffer is missing");
  for (const Expr& e : buffer->shape) CheckIndex(e, "an extent", place);
  for (const Expr& e : buffer->strides) CheckIndex(e, "a stride", place);
  if (buffer->elem_offset) {
    CheckIndex(buffer->elem_offset, "an offset", place);
  }
  if (!buffer->strides.empty() &&
      buffer->strides.size() != buffer->shape.size()) {
    place.Fail(absl::StrCat("buffer ", buffer->name, " has ",
                            buffer->shape.size(), " dimensions and ",
                            buffer->strides.size(), " strides"));
  }
  if (buffer->dtype.is_void()) {
    place.Fail(absl::StrCat("buffer ", buffer->name, " has no type"));
  }
  CheckSize(*buffer, place);
}

}  // namespace kiln::verify_internal
