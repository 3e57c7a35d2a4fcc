// Makers keep two promises for all expressions. The operands of an operator are
// of one type: a scalar meets a vector by broadcast, anything else is a bug of
// the caller. And an operator on two integer constants is a constant wherever
// the result fits its type, as is Not of a constant; nothing else is simplified
// (ir/arith does that).
//
//   Add(Mul(Int(3), Int(4)), i)               12 + i
//   2147483647 + 1 as int32, 3 + 4 as uint64  stay: they wrap, or are stored as
//                                             bits that int64 would misread
//   Add(Ramp(i, 1, 4), Int(2))                Ramp(i, 1, 4) + Broadcast(2, 4)
//
// Substituting numbers for variables therefore leaves no trees of constants
// behind. Small numbers of index type and the two bools are nodes that all
// expressions share and that live forever.
#include "kiln/ir/expr/expr.h"

#include <cmath>
#include <limits>

#include "kiln/base/check.h"

namespace kiln {
namespace {

bool Overflows(int64_t value, DType dtype) {
  if (dtype.bits() >= 64 || !dtype.is_int()) return false;
  const int64_t limit = int64_t{1} << (dtype.bits() - 1);
  return value < -limit || value >= limit;
}

// A folded constant for two integer constants, or null.
Expr TryFold(ExprKind kind, const Expr& a, const Expr& b, DType dtype) {
  const int64_t* x = AsInt(a);
  const int64_t* y = AsInt(b);
  if (!x || !y || a.dtype().is_uint()) return nullptr;
  int64_t folded;
  if (!FoldInt(kind, *x, *y, &folded)) return nullptr;
  if (Overflows(folded, dtype)) return nullptr;
  return Int(folded, dtype);
}

// Makes a scalar operand as wide as the other one.
void MatchLanes(Expr& a, Expr& b) {
  if (a.dtype().lanes() == b.dtype().lanes()) return;
  const int lanes = std::max(a.dtype().lanes(), b.dtype().lanes());
  if (a.dtype().lanes() == 1) a = Broadcast(a, lanes);
  if (b.dtype().lanes() == 1) b = Broadcast(b, lanes);
}

// Small numbers of index type, the same nodes for everybody.
constexpr int64_t kLeastShared = -16, kMostShared = 1024;

const std::vector<Expr>& SharedInts() {
  static const auto& shared = *[] {
    auto* list = new std::vector<Expr>;
    for (int64_t value = kLeastShared; value <= kMostShared; ++value) {
      list->emplace_back(new IntImmNode(DType::Index(), value));
      list->back()->LiveForever();
    }
    return list;
  }();
  return shared;
}

const Expr& SharedBool(bool value) {
  static const auto make = [](bool b) {
    auto* shared = new Expr(new IntImmNode(DType::Bool(), b));
    (*shared)->LiveForever();
    return shared;
  };
  static const Expr &yes = *make(true), &no = *make(false);
  return value ? yes : no;
}

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b != a && ((a < 0) != (b < 0)) ? q - 1 : q;
}

bool FoldDivision(ExprKind kind, int64_t a, int64_t b, int64_t* out) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) {
    return false;
  }
  const bool floor = kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
  const int64_t quotient = floor ? FloorDivide(a, b) : a / b;
  const bool wants_quotient =
      kind == ExprKind::kFloorDiv || kind == ExprKind::kTruncDiv;
  *out = wants_quotient ? quotient : a - quotient * b;
  return true;
}

bool Holds(ExprKind comparison, int64_t a, int64_t b) {
  if (comparison == ExprKind::kEQ) return a == b;
  if (comparison == ExprKind::kNE) return a != b;
  if (comparison == ExprKind::kLT) return a < b;
  if (comparison == ExprKind::kLE) return a <= b;
  if (comparison == ExprKind::kGT) return a > b;
  if (comparison == ExprKind::kGE) return a >= b;
  return comparison == ExprKind::kAnd ? a && b : a || b;
}

}  // namespace

bool FoldInt(ExprKind kind, int64_t a, int64_t b, int64_t* out) {
  switch (kind) {
    case ExprKind::kAdd:
      return !__builtin_add_overflow(a, b, out);
    case ExprKind::kSub:
      return !__builtin_sub_overflow(a, b, out);
    case ExprKind::kMul:
      return !__builtin_mul_overflow(a, b, out);
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return FoldDivision(kind, a, b, out);
    case ExprKind::kMin:
      return *out = std::min(a, b), true;
    case ExprKind::kMax:
      return *out = std::max(a, b), true;
    case ExprKind::kEQ:
    case ExprKind::kNE:
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return *out = Holds(kind, a, b), true;
    case ExprKind::kDiv:
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
      KILN_OTHER_EXPR_KINDS(KILN_CASE)
#undef KILN_CASE
      return false;
  }
  return false;
}

Contents ContentsOf(const std::vector<Expr>& list) {
  Contents contents;
  for (const Expr& e : list) contents = contents | e.contents();
  return contents;
}

Expr Int(int64_t value, DType dtype) {
  const bool is_small = kLeastShared <= value && value <= kMostShared;
  if (is_small && dtype == DType::Index()) {
    return SharedInts()[value - kLeastShared];
  }
  KILN_CHECK(dtype.is_integral() && dtype.is_scalar()) << dtype.ToString();
  return Expr(new IntImmNode(dtype, value));
}

