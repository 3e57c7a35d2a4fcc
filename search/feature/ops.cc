#include "kiln/search/feature/ops.h"

#include <cstdint>
#include <optional>

#include "absl/numeric/bits.h"

namespace kiln {
namespace {

OpClass ByType(DType dtype, OpClass of_float, OpClass of_int) {
  return dtype.is_float() ? of_float : of_int;
}

// Whether an integer is divided by a constant: by shifts and masks where it is
// a power of two, and else by a product.
std::optional<OpClass> ClassOfKnownQuotient(const BinaryNode& e) {
  const Expr& divisor =
      e.b.As<BroadcastNode>() ? e.b.As<BroadcastNode>()->value : e.b;
  const int64_t* value = AsInt(divisor);
  if (!value || *value <= 0) return std::nullopt;
  return absl::has_single_bit(static_cast<uint64_t>(*value))
             ? OpClass::kIntOther
             : OpClass::kIntMul;
}

std::optional<OpClass> ClassOfBinary(const BinaryNode& e) {
  const DType dtype = e.a.dtype();
  switch (e.kind) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
      return ByType(dtype, OpClass::kFloatAddSub, OpClass::kIntAddSub);
    case ExprKind::kMul:
      return ByType(dtype, OpClass::kFloatMul, OpClass::kIntMul);
    case ExprKind::kDiv:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      if (const auto known = ClassOfKnownQuotient(e)) return known;
      return ByType(dtype, OpClass::kFloatDivMod, OpClass::kIntDivMod);
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kEQ:
    case ExprKind::kNE:
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE:
      return ByType(dtype, OpClass::kFloatCmp, OpClass::kIntCmp);
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return OpClass::kBool;
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
      KILN_OTHER_EXPR_KINDS(KILN_CASE)
#undef KILN_CASE
      break;
  }
  return std::nullopt;
}

std::optional<OpClass> ClassOfCall(const CallNode& e) {
  switch (e.op) {
    case Intrinsic::kLikely:
    case Intrinsic::kMinValue:
    case Intrinsic::kMaxValue:
    case Intrinsic::kInfinity:
    case Intrinsic::kTypeAnnotation:
    case Intrinsic::kReinterpret:
      return std::nullopt;
    case Intrinsic::kIfThenElse:
      return OpClass::kSelect;
    case Intrinsic::kFma:
      return ByType(e.dtype, OpClass::kFloatMad, OpClass::kIntMad);
    default:
      break;
  }
  if (IsOneInstruction(e.op)) return OpClass::kIntOther;
  if (GetIntrinsicInfo(e.op).purity == Purity::kPure &&
      e.op != Intrinsic::kCallPureExtern) {
    return ByType(e.dtype, OpClass::kFloatMath, OpClass::kIntMath);
  }
  return ByType(e.dtype, OpClass::kFloatOther, OpClass::kIntOther);
}

}  // namespace

bool IsOneInstruction(Intrinsic op) {
  switch (op) {
    case Intrinsic::kLikely:
    case Intrinsic::kMinValue:
    case Intrinsic::kMaxValue:
    case Intrinsic::kInfinity:
    case Intrinsic::kTypeAnnotation:
    case Intrinsic::kReinterpret:
    case Intrinsic::kFma:
    case Intrinsic::kBitwiseAnd:
    case Intrinsic::kBitwiseOr:
    case Intrinsic::kBitwiseXor:
    case Intrinsic::kBitwiseNot:
    case Intrinsic::kShiftLeft:
    case Intrinsic::kShiftRight:
      return true;
    default:
      return false;
  }
}

Expr FusedProduct(const Expr& e) {
  if (e.kind() != ExprKind::kAdd && e.kind() != ExprKind::kSub) return nullptr;
  const BinaryNode* sum = e.As<BinaryNode>();
  if (sum->b.kind() == ExprKind::kMul) return sum->b;
  if (sum->a.kind() == ExprKind::kMul) return sum->a;
  return nullptr;
}

std::optional<OpClass> ClassOf(const Expr& e) {
  if (const BinaryNode* binary = e.As<BinaryNode>()) {
    if (FusedProduct(e)) {
      return ByType(e.dtype(), OpClass::kFloatMad, OpClass::kIntMad);
    }
    return ClassOfBinary(*binary);
  }
  if (const CallNode* call = e.As<CallNode>()) return ClassOfCall(*call);
  if (e.kind() == ExprKind::kNot) return OpClass::kBool;
  if (e.kind() == ExprKind::kSelect) return OpClass::kSelect;
  if (const CastNode* cast = e.As<CastNode>()) {
    return ByType(cast->value.dtype(), OpClass::kFloatOther,
                  OpClass::kIntOther);
  }
  return std::nullopt;
}

}  // namespace kiln
