// Expressions: immutable trees with structural sharing.
//
// Integer arithmetic on index types (int64) is exact: the readers and the
// schedule refuse programs whose extents overflow. Float arithmetic follows
// IEEE 754 but for contraction (a*b+c may be fused by code generation).
//
//   Var i("i");                             // an index variable
//   Expr e = Add(Mul(i, Int(4)), Int(3));   // i * 4 + 3
//   if (const BinaryNode* add = e.As<BinaryNode>()) Use(add->a, add->b);
//
// `As<T>()` is nullptr for another kind. Variables and buffers are compared
// by identity; two variables of one name are two variables.
#ifndef KILN_IR_EXPR_EXPR_H_
#define KILN_IR_EXPR_EXPR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ir/expr/kinds.h"
#include "kiln/ir/expr/ref.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

// What occurs in an expression, to see at a glance that something does not.
struct Contents {
  uint32_t vars = 0;   // a bit for each variable; some share one
  bool loads = false;  // whether anything is read

  friend Contents operator|(Contents a, Contents b) {
    return {a.vars | b.vars, a.loads || b.loads};
  }
};

class ExprNode : public Node {
 public:
  ExprNode(ExprKind kind, DType dtype, Contents contents)
      : kind(kind),
        has_loads(contents.loads),
        dtype(dtype),
        var_bits(contents.vars) {}
  Contents contents() const { return {var_bits, has_loads}; }

  const ExprKind kind;
  const bool has_loads;
  const DType dtype;
  const uint32_t var_bits;
};

// A reference to an expression. Null when default-constructed.
class Expr : public Ref<ExprNode> {
 public:
  using Ref::Ref;
  ExprKind kind() const { return get()->kind; }
  DType dtype() const { return get()->dtype; }

  Contents contents() const { return get()->contents(); }
  // False where no variable of `bits` (var_bits of variables) occurs.
  bool MayUse(uint32_t bits) const { return (get()->var_bits & bits) != 0; }

  // The node as a T, or nullptr when it is of another kind.
  template <typename T>
  const T* As() const {
    return get() && T::Holds(get()->kind) ? static_cast<const T*>(get())
                                          : nullptr;
  }
};

// What occurs in any of a list.
Contents ContentsOf(const std::vector<Expr>& list);

struct IntImmNode : ExprNode {
  IntImmNode(DType dtype, int64_t value)
      : ExprNode(ExprKind::kIntImm, dtype, {}), value(value) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kIntImm; }
  const int64_t value;  // uint64 values keep their bits
};

struct FloatImmNode : ExprNode {
  FloatImmNode(DType dtype, double value)
      : ExprNode(ExprKind::kFloatImm, dtype, {}), value(value) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kFloatImm; }
  const double value;
};

struct StringImmNode : ExprNode {
  explicit StringImmNode(std::string value)
      : ExprNode(ExprKind::kStringImm, DType::Handle(), {}),
        value(std::move(value)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kStringImm; }
  const std::string value;
};

struct VarNode : ExprNode {
  VarNode(std::string name, DType dtype)
      : ExprNode(ExprKind::kVar, dtype, {BitOf(this)}), name(std::move(name)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kVar; }
  static uint32_t BitOf(const void* address) {
    const auto bits = reinterpret_cast<uintptr_t>(address) >> 4;
    return uint32_t{1} << (bits * 0x9E3779B97F4A7C15ull >> 59);
  }
  const std::string name;  // a hint; the printer makes it unique
};

// A variable, by identity.
class Var : public Expr {
 public:
  Var() = default;
  explicit Var(std::string name, DType dtype = DType::Index())
      : Expr(new VarNode(std::move(name), dtype)) {}
  explicit Var(const VarNode* node) : Expr(node) {}
  const VarNode* get() const {
    return static_cast<const VarNode*>(Expr::get());
  }
  const VarNode* operator->() const { return get(); }
  const std::string& name() const { return get()->name; }
};

struct CastNode : ExprNode {
  CastNode(DType dtype, Expr value)
      : ExprNode(ExprKind::kCast, dtype, value.contents()),
        value(std::move(value)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kCast; }
  const Expr value;
};

