// The types of the script and those of the program meet here. A plain number is
// weak: it has a value and no type, and two of them are computed as Python
// does. A weak value takes the type beside it, if it fits; typed operands are
// brought to a common type; and a store converts only what loses nothing:
//
//   2 ** 10 + 1              weak 1025
//   X[i] + 1, X of int8      int8; with 300: does not fit int8
//   X[i] + 0.5               float32: a weak float beside an integer
//   X[i] + A[i], A float32   Cast(float32, X[i]) + A[i]
//   X[i] = A[i]              refused: T.Cast says that rounding is meant
//
// An index is int64 though its text says int32. Beside an int32 value, one of
// the two is cast: the value, where the result is an index again, else the
// index.
#include "kiln/ir/text/reader/value.h"

#include <cmath>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::script {
namespace {

absl::Status Wrong(std::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// Whether the integer has a place in `dtype`.
bool Fits(int64_t value, DType dtype) {
  if (dtype.is_float()) return true;
  if (dtype.is_bool()) return value == 0 || value == 1;
  if (dtype.is_uint()) {
    if (value < 0) return false;
    return dtype.bits() == 64 || value < (int64_t{1} << dtype.bits());
  }
  if (!dtype.is_int()) return false;
  if (dtype.bits() == 64) return true;
  const int64_t limit = int64_t{1} << (dtype.bits() - 1);
  return value >= -limit && value < limit;
}

// Whether the number, if it is one, rounds to a finite one of the float type.
bool Fits(double value, DType dtype) {
  if (!std::isfinite(value) || dtype.bits() == 64) return true;
  // The largest finite value and half of its last place.
  const double end = dtype == DType::BFloat16() ? 0x1.ffp127
                     : dtype.bits() == 16       ? 0x1.ffep15
                                                : 0x1.ffffffp127;
  return std::abs(value) < end;
}

absl::StatusOr<Expr> FloatAs(double value, DType dtype) {
  if (Fits(value, dtype)) return Float(value, dtype);
  return Wrong(absl::StrCat("the number ", value, " does not fit ",
                            dtype.ToString(), "; write T.", dtype.ToString(),
                            "(\"inf\") where infinity is meant"));
}

absl::StatusOr<Expr> WeakAs(const Expr& weak, DType dtype) {
  const DType element = dtype.Element();
  Expr constant;
  if (const auto* real = weak.As<FloatImmNode>()) {
    if (!element.is_float()) {
      return Wrong(absl::StrCat("a float does not fit ", dtype.ToString(),
                                "; write T.Cast(\"", dtype.ToString(),
                                "\", ...) where rounding is meant"));
    }
    KILN_ASSIGN_OR_RETURN(constant, FloatAs(real->value, element));
  } else {
    const int64_t value = *AsInt(weak);
    if (!element.is_float() && !element.is_integral()) {
      return Wrong(absl::StrCat("a number is no ", dtype.ToString()));
    }
    if (!Fits(value, element)) {
      return Wrong(absl::StrCat("the integer ", value, " does not fit ",
                                dtype.ToString()));
    }
    constant = Int(value, element.is_float() ? DType::Index() : element);
    if (element.is_float()) {
      KILN_ASSIGN_OR_RETURN(constant,
                            FloatAs(static_cast<double>(value), element));
    }
  }
  return Broadcast(constant, dtype.lanes());
}

bool IsNumber(DType dtype) { return dtype.is_float() || dtype.is_integral(); }

bool IsPlainInt(DType dtype) { return dtype.is_int() || dtype.is_uint(); }

// Whether every value of an integer type has a place in the other.
bool Holds(DType dtype, DType from) {
  if (dtype.is_uint()) return from.is_uint() && from.bits() <= dtype.bits();
  return from.bits() + (from.is_uint() ? 1 : 0) <= dtype.bits();
}

// Whether an int64 value may stand for an int32 of the text: it is made of
// indices, which are int64 here and int32 in most texts, and no int64 is loaded
// for it.
bool MayBeInt32(const Expr& e) {
  bool loads_wide = false;
  Visit(e, [&](const Expr& x) {
    loads_wide = loads_wide || (x.As<LoadNode>() && x.dtype().bits() > 32);
    return !x.As<LoadNode>();
  });
  return e.dtype().Element() == DType::Index() && !loads_wide;
}

// The element type that both operands convert to.
std::optional<DType> CommonElement(DType a, DType b) {
  a = a.Element();
  b = b.Element();
  if (a == b) return a;
  if (!IsNumber(a) || !IsNumber(b)) return std::nullopt;
  if (a.is_float() && b.is_float()) {
    if (a.bits() == b.bits()) return std::nullopt;  // float16 and bfloat16
    return a.bits() > b.bits() ? a : b;
  }
  if (a.is_float()) return a;
  if (b.is_float()) return b;
  if (a.is_bool()) return b;
  if (b.is_bool()) return a;
  if (a.bits() != b.bits()) return a.bits() > b.bits() ? a : b;
  return std::nullopt;
}

Expr CastLanes(const Expr& e, DType element) {
  return Cast(element.WithLanes(e.dtype().lanes()), e);
}

// A weak number in the type of the operand beside it. A weak float beside an
// integer makes both floats.
absl::StatusOr<Expr> WeakBeside(const Expr& weak, const Expr& typed) {
  DType element = typed.dtype().Element();
  if (!IsNumber(element)) {
    return Wrong(absl::StrCat("a number and a value of type ",
                              element.ToString(), " do not go together"));
  }
  if (weak.dtype().is_float() && IsPlainInt(element)) {
    element = DType::Float(32);
  }
  return WeakAs(weak, element);
}

// Two typed operands in their common type and number of lanes.
absl::StatusOr<std::pair<Expr, Expr>> Widen(Expr x, Expr y) {
  const DType s = x.dtype(), t = y.dtype();
  std::optional<DType> common = CommonElement(s, t);
  if (!common) {
    return Wrong(absl::StrCat("operands of ", s.ToString(), " and ",
                              t.ToString(),
                              " do not go together; cast one of them with "
                              "T.Cast(dtype, value)"));
  }
  if (s.lanes() != t.lanes() && !s.is_scalar() && !t.is_scalar()) {
    return Wrong(absl::StrCat("vectors of ", s.lanes(), " and of ", t.lanes(),
                              " lanes do not go together"));
  }
  x = CastLanes(x, *common);
  y = CastLanes(y, *common);
  const int lanes = std::max(s.lanes(), t.lanes());
  if (s.is_scalar()) x = Broadcast(x, lanes);
  if (t.is_scalar()) y = Broadcast(y, lanes);
  return std::pair(x, y);
}

// Whether one is an index and the other a value of 32 bits or fewer.
bool MixesIndex(const Value& a, const Value& b) {
  if (a.index == b.index || a.weak || b.weak) return false;
  const DType value = (a.index ? b : a).expr.dtype().Element();
  return value.is_int() ? value.bits() <= 32
                        : value.is_uint() && value.bits() < 32;
}

// A binary operation on two weak numbers, as Python does it.
absl::StatusOr<Value> FoldFloats(std::string_view op, double a, double b) {
  auto real = [](double v) { return Value{Float(v, DType::Float(64)), true}; };
  if (op == "+") return real(a + b);
  if (op == "-") return real(a - b);
  if (op == "*") return real(a * b);
  if (op == "**") return real(std::pow(a, b));
  if (op == "/") {
    if (b == 0) return Wrong("division by zero");
    return real(a / b);
  }
  if (op == "==") return Value{Bool(a == b)};
  if (op == "!=") return Value{Bool(a != b)};
  if (op == "<") return Value{Bool(a < b)};
  if (op == "<=") return Value{Bool(a <= b)};
  if (op == ">") return Value{Bool(a > b)};
  if (op == ">=") return Value{Bool(a >= b)};
  return Wrong(absl::StrCat("`", std::string(op), "` needs integers"));
}

absl::StatusOr<Value> PowerOfInts(int64_t a, int64_t b) {
  if (b < 0) {
    return FoldFloats("**", static_cast<double>(a), static_cast<double>(b));
  }
  int64_t result = 1;
  for (int64_t i = 0; i < b; ++i) {
    if (__builtin_mul_overflow(result, a, &result)) {
      return Wrong("this power does not fit in 64 bits");
    }
    if (result == 0 || (result == 1 && a == 1)) break;
    if (a == -1) return Value{Int(b % 2 == 0 ? 1 : -1), true};
  }
  return Value{Int(result), true};
}

struct OperatorRow {
  std::string_view symbol;
  ExprKind kind;
};
constexpr OperatorRow kOperators[] = {
    {"+", ExprKind::kAdd},       {"-", ExprKind::kSub},
    {"*", ExprKind::kMul},       {"/", ExprKind::kDiv},
    {"//", ExprKind::kFloorDiv}, {"%", ExprKind::kFloorMod},
    {"==", ExprKind::kEQ},       {"!=", ExprKind::kNE},
    {"<", ExprKind::kLT},        {"<=", ExprKind::kLE},
    {">", ExprKind::kGT},        {">=", ExprKind::kGE}};

struct BitRow {
  std::string_view symbol;
  Intrinsic op;
};
constexpr BitRow kBitOperators[] = {{"<<", Intrinsic::kShiftLeft},
                                    {">>", Intrinsic::kShiftRight},
                                    {"&", Intrinsic::kBitwiseAnd},
                                    {"|", Intrinsic::kBitwiseOr},
                                    {"^", Intrinsic::kBitwiseXor}};

absl::StatusOr<Value> FoldBits(std::string_view op, int64_t a, int64_t b) {
  if (op == "&") return Value{Int(a & b), true};
  if (op == "|") return Value{Int(a | b), true};
  if (op == "^") return Value{Int(a ^ b), true};
  if (b < 0 || b > 62) return Wrong("this shift is out of range");
  if (op == ">>") return Value{Int(a >> b), true};
  int64_t shifted;
  if (__builtin_mul_overflow(a, int64_t{1} << b, &shifted)) {
    return Wrong("this shift does not fit in 64 bits");
  }
  return Value{Int(shifted), true};
}

absl::StatusOr<Value> FoldInts(std::string_view op, int64_t a, int64_t b) {
  if (op == "**") return PowerOfInts(a, b);
  if (op == "/") {
    return FoldFloats("/", static_cast<double>(a), static_cast<double>(b));
  }
  for (const BitRow& row : kBitOperators) {
    if (op == row.symbol) return FoldBits(op, a, b);
  }
  for (const OperatorRow& row : kOperators) {
    if (op != row.symbol) continue;
    int64_t folded;
    if (!FoldInt(row.kind, a, b, &folded)) {
      return Wrong(b == 0 ? "division by zero"
                          : "this does not fit in 64 bits");
    }
    if (GetBinaryInfo(row.kind)->gives_bool) return Value{Bool(folded != 0)};
    return Value{Int(folded), true};
  }
  return Wrong(absl::StrCat("the operator `", std::string(op),
                            "` means nothing in a program"));
}

absl::StatusOr<Value> FoldWeak(std::string_view op, const Value& a,
                               const Value& b) {
  const int64_t* x = AsInt(a.expr);
  const int64_t* y = AsInt(b.expr);
  if (x && y) return FoldInts(op, *x, *y);
  auto as_double = [](const Expr& e) {
    const int64_t* whole = AsInt(e);
    return whole ? static_cast<double>(*whole) : e.As<FloatImmNode>()->value;
  };
  return FoldFloats(op, as_double(a.expr), as_double(b.expr));
}

// Refuses an operator that does not work on operands of the type.
absl::Status CheckOperand(std::string_view op, DType dtype, const Expr& right) {
  const bool division = op == "//" || op == "%";
  if (op == "/" && !dtype.is_float()) {
    return Wrong(
        "`/` divides floats; write `//` or T.truncdiv for integers, or cast");
  }
  if (division && dtype.is_float()) {
    return Wrong(absl::StrCat(
        "`", std::string(op), "` divides integers; write ",
        op == "//" ? "T.floor(a / b)" : "T.fmod(a, b)", " for floats"));
  }
  if (division && IsZero(right)) return Wrong("division by zero");
  const bool compares = op == "==" || op == "!=";
  if (dtype.is_bool() && !compares) {
    return Wrong(absl::StrCat("`", std::string(op),
                              "` does not work on truth values; use `and`, "
                              "`or`, or cast them to an integer"));
  }
  if (!IsNumber(dtype) && !(dtype.is_handle() && compares)) {
    return Wrong(absl::StrCat("`", std::string(op), "` does not work on ",
                              dtype.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> ApplyBits(Intrinsic op, std::string_view symbol,
                                const Value& a, const Value& b, Mixing mixing) {
  KILN_ASSIGN_OR_RETURN(auto operands, Unify(a, b, mixing));
  const DType dtype = operands.first.dtype();
  if (!dtype.is_integral()) {
    return Wrong(absl::StrCat("`", std::string(symbol),
                              "` needs integers, not ", dtype.ToString()));
  }
  return Value{Call(dtype, op, {operands.first, operands.second}), false,
               BothIndex(a, b)};
}

}  // namespace

Expr Settle(const Value& value) {
  if (!value.weak) return value.expr;
  if (const auto* real = value.expr.As<FloatImmNode>()) {
    return Float(real->value);
  }
  return value.expr;
}

absl::StatusOr<Expr> ConvertTo(const Value& value, DType dtype) {
  if (value.weak) return WeakAs(value.expr, dtype);
  const DType from = value.expr.dtype();
  if (from == dtype) return value.expr;
  if (from.Element() == dtype.Element() && from.is_scalar()) {
    return Broadcast(value.expr, dtype.lanes());
  }
  const bool converts =
      IsPlainInt(from) && IsPlainInt(dtype) &&
      (Holds(dtype, from) ||
       (dtype.Element() == DType::Int(32) && MayBeInt32(value.expr)));
  if (converts && from.lanes() == dtype.lanes()) {
    return Cast(dtype, value.expr);
  }
  return Wrong(absl::StrCat("this is ", from.ToString(), " where ",
                            dtype.ToString(), " is needed; write T.Cast(\"",
                            dtype.ToString(), "\", ...) to convert it"));
}

absl::StatusOr<std::pair<Expr, Expr>> Unify(const Value& a, const Value& b,
                                            Mixing mixing) {
  if (mixing == Mixing::kNarrow && MixesIndex(a, b)) {
    auto typed = [](const Value& v) {
      return v.index ? Value{CastLanes(v.expr, DType::Int(32))} : v;
    };
    return Unify(typed(a), typed(b));
  }
  if (a.weak && b.weak) {
    const bool real = a.expr.dtype().is_float() || b.expr.dtype().is_float();
    const DType dtype = real ? DType::Float(32) : DType::Index();
    KILN_ASSIGN_OR_RETURN(Expr x, WeakAs(a.expr, dtype));
    KILN_ASSIGN_OR_RETURN(Expr y, WeakAs(b.expr, dtype));
    return std::pair(x, y);
  }
  Expr x = a.expr, y = b.expr;
  if (a.weak) {
    KILN_ASSIGN_OR_RETURN(x, WeakBeside(a.expr, b.expr));
  } else if (b.weak) {
    KILN_ASSIGN_OR_RETURN(y, WeakBeside(b.expr, a.expr));
  }
  return Widen(std::move(x), std::move(y));
}

absl::StatusOr<Value> ApplyBinary(std::string_view op, const Value& a,
                                  const Value& b, Mixing mixing) {
  if (a.weak && b.weak) return FoldWeak(op, a, b);
  for (const BitRow& row : kBitOperators) {
    if (op == row.symbol) return ApplyBits(row.op, op, a, b, mixing);
  }
  KILN_ASSIGN_OR_RETURN(auto operands, Unify(a, b, mixing));
  KILN_RETURN_IF_ERROR(
      CheckOperand(op, operands.first.dtype(), operands.second));
  if (op == "**") {
    return Value{Call(operands.first.dtype(), Intrinsic::kPow,
                      {operands.first, operands.second})};
  }
  for (const OperatorRow& row : kOperators) {
    if (op == row.symbol) {
      return Value{Binary(row.kind, operands.first, operands.second), false,
                   BothIndex(a, b)};
    }
  }
  return Wrong(absl::StrCat("the operator `", std::string(op),
                            "` means nothing in a program"));
}

absl::StatusOr<Value> ApplyMinMax(ExprKind kind, const Value& a, const Value& b,
                                  Mixing mixing) {
  if (a.weak && b.weak) {
    KILN_ASSIGN_OR_RETURN(Value less, FoldWeak("<", a, b));
    const bool first = IsOne(less.expr) == (kind == ExprKind::kMin);
    return first ? a : b;
  }
  KILN_ASSIGN_OR_RETURN(auto operands, Unify(a, b, mixing));
  if (!IsNumber(operands.first.dtype())) {
    return Wrong("minimum and maximum need numbers");
  }
  return Value{Binary(kind, operands.first, operands.second), false,
               BothIndex(a, b)};
}

absl::StatusOr<Value> ApplyUnary(std::string_view op, const Value& a) {
  if (op == "not") {
    KILN_ASSIGN_OR_RETURN(Expr condition, AsCondition(a));
    if (!condition.dtype().is_bool()) return Wrong("`not` needs a truth value");
    return Value{Not(condition)};
  }
  const DType dtype = a.expr.dtype();
  if (!IsNumber(dtype) || (dtype.is_bool() && op != "~")) {
    return Wrong(absl::StrCat("`", std::string(op), "` does not work on ",
                              dtype.ToString()));
  }
  if (op == "+") return a;
  if (op == "~") {
    if (!dtype.is_integral()) return Wrong("`~` needs an integer");
    if (dtype.is_bool()) return Value{Not(a.expr)};
    if (a.weak) return Value{Int(~*AsInt(a.expr)), true};
    return Value{Call(dtype, Intrinsic::kBitwiseNot, {a.expr})};
  }
  if (const auto* real = a.expr.As<FloatImmNode>()) {
    return Value{Float(-real->value, dtype), a.weak};
  }
  return ApplyBinary("*", a, Value{Int(-1), true});
}

absl::StatusOr<Expr> AsCondition(const Value& value) {
  if (value.expr.dtype().is_bool()) return value.expr;
  return Wrong(
      absl::StrCat("a condition is needed here, this is ",
                   value.weak ? "a number" : value.expr.dtype().ToString(),
                   "; compare it with something"));
}

absl::StatusOr<Expr> AsIndex(const Value& value) {
  const DType dtype = value.expr.dtype();
  if (value.weak && dtype.is_int()) return value.expr;
  if (!IsPlainInt(dtype)) {
    return Wrong(absl::StrCat("an index is an integer, this is ",
                              value.weak ? "a float" : dtype.ToString()));
  }
  return Cast(DType::Index().WithLanes(dtype.lanes()), value.expr);
}

}  // namespace kiln::script
