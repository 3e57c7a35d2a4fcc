// The reader types a plain number by the place where it stands, so the printer
// writes a type only where the place does not give it. Parentheses stand where
// the operator around binds tighter, or as tight on the right-hand side:
//
//   X[i] + 1                  the 1 is int32, as X[i] is
//   T.int32(2147483647) + T.int32(1)
//                             both typed: two plain numbers are computed
//                             without a type when they are read
//   A[i] = T.float32(1)       a float always shows its type
//   a - (b - c)               since a - b - c is (a - b) - c
//   (a < b) == c              since a < b == c is a < b and b == c
//
// `typed_by_place` tells the operands of an expression that a plain number will
// be read as one of their type. An index is int64 here whatever the text says,
// so that int64 constants are plain, and the cast of an integer to int64 is not
// written where it makes an index.
#include "kiln/ir/text/printer/expr_printer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/text/printer/literals.h"

namespace kiln::script {
namespace {

constexpr int kNotPrecedence = 4;
constexpr int kComparePrecedence = 5;

bool IsNumber(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm;
}

struct BitOperator {
  Intrinsic op;
  std::string_view symbol;
  int precedence;
};
constexpr BitOperator kBitOperators[] = {{Intrinsic::kBitwiseOr, "|", 6},
                                         {Intrinsic::kBitwiseXor, "^", 7},
                                         {Intrinsic::kBitwiseAnd, "&", 8},
                                         {Intrinsic::kShiftLeft, "<<", 9},
                                         {Intrinsic::kShiftRight, ">>", 9}};

// Whether the type of the result stands first among the arguments.
bool ShowsType(Intrinsic op) {
  return op == Intrinsic::kReinterpret || op == Intrinsic::kCallExtern ||
         op == Intrinsic::kCallPureExtern || op == Intrinsic::kCallLlvmIntrin ||
         op == Intrinsic::kCallLlvmPureIntrin || op == Intrinsic::kMinValue ||
         op == Intrinsic::kMaxValue || op == Intrinsic::kInfinity ||
         op == Intrinsic::kTypeAnnotation;
}

std::string Parenthesized(std::string text, bool needed) {
  return needed ? absl::StrCat("(", text, ")") : text;
}

// The end of a range, for printing: min + extent.
Expr EndOf(const Expr& min, const Expr& extent) {
  return IsZero(min) ? extent : Add(min, extent);
}

}  // namespace

std::string ExprPrinter::Integer(const IntImmNode& imm, bool typed_by_place) {
  const DType dtype = imm.dtype;
  if (dtype.is_bool()) return imm.value ? "T.bool(True)" : "T.bool(False)";
  const bool plain =
      dtype == DType::Index() || (dtype == DType::Int(32) && typed_by_place);
  if (plain) return absl::StrCat(imm.value);
  const std::string digits =
      dtype.is_uint() ? absl::StrCat(static_cast<uint64_t>(imm.value))
                      : absl::StrCat(imm.value);
  return absl::StrCat("T.", dtype.ToString(), "(", digits, ")");
}

// A number needs no type beside an operand that has one; of two numbers both
// show theirs, so that the reader does not compute them without a type.
std::string ExprPrinter::Operator(const Expr& a, const Expr& b,
                                  const std::string& symbol, int level,
                                  int precedence, bool chains) {
  auto operand = [&](const Expr& e, const Expr& other, int least) {
    const auto* imm = e.As<IntImmNode>();
    if (imm && IsNumber(other) && imm->dtype == DType::Index()) {
      return absl::StrCat("T.int64(", imm->value, ")");
    }
    return Print(e, least, !IsNumber(other));
  };
  const std::string left = operand(a, b, chains ? level : level + 1);
  const std::string right = operand(b, a, level + 1);
  return Parenthesized(absl::StrCat(left, " ", symbol, " ", right),
                       level < precedence);
}

std::string ExprPrinter::Binary(const BinaryNode& e, int precedence) {
  const BinaryInfo& info = *GetBinaryInfo(e.kind);
  if (!info.symbol.empty()) {
    const bool chains = info.precedence != kComparePrecedence;
    return Operator(e.a, e.b, std::string(info.symbol), info.precedence,
                    precedence, chains);
  }
  const std::string left = Print(e.a, !IsNumber(e.b));
  const std::string right = Print(e.b, !IsNumber(e.a));
  return absl::StrCat("T.", std::string(info.name), "(", left, ", ", right,
                      ")");
}

std::string ExprPrinter::TypedCall(const CallNode& e) {
  const bool handle = newest_ && e.dtype.is_handle();
  std::string text =
      absl::StrCat("T.", std::string(GetIntrinsicInfo(e.op).name), "(",
                   handle ? "T.handle().ty" : Quoted(e.dtype.ToString()));
  for (const Expr& arg : e.args) absl::StrAppend(&text, ", ", Print(arg));
  return text + ")";
}

std::string ExprPrinter::Call(const CallNode& e, int precedence) {
  for (const BitOperator& row : kBitOperators) {
    if (row.op != e.op) continue;
    return Operator(e.args[0], e.args[1], std::string(row.symbol),
                    row.precedence, precedence, /*chains=*/true);
  }
  if (ShowsType(e.op)) return TypedCall(e);
  std::vector<std::string> args;
  for (size_t i = 0; i < e.args.size(); ++i) {
    // The branches of a choice give each other their type.
    const bool choice = e.op == Intrinsic::kIfThenElse && i > 0;
    // The number that stands for the type of the elements shows it.
    const auto* number = e.args[i].As<IntImmNode>();
    if (e.op == Intrinsic::kStackMakeArray && i == 4 && number &&
        number->dtype == DType::Index()) {
      args.push_back(absl::StrCat("T.int64(", number->value, ")"));
      continue;
    }
    args.push_back(Print(e.args[i], choice && !IsNumber(e.args[3 - i])));
  }
  return absl::StrCat("T.", std::string(GetIntrinsicInfo(e.op).name), "(",
                      absl::StrJoin(args, ", "), ")");
}

std::string ExprPrinter::Let(const LetNode& e) {
  const std::string value = Print(e.value);
  NamesScope scope(names_);
  const std::string name = names_.Define(e.var);
  return absl::StrCat("T.Let(", Print(e.body), ", where={", name, ": ", value,
                      "})");
}

std::string ExprPrinter::Select(const SelectNode& e) {
  const std::string yes = Print(e.true_value, !IsNumber(e.false_value));
  const std::string no = Print(e.false_value, !IsNumber(e.true_value));
  return absl::StrCat("T.Select(", Print(e.condition), ", ", yes, ", ", no,
                      ")");
}

std::string ExprPrinter::Vector(const Expr& e) {
  if (const auto* splat = e.As<BroadcastNode>()) {
    return absl::StrCat("T.Broadcast(", Print(splat->value), ", ", splat->lanes,
                        ")");
  }
  const auto* ramp = e.As<RampNode>();
  const std::string base = Print(ramp->base, !IsNumber(ramp->stride));
  const std::string stride = Print(ramp->stride, !IsNumber(ramp->base));
  return absl::StrCat("T.Ramp(", base, ", ", stride, ", ", ramp->lanes, ")");
}

std::string ExprPrinter::Negation(const NotNode& e, int precedence) {
  return Parenthesized(
      absl::StrCat("not ", Print(e.value, kNotPrecedence, false)),
      kNotPrecedence < precedence);
}

std::string ExprPrinter::Print(const Expr& e, int precedence,
                               bool typed_by_place) {
  if (const auto* binary = e.As<BinaryNode>()) {
    return Binary(*binary, precedence);
  }
  if (const auto* imm = e.As<IntImmNode>()) {
    return Integer(*imm, typed_by_place);
  }
  if (const auto* real = e.As<FloatImmNode>()) {
    return FloatConstant(real->value, real->dtype, newest_);
  }
  if (const auto* text = e.As<StringImmNode>()) return Quoted(text->value);
  if (const auto* var = e.As<VarNode>()) return names_.Of(var);
  if (const auto* cast = e.As<CastNode>()) {
    return absl::StrCat("T.Cast(", Quoted(cast->dtype.ToString()), ", ",
                        Print(cast->value), ")");
  }
  if (const auto* negated = e.As<NotNode>()) {
    return Negation(*negated, precedence);
  }
  if (const auto* select = e.As<SelectNode>()) return Select(*select);
  if (const auto* load = e.As<LoadNode>()) {
    return Element(load->buffer, load->indices);
  }
  if (const auto* let = e.As<LetNode>()) return Let(*let);
  if (const auto* call = e.As<CallNode>()) return Call(*call, precedence);
  return Vector(e);
}

// An integer of another width becomes an index where it stands as one.
std::string ExprPrinter::Index(const Expr& e) {
  const auto* cast = e.As<CastNode>();
  if (cast && cast->dtype == DType::Index() &&
      (cast->value.dtype().is_int() || cast->value.dtype().is_uint())) {
    return Print(cast->value);
  }
  const auto* ramp = e.As<RampNode>();
  if (newest_ || ramp == nullptr || !IsOne(ramp->stride) ||
      ramp->base.dtype() != DType::Index()) {
    return Print(e);
  }
  return absl::StrCat(Print(ramp->base), ":",
                      Print(EndOf(ramp->base, Int(ramp->lanes))));
}

std::string ExprPrinter::Element(const Buffer& buffer,
                                 const std::vector<Expr>& indices) {
  std::vector<std::string> items;
  for (const Expr& index : indices) items.push_back(Index(index));
  return absl::StrCat(names_.Of(buffer.get()), "[",
                      items.empty() ? "()" : absl::StrJoin(items, ", "), "]");
}

std::string ExprPrinter::Region(const BufferRegion& region) {
  std::vector<std::string> items;
  for (const Range& range : region.region) {
    if (IsOne(range.extent)) {
      items.push_back(Index(range.min));
    } else {
      items.push_back(absl::StrCat(Print(range.min), ":",
                                   Print(EndOf(range.min, range.extent))));
    }
  }
  return absl::StrCat(names_.Of(region.buffer.get()), "[",
                      items.empty() ? "()" : absl::StrJoin(items, ", "), "]");
}

std::string ExprPrinter::Tuple(const std::vector<Expr>& items) {
  std::vector<std::string> texts;
  for (const Expr& item : items) texts.push_back(Print(item));
  return absl::StrCat("(", absl::StrJoin(texts, ", "),
                      texts.size() == 1 ? ",)" : ")");
}

std::string ExprPrinter::Attribute(const Attr& attr) {
  if (attr.is_none()) return "None";
  if (const std::string* text = attr.string()) return Quoted(*text);
  if (const AttrMap* map = attr.map()) return AttributeMap(*map);
  if (const AttrList* list = attr.list()) {
    std::vector<std::string> items;
    for (const Attr& item : *list) items.push_back(Attribute(item));
    return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
  }
  const Expr& e = *attr.expr();
  if (e.As<IntImmNode>() && e.dtype().is_bool()) {
    return IsOne(e) ? "True" : "False";
  }
  const auto* real = e.As<FloatImmNode>();
  if (real && real->dtype == DType::Float(64)) {
    const std::string text = FloatText(real->value, /*point=*/true);
    if (text[0] != '"') return text;
  }
  return Print(e);
}

std::string ExprPrinter::AttributeMap(const AttrMap& map) {
  std::vector<std::string> items;
  for (const auto& [key, value] : map) {
    items.push_back(absl::StrCat(Quoted(key), ": ", Attribute(value)));
  }
  return absl::StrCat("{", absl::StrJoin(items, ", "), "}");
}

}  // namespace kiln::script