// All binary operators; `kind` says which. And and Or are lazy.
// FloorDiv and FloorMod round towards minus infinity, TruncDiv and TruncMod
// towards zero; Div is for floats.
struct BinaryNode : ExprNode {
  BinaryNode(ExprKind kind, DType dtype, Expr a, Expr b)
      : ExprNode(kind, dtype, a.contents() | b.contents()),
        a(std::move(a)),
        b(std::move(b)) {}
  static bool Holds(ExprKind kind) { return IsBinary(kind); }
  const Expr a, b;
};

struct NotNode : ExprNode {
  explicit NotNode(Expr value)
      : ExprNode(ExprKind::kNot, value.dtype(), value.contents()),
        value(std::move(value)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kNot; }
  const Expr value;
};

// Both branches are evaluated; lanes choose one by one. See also IfThenElse.
struct SelectNode : ExprNode {
  SelectNode(Expr condition, Expr true_value, Expr false_value)
      : ExprNode(ExprKind::kSelect, true_value.dtype(),
                 condition.contents() | true_value.contents() |
                     false_value.contents()),
        condition(std::move(condition)),
        true_value(std::move(true_value)),
        false_value(std::move(false_value)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kSelect; }
  const Expr condition, true_value, false_value;
};

struct BufferNode;

// A multi-dimensional array that statements read and write.
class Buffer : public Ref<BufferNode> {
 public:
  using Ref::Ref;
};

struct BufferNode : Node {
  std::string name;
  DType dtype;
  std::vector<Expr> shape;    // extents, outermost first; empty: a scalar
  std::vector<Expr> strides;  // in elements; empty: row-major and dense
  Expr elem_offset;           // in elements; null: 0
  Var data;                   // the address; null unless the program names it
  std::string scope = "global";
  int64_t alignment = 64;     // of the address, in bytes
  int64_t offset_factor = 0;  // 0: the offset may be anything
};

struct LoadNode : ExprNode {
  LoadNode(DType dtype, Buffer buffer, std::vector<Expr> indices)
      : ExprNode(ExprKind::kLoad, dtype,
                 ContentsOf(indices) | Contents{0, true}),
        buffer(std::move(buffer)),
        indices(std::move(indices)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kLoad; }
  const Buffer buffer;
  const std::vector<Expr> indices;  // the last may be a vector
};

// base, base + stride, ... : `lanes` of them.
struct RampNode : ExprNode {
  RampNode(Expr base, Expr stride, int lanes)
      : ExprNode(ExprKind::kRamp, base.dtype().WithLanes(lanes),
                 base.contents() | stride.contents()),
        base(std::move(base)),
        stride(std::move(stride)),
        lanes(lanes) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kRamp; }
  const Expr base, stride;
  const int lanes;
};

struct BroadcastNode : ExprNode {
  BroadcastNode(Expr value, int lanes)
      : ExprNode(ExprKind::kBroadcast, value.dtype().WithLanes(lanes),
                 value.contents()),
        value(std::move(value)),
        lanes(lanes) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kBroadcast; }
  const Expr value;
  const int lanes;
};

struct LetNode : ExprNode {
  LetNode(Var var, Expr value, Expr body)
      : ExprNode(ExprKind::kLet, body.dtype(),
                 value.contents() | body.contents()),
        var(std::move(var)),
        value(std::move(value)),
        body(std::move(body)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kLet; }
  const Var var;
  const Expr value, body;
};

struct CallNode : ExprNode {
  CallNode(DType dtype, Intrinsic op, std::vector<Expr> args)
      : ExprNode(ExprKind::kCall, dtype, ContentsOf(args)),
        op(op),
        args(std::move(args)) {}
  static bool Holds(ExprKind kind) { return kind == ExprKind::kCall; }
  const Intrinsic op;
  const std::vector<Expr> args;
};

// --- Makers. They check operand types (a mismatch is a bug of the caller) and
// fold constants of index type; they do not simplify otherwise.

Expr Int(int64_t value, DType dtype = DType::Index());
Expr Float(double value, DType dtype = DType::Float(32));
Expr Bool(bool value);
Expr Str(std::string value);
// `value` as a constant of a scalar type: an IntImm or a FloatImm.
Expr Constant(double value, DType dtype);

