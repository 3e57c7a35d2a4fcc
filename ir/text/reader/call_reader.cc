// A call is looked up in this order; the first that knows the name reads it:
//
//   T.max(a, b), T.Cast(...), T.Select(...)    forms with rules of their own
//   T.FloorDiv(i, 4), T.bitwise_and(a, 1)      operators spelled as calls
//   T.float32(3), T.int8(x)                    a typed constant, or a cast
//   T.sqrt(x), T.call_extern("float32", ...)   the table of intrinsics
//
// Of the intrinsics, pure ones take the type of their first operand, and the
// others are converted to it; opaque ones take operands as they are. An
// intrinsic that is added to ir/expr/kinds.h is read without a change here,
// unless its operands or its result are of other types. For an unknown name the
// nearest known one is suggested.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/reader/expr_reader.h"

namespace kiln::script {
namespace {

struct CallOperator {
  std::string_view name;
  std::string_view symbol;  // what ApplyBinary calls it
};
// Operators that the script may spell as calls.
constexpr CallOperator kCallOperators[] = {
    {"Add", "+"},          {"Sub", "-"},         {"Mul", "*"},
    {"Div", "/"},          {"FloorDiv", "//"},   {"FloorMod", "%"},
    {"floordiv", "//"},    {"floormod", "%"},    {"add", "+"},
    {"subtract", "-"},     {"multiply", "*"},    {"EQ", "=="},
    {"NE", "!="},          {"LT", "<"},          {"LE", "<="},
    {"GT", ">"},           {"GE", ">="},         {"bitwise_and", "&"},
    {"bitwise_or", "|"},   {"bitwise_xor", "^"}, {"shift_left", "<<"},
    {"shift_right", ">>"}, {"pow", "**"},        {"power", "**"}};

// Whether the script gives the result type as the first argument.
bool TakesType(Intrinsic op) {
  return op == Intrinsic::kReinterpret || op == Intrinsic::kCallExtern ||
         op == Intrinsic::kCallPureExtern || op == Intrinsic::kCallLlvmIntrin ||
         op == Intrinsic::kCallLlvmPureIntrin;
}

bool IsLimit(Intrinsic op) {
  return op == Intrinsic::kMinValue || op == Intrinsic::kMaxValue ||
         op == Intrinsic::kInfinity;
}

// Whether the operands after the first are integers whatever that one is.
bool TakesIntegers(Intrinsic op) {
  return op == Intrinsic::kLdexp || op == Intrinsic::kQMultiplyShift ||
         op == Intrinsic::kQMultiplyShiftPerAxis;
}

bool IsShuffle(Intrinsic op) {
  return op == Intrinsic::kWarpShuffle || op == Intrinsic::kWarpShuffleUp ||
         op == Intrinsic::kWarpShuffleDown;
}

bool IsWithin(const Expr& e, int64_t least, int64_t most) {
  const int64_t* value = AsInt(e);
  return value && *value >= least && *value <= most;
}

bool IsPrefetch(const std::vector<Expr>& operands) {
  const auto* address = operands[0].As<CallNode>();
  return address && address->op == Intrinsic::kAddressOf &&
         IsWithin(operands[1], 0, 1) && IsWithin(operands[2], 0, 3) &&
         IsOne(operands[3]);
}

bool IsIntegerMath(Intrinsic op) {
  return op == Intrinsic::kPopcount || op == Intrinsic::kClz;
}

}  // namespace

absl::StatusOr<Value> ExprReader::Call(const py::Expr& e) {
  std::string name = TensorName(e.items[0]);
  if (e.items[0].kind == py::ExprKind::kName) {
    const std::string& plain = e.items[0].text;
    if (plain == "max" || plain == "min" || plain == "abs") name = plain;
  }
  if (name == "fabs") name = "abs";
  if (name.empty()) return UnknownCall(e, name);
  bool known = true;
  absl::StatusOr<Value> special = SpecialCall(e, name, known);
  if (known) return special;
  known = true;
  special = BinaryCall(e, name, known);
  if (known) return special;
  if (std::optional<DType> dtype = DType::FromString(name)) {
    return TypedConstant(e, *dtype);
  }
  if (std::optional<Intrinsic> op = IntrinsicNamed(name)) {
    if (op == Intrinsic::kAttr) {
      return context_.Error(e.begin,
                            "T.attr is a statement, and gives no value");
    }
    if (TakesType(*op)) return TypedCall(e, *op);
    if (IsLimit(*op)) return LimitCall(e, *op);
    if (TakesIntegers(*op)) return ScaledCall(e, *op);
    if (*op == Intrinsic::kLaneSums) return LaneSumsCall(e);
    const bool math = GetIntrinsicInfo(*op).purity == Purity::kPure &&
                      *op != Intrinsic::kTypeAnnotation;
    return math ? MathCall(e, *op) : IntrinsicCall(e, *op);
  }
  return UnknownCall(e, name);
}

// T.float32(3), T.bool(True), T.float32("inf"); T.float32(x) of another value
// is a cast.
absl::StatusOr<Value> ExprReader::TypedConstant(const py::Expr& e,
                                                DType dtype) {
  if (e.items.size() != 2) {
    return context_.Error(e.begin,
                          absl::StrCat("`T.", dtype.ToString(),
                                       "` takes one value here; without one it "
                                       "declares a variable and stands alone: "
                                       "n = T.int64()"));
  }
  const py::Expr& argument = Resolve(e.items[1]);
  if (argument.kind == py::ExprKind::kString && dtype.is_float()) {
    const double inf = std::numeric_limits<double>::infinity();
    const std::string& text = argument.text;
    if (text == "inf") return Value{Float(inf, dtype)};
    if (text == "-inf") return Value{Float(-inf, dtype)};
    if (text == "nan") return Value{Float(std::nan(""), dtype)};
  }
  if (argument.kind == py::ExprKind::kInt && dtype.is_uint() &&
      dtype.bits() == 64) {
    KILN_ASSIGN_OR_RETURN(uint64_t bits,
                          py::UnsignedValue(context_.source, argument));
    return Value{Broadcast(Int(static_cast<int64_t>(bits), dtype.Element()),
                           dtype.lanes())};
  }
  return ConstantOf(argument, dtype);
}

absl::StatusOr<Value> ExprReader::ConstantOf(const py::Expr& argument,
                                             DType dtype) {
  KILN_ASSIGN_OR_RETURN(Value value, Read(argument));
  if (value.weak) {
    KILN_ASSIGN_OR_PLACE(Expr constant, context_, argument.begin,
                         ConvertTo(value, dtype));
    return Value{constant, false, dtype == DType::Index()};
  }
  if (value.expr.dtype().lanes() != dtype.lanes() || dtype.is_handle() ||
      value.expr.dtype().is_handle()) {
    return context_.Error(
        argument.begin,
        absl::StrCat("this does not convert to ", dtype.ToString()));
  }
  return Value{Cast(dtype, value.expr)};
}

absl::StatusOr<Value> ExprReader::MinMaxCall(const py::Expr& e, ExprKind kind) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, e, {"a", "b"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* first, args.Require("a"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* second, args.Require("b"));
  KILN_ASSIGN_OR_RETURN(auto sides, Operands(*first, *second));
  KILN_ASSIGN_OR_PLACE(Value result, context_, e.begin,
                       ApplyMinMax(kind, sides.first, sides.second, mixing()));
  return result;
}

absl::StatusOr<Value> ExprReader::NegationCall(const py::Expr& e,
                                               std::string_view op) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, e, {"a"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* argument, args.Require("a"));
  KILN_ASSIGN_OR_RETURN(Value value, Read(*argument));
  KILN_ASSIGN_OR_PLACE(Value result, context_, e.begin, ApplyUnary(op, value));
  return result;
}