Expr Float(double value, DType dtype) {
  KILN_CHECK(dtype.is_float() && dtype.is_scalar()) << dtype.ToString();
  return Expr(new FloatImmNode(dtype, value));
}

Expr Bool(bool value) { return SharedBool(value); }

Expr Str(std::string value) {
  return Expr(new StringImmNode(std::move(value)));
}

Expr Constant(double value, DType dtype) {
  return dtype.is_float() ? Float(value, dtype)
                          : Int(static_cast<int64_t>(value), dtype);
}

Expr Binary(ExprKind kind, Expr a, Expr b) {
  const BinaryInfo* info = GetBinaryInfo(kind);
  KILN_CHECK(info && a && b) << ExprKindName(kind);
  if (a.dtype() != b.dtype()) MatchLanes(a, b);
  KILN_CHECK(a.dtype() == b.dtype())
      << ExprKindName(kind) << " of " << a.dtype().ToString() << " and "
      << b.dtype().ToString();
  const DType dtype =
      info->gives_bool ? DType::Bool().WithLanes(a.dtype().lanes()) : a.dtype();
  if (Expr folded = TryFold(kind, a, b, dtype)) return folded;
  return Expr(new BinaryNode(kind, dtype, std::move(a), std::move(b)));
}

Expr Not(Expr value) {
  KILN_CHECK(value.dtype().is_bool());
  if (const int64_t* known = AsInt(value)) return Bool(!*known);
  return Expr(new NotNode(std::move(value)));
}

Expr Cast(DType dtype, Expr value) {
  if (value.dtype() == dtype) return value;
  KILN_CHECK(value.dtype().lanes() == dtype.lanes());
  const int64_t* known = AsInt(value);
  if (known && dtype == DType::Index() && !value.dtype().is_uint()) {
    return Int(*known);
  }
  return Expr(new CastNode(dtype, std::move(value)));
}

Expr Select(Expr condition, Expr true_value, Expr false_value) {
  MatchLanes(true_value, false_value);
  KILN_CHECK(true_value.dtype() == false_value.dtype());
  KILN_CHECK(condition.dtype().is_bool());
  return Expr(new SelectNode(std::move(condition), std::move(true_value),
                             std::move(false_value)));
}

Expr Load(Buffer buffer, std::vector<Expr> indices) {
  KILN_CHECK_EQ(buffer->shape.size(), indices.size()) << buffer->name;
  int lanes = 1;
  for (const Expr& index : indices) {
    lanes = std::max(lanes, index.dtype().lanes());
  }
  const DType dtype = buffer->dtype.WithLanes(buffer->dtype.lanes() * lanes);
  return Expr(new LoadNode(dtype, std::move(buffer), std::move(indices)));
}

Expr Ramp(Expr base, Expr stride, int lanes) {
  KILN_CHECK(base.dtype() == stride.dtype() && lanes > 1);
  return Expr(new RampNode(std::move(base), std::move(stride), lanes));
}

Expr Broadcast(Expr value, int lanes) {
  if (lanes == 1) return value;
  KILN_CHECK(value.dtype().is_scalar());
  return Expr(new BroadcastNode(std::move(value), lanes));
}

Expr Let(Var var, Expr value, Expr body) {
  KILN_CHECK(var.dtype() == value.dtype()) << var.name();
  return Expr(new LetNode(std::move(var), std::move(value), std::move(body)));
}

Expr Call(DType dtype, Intrinsic op, std::vector<Expr> args) {
  const IntrinsicInfo& info = GetIntrinsicInfo(op);
  KILN_CHECK(info.arity < 0 || info.arity == static_cast<int>(args.size()))
      << std::string(info.name);
  return Expr(new CallNode(dtype, op, std::move(args)));
}

Expr LaneSums(Expr x, int count) {
  const DType dtype = x.dtype().WithLanes(x.dtype().lanes() / count);
  return Call(dtype, Intrinsic::kLaneSums, {std::move(x), Int(count)});
}

const LoadNode* PrefetchedElement(const CallNode& call) {
  if (call.op != Intrinsic::kPrefetch) return nullptr;
  const auto* address = call.args[0].As<CallNode>();
  return address && address->op == Intrinsic::kAddressOf
             ? address->args[0].As<LoadNode>()
             : nullptr;
}

Buffer MakeBuffer(std::string name, DType dtype, std::vector<Expr> shape,
                  std::string scope) {
  auto* node = new BufferNode;
  node->name = std::move(name);
  node->dtype = dtype;
  node->shape = std::move(shape);
  node->scope = std::move(scope);
  return Buffer(node);
}

BufferNode* CopyBufferNode(const BufferNode& node) {
  auto* copy = new BufferNode;
  copy->name = node.name;
  copy->dtype = node.dtype;
  copy->shape = node.shape;
  copy->strides = node.strides;
  copy->elem_offset = node.elem_offset;
  copy->data = node.data;
  copy->scope = node.scope;
  copy->alignment = node.alignment;
  copy->offset_factor = node.offset_factor;
  return copy;
}

}  // namespace kiln