// A binary operator on operands of one type. A scalar operand meets a vector
// one by broadcast. Integer constants fold unless that would overflow.
Expr Binary(ExprKind kind, Expr a, Expr b);
inline Expr Add(Expr a, Expr b) {
  return Binary(ExprKind::kAdd, std::move(a), std::move(b));
}
inline Expr Sub(Expr a, Expr b) {
  return Binary(ExprKind::kSub, std::move(a), std::move(b));
}
inline Expr Mul(Expr a, Expr b) {
  return Binary(ExprKind::kMul, std::move(a), std::move(b));
}
inline Expr FloorDiv(Expr a, Expr b) {
  return Binary(ExprKind::kFloorDiv, std::move(a), std::move(b));
}
inline Expr FloorMod(Expr a, Expr b) {
  return Binary(ExprKind::kFloorMod, std::move(a), std::move(b));
}
inline Expr Min(Expr a, Expr b) {
  return Binary(ExprKind::kMin, std::move(a), std::move(b));
}
inline Expr Max(Expr a, Expr b) {
  return Binary(ExprKind::kMax, std::move(a), std::move(b));
}
inline Expr LT(Expr a, Expr b) {
  return Binary(ExprKind::kLT, std::move(a), std::move(b));
}
inline Expr LE(Expr a, Expr b) {
  return Binary(ExprKind::kLE, std::move(a), std::move(b));
}
inline Expr EQ(Expr a, Expr b) {
  return Binary(ExprKind::kEQ, std::move(a), std::move(b));
}
inline Expr And(Expr a, Expr b) {
  return Binary(ExprKind::kAnd, std::move(a), std::move(b));
}
inline Expr Or(Expr a, Expr b) {
  return Binary(ExprKind::kOr, std::move(a), std::move(b));
}

Expr Not(Expr value);
Expr Cast(DType dtype, Expr value);  // `value` itself when it has the type
Expr Select(Expr condition, Expr true_value, Expr false_value);
Expr Load(Buffer buffer, std::vector<Expr> indices);
Expr Ramp(Expr base, Expr stride, int lanes);
Expr Broadcast(Expr value, int lanes);  // `value` itself for one lane
Expr Let(Var var, Expr value, Expr body);
Expr Call(DType dtype, Intrinsic op, std::vector<Expr> args);
// Of a vector whose lanes `count` divides.
Expr LaneSums(Expr x, int count);

// The element that a prefetch asks for; nullptr where `call` is no prefetch of
// one.
const LoadNode* PrefetchedElement(const CallNode& call);

// A dense row-major buffer.
Buffer MakeBuffer(std::string name, DType dtype, std::vector<Expr> shape,
                  std::string scope = "global");
// A copy of `buffer` that `change` has edited.
template <typename F>
Buffer EditBuffer(const Buffer& buffer, F change);

// The value of an integer constant; nullptr-free helpers for matching.
inline const int64_t* AsInt(const Expr& e) {
  const IntImmNode* imm = e.As<IntImmNode>();
  return imm ? &imm->value : nullptr;
}
inline bool IsConst(const Expr& e, int64_t value) {
  const int64_t* known = AsInt(e);
  return known && *known == value;
}
inline bool IsZero(const Expr& e) { return IsConst(e, 0); }
inline bool IsOne(const Expr& e) { return IsConst(e, 1); }

// Checked arithmetic: false on overflow (or division by zero), `*out` then
// unset. Division rounds as its kind says.
bool FoldInt(ExprKind kind, int64_t a, int64_t b, int64_t* out);

// --- Implementation.

BufferNode* CopyBufferNode(const BufferNode& node);

template <typename F>
Buffer EditBuffer(const Buffer& buffer, F change) {
  BufferNode* copy = CopyBufferNode(*buffer);
  change(*copy);
  return Buffer(copy);
}

}  // namespace kiln

template <>
struct std::hash<kiln::Expr> : std::hash<kiln::Ref<kiln::ExprNode>> {};
template <>
struct std::hash<kiln::Var> : std::hash<kiln::Ref<kiln::ExprNode>> {};
template <>
struct std::hash<kiln::Buffer> : std::hash<kiln::Ref<kiln::BufferNode>> {};

#endif  // KILN_IR_EXPR_EXPR_H_