absl::StatusOr<Value> ExprReader::SpecialCall(const py::Expr& e,
                                              const std::string& name,
                                              bool& known) {
  if (name == "max") return MinMaxCall(e, ExprKind::kMax);
  if (name == "min") return MinMaxCall(e, ExprKind::kMin);
  if (name == "Not") return NegationCall(e, "not");
  if (name == "Neg") return NegationCall(e, "-");
  if (name == "Cast" || name == "cast") {
    return CastCall(e, /*type_first=*/name == "Cast");
  }
  if (name == "Let") return LetCall(e);
  if (name == "Ramp" || name == "ramp") return VectorCall(e, /*ramp=*/true);
  if (name == "Broadcast" || name == "broadcast") {
    return VectorCall(e, /*ramp=*/false);
  }
  known = name == "Select" || name == "if_then_else";
  if (!known) return Value{};
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, e,
                          {"condition", "true_value", "false_value"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* condition, args.Require("condition"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* yes, args.Require("true_value"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* no, args.Require("false_value"));
  return Choice(e, *condition, *yes, *no, name == "if_then_else");
}

absl::StatusOr<Value> ExprReader::BinaryCall(const py::Expr& e,
                                             const std::string& name,
                                             bool& known) {
  std::string_view symbol;
  for (const CallOperator& row : kCallOperators) {
    if (name == row.name) symbol = row.symbol;
  }
  const bool logic = name == "And" || name == "Or";
  bool truncates = name == "truncdiv" || name == "truncmod";
  known = !symbol.empty() || logic || truncates;
  if (!known) return Value{};
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, e, {"a", "b"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* first, args.Require("a"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* second, args.Require("b"));
  if (logic) {
    KILN_ASSIGN_OR_RETURN(Expr a, Condition(*first));
    KILN_ASSIGN_OR_RETURN(Expr b, Condition(*second));
    return Value{name == "And" ? And(a, b) : Or(a, b)};
  }
  KILN_ASSIGN_OR_RETURN(Value a, Read(*first));
  KILN_ASSIGN_OR_RETURN(Value b, Read(*second));
  // T.Div of integers is the division of C.
  truncates = truncates || (name == "Div" && a.expr.dtype().is_integral() &&
                            b.expr.dtype().is_integral());
  if (!truncates) {
    KILN_ASSIGN_OR_PLACE(Value result, context_, e.begin,
                         ApplyBinary(symbol, a, b, mixing()));
    return result;
  }
  KILN_ASSIGN_OR_PLACE(auto operands, context_, e.begin, Unify(a, b, mixing()));
  const bool whole =
      operands.first.dtype().is_int() || operands.first.dtype().is_uint();
  if (!whole || IsZero(operands.second)) {
    return context_.Error(e.begin, absl::StrCat("T.", name,
                                                " needs integers, and a "
                                                "divisor that is not zero"));
  }
  return Value{
      Binary(name == "truncmod" ? ExprKind::kTruncMod : ExprKind::kTruncDiv,
             operands.first, operands.second)};
}

absl::StatusOr<Value> ExprReader::CastCall(const py::Expr& e, bool type_first) {
  KILN_ASSIGN_OR_RETURN(
      auto args,
      type_first ? py::Arguments::Bind(context_.source, e, {"dtype", "value"})
                 : py::Arguments::Bind(context_.source, e, {"value", "dtype"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* type, args.Require("dtype"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* argument, args.Require("value"));
  KILN_ASSIGN_OR_RETURN(DType dtype, Type(*type));
  KILN_ASSIGN_OR_RETURN(Expr value, Settled(*argument));
  const DType from = value.dtype();
  const bool numbers = (dtype.is_float() || dtype.is_integral()) &&
                       (from.is_float() || from.is_integral());
  if (!numbers || dtype.lanes() != from.lanes()) {
    return context_.Error(
        e.begin,
        absl::StrCat(from.ToString(), " does not cast to ", dtype.ToString()));
  }
  return Value{Cast(dtype, value)};
}

// T.Let(body, where={x: value}): the name x is bound in the body alone.
absl::StatusOr<Value> ExprReader::LetCall(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e, {"body", "where"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* body, args.Require("body"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* where, args.Require("where"));
  if (where->kind != py::ExprKind::kDict) {
    return context_.Error(where->begin, "write where={name: value}");
  }
  ScopeLevel level(context_.scope);
  std::vector<std::pair<Var, Expr>> bound;
  for (size_t i = 0; i + 1 < where->items.size(); i += 2) {
    const py::Expr& name = where->items[i];
    if (name.kind != py::ExprKind::kName) {
      return context_.Error(name.begin, "a name is bound here");
    }
    KILN_ASSIGN_OR_RETURN(Expr value, Settled(where->items[i + 1]));
    Var var(name.text, value.dtype());
    context_.scope.Bind(name.text, Value{var});
    bound.emplace_back(var, value);
  }
  KILN_ASSIGN_OR_RETURN(Expr result, Settled(*body));
  for (auto it = bound.rbegin(); it != bound.rend(); ++it) {
    result = Let(it->first, it->second, result);
  }
  return Value{result};
}

absl::StatusOr<Value> ExprReader::VectorCall(const py::Expr& e, bool ramp) {
  constexpr int64_t kMaxLanes = 4096;
  KILN_ASSIGN_OR_RETURN(
      auto args,
      ramp
          ? py::Arguments::Bind(context_.source, e, {"base", "stride", "lanes"})
          : py::Arguments::Bind(context_.source, e, {"value", "lanes"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* first,
                        args.Require(ramp ? "base" : "value"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* count, args.Require("lanes"));
  KILN_ASSIGN_OR_RETURN(int64_t lanes,
                        py::IntegerValue(context_.source, *count));
  KILN_ASSIGN_OR_RETURN(Value value, Read(*first));
  const Expr base = Settle(value);
  if (lanes < 2 || lanes > kMaxLanes || !base.dtype().is_scalar()) {
    return context_.Error(e.begin, absl::StrCat("a vector has 2 to ", kMaxLanes,
                                                " lanes of a scalar"));
  }
  if (!ramp) return Value{Broadcast(base, static_cast<int>(lanes))};
  KILN_ASSIGN_OR_RETURN(const py::Expr* step, args.Require("stride"));
  KILN_ASSIGN_OR_RETURN(Value stride, Read(*step));
  KILN_ASSIGN_OR_PLACE(auto parts, context_, e.begin, Unify(value, stride));
  if (!parts.first.dtype().is_int() || !parts.first.dtype().is_scalar()) {
    return context_.Error(e.begin, "a ramp counts with integers");
  }
  return Value{Ramp(parts.first, parts.second, static_cast<int>(lanes))};
}

// An argument of an opaque call: any value, or a buffer by its address.
absl::StatusOr<Expr> ExprReader::Argument(const py::Expr& e) {
  if (e.kind == py::ExprKind::kAttribute && e.text == "ty") {
    KILN_ASSIGN_OR_RETURN(DType dtype, Type(e));
    return kiln::Call(dtype, Intrinsic::kTypeAnnotation, {});
  }
  return Settled(e);
}

// reinterpret and the calls to foreign functions give their type first.
absl::StatusOr<Value> ExprReader::TypedCall(const py::Expr& e, Intrinsic op) {
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e, {"dtype", "*"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* type, args.Require("dtype"));
  KILN_ASSIGN_OR_RETURN(DType dtype, Type(*type));
  std::vector<Expr> operands;
  for (const py::Expr* argument : args.rest()) {
    KILN_ASSIGN_OR_RETURN(Expr operand, Argument(*argument));
    operands.push_back(std::move(operand));
  }
  const bool reinterpret = op == Intrinsic::kReinterpret;
  if (operands.size() != 1 && reinterpret) {
    return context_.Error(e.begin, "T.reinterpret takes a type and a value");
  }
  if (operands.empty()) {
    return context_.Error(e.begin,
                          "this call needs a type and the name of a function");
  }
  if (reinterpret && dtype.bytes() != operands[0].dtype().bytes()) {
    return context_.Error(
        e.begin, absl::StrCat("the bits of ", operands[0].dtype().ToString(),
                              " do not make a ", dtype.ToString()));
  }
  return Value{kiln::Call(dtype, op, std::move(operands))};
}

// T.min_value("float32") and the like.
absl::StatusOr<Value> ExprReader::LimitCall(const py::Expr& e, Intrinsic op) {
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, e, {"dtype"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* type, args.Require("dtype"));
  KILN_ASSIGN_OR_RETURN(DType dtype, Type(*type));
  const bool fits =
      dtype.is_float() || (op != Intrinsic::kInfinity && dtype.is_integral());
  if (!fits) {
    return context_.Error(e.begin,
                          absl::StrCat(dtype.ToString(), " has no such limit"));
  }
  return Value{kiln::Call(dtype, op, {})};
}

absl::StatusOr<Value> ExprReader::MathCall(const py::Expr& e, Intrinsic op) {
  const IntrinsicInfo& info = GetIntrinsicInfo(op);
  std::vector<Value> operands;
  for (size_t i = 1; i < e.items.size(); ++i) {
    const bool named = e.items[i].kind == py::ExprKind::kKeyword;
    const py::Expr& item = named ? e.items[i].items[0] : e.items[i];
    KILN_ASSIGN_OR_RETURN(Value operand, Read(item));
    operands.push_back(std::move(operand));
  }
  if (info.arity >= 0 && static_cast<int>(operands.size()) != info.arity) {
    return context_.Error(
        e.begin, absl::StrCat("T.", std::string(info.name), " takes ",
                              info.arity, " arguments, not ", operands.size()));
  }
  std::vector<Expr> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i == 0) {
      values.push_back(Settle(operands[0]));
      continue;
    }
    KILN_ASSIGN_OR_PLACE(Expr next, context_, e.begin,
                         ConvertTo(operands[i], values[0].dtype()));
    values.push_back(std::move(next));
  }
  const DType dtype = values.empty() ? DType::Void() : values[0].dtype();
  if (IsIntegerMath(op) ? !dtype.is_integral()
                        : !dtype.is_float() && !dtype.is_integral()) {
    return context_.Error(e.begin,
                          absl::StrCat("T.", std::string(info.name),
                                       " does not work on ", dtype.ToString()));
  }
  const bool asks = op == Intrinsic::kIsNan || op == Intrinsic::kIsInf ||
                    op == Intrinsic::kIsFinite;
  const DType result = asks ? DType::Bool().WithLanes(dtype.lanes()) : dtype;
  return Value{kiln::Call(result, op, std::move(values))};
}

// ldexp of a float, and the fixed-point products, which are of 32-bit integers.
absl::StatusOr<Value> ExprReader::ScaledCall(const py::Expr& e, Intrinsic op) {
  const IntrinsicInfo& info = GetIntrinsicInfo(op);
  const std::string name(info.name);
  if (static_cast<int>(e.items.size()) - 1 != info.arity) {
    return context_.Error(e.begin,
                          absl::StrCat("T.", name, " takes ", info.arity,
                                       " arguments, not ", e.items.size() - 1));
  }
  std::vector<Expr> values;
  for (size_t i = 1; i < e.items.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Value value, Read(e.items[i]));
    if (i > 1 && value.weak) {
      KILN_ASSIGN_OR_PLACE(Expr number, context_, e.items[i].begin,
                           ConvertTo(value, DType::Int(32)));
      values.push_back(std::move(number));
    } else {
      values.push_back(Settle(value));
    }
    const DType dtype = values.back().dtype().Element();
    const bool fits = i == 1 && op == Intrinsic::kLdexp
                          ? dtype.is_float()
                          : dtype == DType::Int(32) || dtype.is_bool();
    if (!fits) {
      return context_.Error(e.items[i].begin,
                            absl::StrCat("T.", name, " does not take ",
                                         dtype.ToString(), " here"));
    }
  }
  const DType dtype = values[0].dtype();
  return Value{kiln::Call(dtype, op, std::move(values))};
}

absl::StatusOr<Value> ExprReader::LaneSumsCall(const py::Expr& e) {
  if (e.items.size() == 3) {
    KILN_ASSIGN_OR_RETURN(const Expr lanes, Argument(e.items[1]));
    KILN_ASSIGN_OR_RETURN(const Expr count, Argument(e.items[2]));
    if (IsWithin(count, 1, lanes.dtype().lanes()) &&
        lanes.dtype().lanes() % *AsInt(count) == 0) {
      return Value{kiln::LaneSums(lanes, static_cast<int>(*AsInt(count)))};
    }
  }
  return context_.Error(e.begin,
                        "T.lane_sums takes a vector, and a number that divides "
                        "its lanes: how many are added up each time");
}

absl::StatusOr<Value> ExprReader::IntrinsicCall(const py::Expr& e,
                                                Intrinsic op) {
  const IntrinsicInfo& info = GetIntrinsicInfo(op);
  if (op == Intrinsic::kTypeAnnotation) {
    KILN_ASSIGN_OR_RETURN(auto args,
                          py::Arguments::Bind(context_.source, e, {"dtype"}));
    KILN_ASSIGN_OR_RETURN(const py::Expr* type, args.Require("dtype"));
    KILN_ASSIGN_OR_RETURN(DType dtype, Type(*type));
    return Value{kiln::Call(dtype, op, {})};
  }
  KILN_ASSIGN_OR_RETURN(auto args,
                        py::Arguments::Bind(context_.source, e, {"*"}));
  std::vector<Expr> operands;
  for (const py::Expr* argument : args.rest()) {
    KILN_ASSIGN_OR_RETURN(Expr operand,
                          op == Intrinsic::kStackMakeArray
                              ? ArrayOperand(*argument, operands.size())
                          : IsPackedCall(op) ? PackedArgument(*argument)
                                             : Argument(*argument));
    operands.push_back(std::move(operand));
  }
  if (info.arity >= 0 && static_cast<int>(operands.size()) != info.arity) {
    return context_.Error(
        e.begin, absl::StrCat("T.", std::string(info.name), " takes ",
                              info.arity, " arguments, not ", operands.size()));
  }
  const bool address =
      op == Intrinsic::kAddressOf || op == Intrinsic::kAccessPtr ||
      op == Intrinsic::kStackAlloca || op == Intrinsic::kStackMakeShape ||
      op == Intrinsic::kStackMakeArray;
  if (op == Intrinsic::kAddressOf && !operands[0].As<LoadNode>()) {
    return context_.Error(e.begin, "T.address_of takes an element: A[i, j]");
  }
  if (op == Intrinsic::kPrefetch && !IsPrefetch(operands)) {
    return context_.Error(
        e.begin,
        "T.prefetch takes the address of an element, 0 (to read) or 1 (to "
        "write), a locality from 0 to 3, and 1 for data: "
        "T.prefetch(T.address_of(A[i, j]), 0, 3, 1)");
  }
  DType value = DType::Int(32);
  if (IsShuffle(op)) value = operands[1].dtype();
  if (op == Intrinsic::kRet) value = operands[0].dtype();
  const DType dtype = address ? DType::Handle() : value;
  return Value{kiln::Call(dtype, op, std::move(operands))};
}

absl::StatusOr<Value> ExprReader::UnknownCall(const py::Expr& e,
                                              const std::string& name) {
  if (name.empty()) {
    const std::string callee = py::DottedName(e.items[0]);
    return context_.Error(
        e.begin,
        absl::StrCat(callee.empty() ? "this" : absl::StrCat("`", callee, "`"),
                     " cannot be called in a program; functions of the "
                     "dialect begin with `T.`"));
  }
  static const std::vector<std::string_view> kKnown = {
#define KILN_NAME(op, script_name, ...) script_name,
      KILN_INTRINSICS(KILN_NAME)
#undef KILN_NAME
          "Cast",
      "Select",
      "Ramp",
      "Broadcast",
      "Let",
      "max",
      "min"};
  const std::string closest = ClosestName(name, kKnown);
  return context_.Error(
      e.begin, absl::StrCat("`T.", name, "` gives no value here",
                            closest.empty() ? "" : "; did you mean `T.",
                            closest, closest.empty() ? "" : "`?"));
}

}  // namespace kiln::script
