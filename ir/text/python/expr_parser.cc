// Recursive descent with a function for each level of binding, from the loosest
// (lambda, conditional) to the tightest (atoms). Each reads operands of the
// next level; binary levels loop, so that operators of one level group to the
// left:
//
//   a - b - c * d     (a - b) - (c * d): level 4 loops over -, and each operand
//                     is read by level 5, which takes c * d whole
//   -a ** -b          Unary(Power(a, Unary(b))): -(a ** (-b))
//   a < b <= c        one comparison of three operands, as Python chains them
//
// All later code walks trees by recursion. Brackets and prefix operators count
// against kMaxNesting while they are open, and the depth of each finished node
// against kMaxTreeDepth, so that no text can exhaust the stack.
#include "kiln/ir/text/python/expr_parser.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/keyword.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/python/parser.h"

namespace kiln::python {
namespace {

// Binary operators from the loosest level to the tightest.
constexpr std::array<std::array<std::string_view, 5>, 6> kBinaryLevels = {{
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};

Expr Node(ExprKind kind, Position begin, std::string text = "") {
  Expr expr;
  expr.kind = kind;
  expr.begin = begin;
  expr.text = std::move(text);
  return expr;
}

Expr Node(ExprKind kind, Position begin, std::string text,
          std::vector<Expr> items) {
  Expr expr = Node(kind, begin, std::move(text));
  expr.items = std::move(items);
  return expr;
}

template <typename... Items>
std::vector<Expr> Pack(Items... items) {
  std::vector<Expr> packed;
  (packed.push_back(std::move(items)), ...);
  return packed;
}

}  // namespace

// Sets the depth of a node from its items; an error where it gets too deep.
absl::StatusOr<Expr> ExprParser::Finish(Expr expr) {
  int below = 0;
  for (const Expr& item : expr.items) below = std::max(below, item.depth);
  // What joins its items pairwise is as deep as it is long.
  const bool is_chain =
      expr.kind == ExprKind::kBoolean || expr.kind == ExprKind::kCompare;
  expr.depth = below + (is_chain ? static_cast<int>(expr.items.size()) : 1);
  if (expr.depth > kMaxTreeDepth) {
    return cursor_.source().Error(
        expr.begin,
        absl::StrCat("this expression has more than ", kMaxTreeDepth,
                     " operations in a row; split it up"));
  }
  return expr;
}

absl::StatusOr<Expr> ExprParser::Single() {
  KILN_RETURN_IF_ERROR(cursor_.Descend());
  absl::StatusOr<Expr> result =
      cursor_.AtWord("lambda") ? Lambda() : Conditional();
  cursor_.Ascend();
  return result;
}

absl::StatusOr<Expr> ExprParser::StarredOrSingle() {
  if (!cursor_.AtOp("*")) return Single();
  Token star = cursor_.Take();
  KILN_ASSIGN_OR_RETURN(Expr value, Binary(0));
  return Finish(
      Node(ExprKind::kStarred, star.begin, "*", Pack(std::move(value))));
}

absl::StatusOr<Expr> ExprParser::List() {
  Position begin = cursor_.peek().begin;
  KILN_ASSIGN_OR_RETURN(Expr first, StarredOrSingle());
  if (!cursor_.AtOp(",")) return first;
  std::vector<Expr> items = Pack(std::move(first));
  while (cursor_.TakeOp(",")) {
    const Token& next = cursor_.peek();
    bool ends = next.kind == TokenKind::kNewline ||
                next.kind == TokenKind::kEnd || cursor_.AtOp("=") ||
                cursor_.AtOp(":") || cursor_.AtOp(";") || cursor_.AtOp(")");
    if (ends) break;
    KILN_ASSIGN_OR_RETURN(Expr item, StarredOrSingle());
    items.push_back(std::move(item));
  }
  return Finish(Node(ExprKind::kTuple, begin, "", std::move(items)));
}

absl::StatusOr<Expr> ExprParser::ForTargets() {
  Position begin = cursor_.peek().begin;
  KILN_ASSIGN_OR_RETURN(Expr first, Binary(0));
  if (!cursor_.AtOp(",")) return first;
  std::vector<Expr> items = Pack(std::move(first));
  while (cursor_.TakeOp(",") && !cursor_.AtWord("in")) {
    KILN_ASSIGN_OR_RETURN(Expr item, Binary(0));
    items.push_back(std::move(item));
  }
  return Finish(Node(ExprKind::kTuple, begin, "", std::move(items)));
}

absl::StatusOr<Expr> ExprParser::Conditional() {
  KILN_ASSIGN_OR_RETURN(Expr value, Boolean(/*is_or=*/true));
  if (!cursor_.AtWord("if")) return value;
  Position begin = cursor_.Take().begin;
  KILN_ASSIGN_OR_RETURN(Expr condition, Boolean(/*is_or=*/true));
  KILN_RETURN_IF_ERROR(
      cursor_.ExpectWord("else", "after the condition of this expression"));
  KILN_ASSIGN_OR_RETURN(Expr otherwise, Single());
  return Finish(
      Node(ExprKind::kConditional, begin, "",
           Pack(std::move(value), std::move(condition), std::move(otherwise))));
}

absl::StatusOr<Expr> ExprParser::Lambda() {
  Expr lambda = Node(ExprKind::kLambda, cursor_.Take().begin);
  while (!cursor_.AtOp(":")) {
    std::string name = cursor_.TakeOp("*") ? "*" : "";
    if (name.empty() && cursor_.TakeOp("**")) name = "**";
    if (!cursor_.At(TokenKind::kName) || IsKeyword(cursor_.peek().text)) {
      return cursor_.Expected("the name of a parameter of this lambda");
    }
    name.append(cursor_.Take().text);
    lambda.names.push_back(std::move(name));
    if (!cursor_.AtOp(":")) {
      KILN_RETURN_IF_ERROR(
          cursor_.ExpectOp(",", "or `:` after a parameter of a lambda"));
    }
  }
  cursor_.Take();
  KILN_ASSIGN_OR_RETURN(Expr body, Single());
  lambda.items.push_back(std::move(body));
  return Finish(std::move(lambda));
}

absl::StatusOr<Expr> ExprParser::Boolean(bool is_or) {
  auto operand = [&] { return is_or ? Boolean(/*is_or=*/false) : Not(); };
  std::string_view word = is_or ? "or" : "and";
  KILN_ASSIGN_OR_RETURN(Expr first, operand());
  if (!cursor_.AtWord(word)) return first;
  Expr node = Node(ExprKind::kBoolean, cursor_.peek().begin, std::string(word),
                   Pack(std::move(first)));
  while (cursor_.TakeWord(word)) {
    KILN_ASSIGN_OR_RETURN(Expr next, operand());
    node.items.push_back(std::move(next));
  }
  return Finish(std::move(node));
}

absl::StatusOr<Expr> ExprParser::Not() {
  if (!cursor_.AtWord("not")) return Comparison();
  Position begin = cursor_.Take().begin;
  KILN_RETURN_IF_ERROR(cursor_.Descend());
  absl::StatusOr<Expr> operand = Not();
  cursor_.Ascend();
  KILN_RETURN_IF_ERROR(operand.status());
  return Finish(
      Node(ExprKind::kUnary, begin, "not", Pack(*std::move(operand))));
}

bool ExprParser::TakeComparison(std::string& op) {
  for (std::string_view known : {"<", ">", "==", "!=", "<=", ">="}) {
    if (cursor_.TakeOp(known)) {
      op = known;
      return true;
    }
  }
  if (cursor_.TakeWord("in")) {
    op = "in";
  } else if (cursor_.TakeWord("is")) {
    op = cursor_.TakeWord("not") ? "is not" : "is";
  } else if (cursor_.AtWord("not")) {
    cursor_.Take();
    op = cursor_.TakeWord("in") ? "not in" : "";
  } else {
    return false;
  }
  return true;
}

absl::StatusOr<Expr> ExprParser::Comparison() {
  KILN_ASSIGN_OR_RETURN(Expr first, Binary(0));
  Position begin = cursor_.peek().begin;
  std::string op;
  if (!TakeComparison(op)) return first;
  Expr node = Node(ExprKind::kCompare, begin, "", Pack(std::move(first)));
  do {
    if (op.empty()) return cursor_.Expected("`in` after `not`");
    node.names.push_back(op);
    KILN_ASSIGN_OR_RETURN(Expr next, Binary(0));
    node.items.push_back(std::move(next));
  } while (TakeComparison(op));
  return Finish(std::move(node));
}

absl::StatusOr<Expr> ExprParser::Binary(int level) {
  if (level == static_cast<int>(kBinaryLevels.size())) return Unary();
  KILN_ASSIGN_OR_RETURN(Expr left, Binary(level + 1));
  while (true) {
    const Token& token = cursor_.peek();
    const auto& ops = kBinaryLevels[level];
    if (token.kind != TokenKind::kOp || token.text.empty() ||
        std::find(ops.begin(), ops.end(), token.text) == ops.end()) {
      return left;
    }
    Token op = cursor_.Take();
    KILN_ASSIGN_OR_RETURN(Expr right, Binary(level + 1));
    KILN_ASSIGN_OR_RETURN(
        left, Finish(Node(ExprKind::kBinary, op.begin, std::string(op.text),
                          Pack(std::move(left), std::move(right)))));
  }
}

absl::StatusOr<Expr> ExprParser::Unary() {
  if (!cursor_.AtOp("-") && !cursor_.AtOp("+") && !cursor_.AtOp("~")) {
    return Power();
  }
  Token op = cursor_.Take();
  KILN_RETURN_IF_ERROR(cursor_.Descend());
  absl::StatusOr<Expr> operand = Unary();
  cursor_.Ascend();
  KILN_RETURN_IF_ERROR(operand.status());
  return Finish(Node(ExprKind::kUnary, op.begin, std::string(op.text),
                     Pack(*std::move(operand))));
}

absl::StatusOr<Expr> ExprParser::Power() {
  KILN_ASSIGN_OR_RETURN(Expr base, Primary());
  if (!cursor_.AtOp("**")) return base;
  Position begin = cursor_.Take().begin;
  KILN_RETURN_IF_ERROR(cursor_.Descend());
  absl::StatusOr<Expr> exponent = Unary();
  cursor_.Ascend();
  KILN_RETURN_IF_ERROR(exponent.status());
  return Finish(Node(ExprKind::kBinary, begin, "**",
                     Pack(std::move(base), *std::move(exponent))));
}

absl::StatusOr<Expr> ExprParser::Primary() {
  KILN_ASSIGN_OR_RETURN(Expr expr, Atom());
  while (true) {
    if (cursor_.AtOp("(")) {
      KILN_ASSIGN_OR_RETURN(expr, Call(std::move(expr)));
    } else if (cursor_.AtOp("[")) {
      KILN_ASSIGN_OR_RETURN(expr, Subscript(std::move(expr)));
    } else if (cursor_.TakeOp(".")) {
      if (!cursor_.At(TokenKind::kName)) {
        return cursor_.Expected("a name after `.`");
      }
      Token name = cursor_.Take();
      Position begin = expr.begin;
      KILN_ASSIGN_OR_RETURN(
          expr, Finish(Node(ExprKind::kAttribute, begin, std::string(name.text),
                            Pack(std::move(expr)))));
    } else {
      return expr;
    }
  }
}

absl::StatusOr<Expr> ExprParser::Atom() {
  const Token& token = cursor_.peek();
  switch (token.kind) {
    case TokenKind::kName:
      return Name();
    case TokenKind::kString:
      return Strings();
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      Token number = cursor_.Take();
      bool whole = number.kind == TokenKind::kInt;
      return Node(whole ? ExprKind::kInt : ExprKind::kFloat, number.begin,
                  std::string(number.text));
    }
    case TokenKind::kOp:
      if (token.text == "(") return Parenthesis();
      if (token.text == "[") return Bracket();
      if (token.text == "{") return Brace();
      if (token.text == "...") {
        return Node(ExprKind::kEllipsis, cursor_.Take().begin);
      }
      return cursor_.Expected("an expression");
    case TokenKind::kNewline:
    case TokenKind::kIndent:
    case TokenKind::kDedent:
    case TokenKind::kEnd:
      return cursor_.Expected("an expression");
  }
  return cursor_.Expected("an expression");
}

absl::StatusOr<Expr> ExprParser::Name() {
  std::string_view word = cursor_.peek().text;
  if (word == "True") return Node(ExprKind::kTrue, cursor_.Take().begin);
  if (word == "False") return Node(ExprKind::kFalse, cursor_.Take().begin);
  if (word == "None") return Node(ExprKind::kNone, cursor_.Take().begin);
  if (IsKeyword(word)) return cursor_.Expected("an expression");
  Token name = cursor_.Take();
  return Node(ExprKind::kName, name.begin, std::string(name.text));
}

absl::StatusOr<Expr> ExprParser::Strings() {
  Expr expr = Node(ExprKind::kString, cursor_.peek().begin);
  while (cursor_.At(TokenKind::kString)) {
    Token token = cursor_.Take();
    std::string message;
    if (!DecodeString(token.text, expr.text, message)) {
      return cursor_.source().Error(token.begin, message);
    }
  }
  return expr;
}

absl::StatusOr<Expr> ExprParser::Parenthesis() {
  Position begin = cursor_.Take().begin;
  if (cursor_.TakeOp(")")) return Node(ExprKind::kTuple, begin);
  KILN_ASSIGN_OR_RETURN(Expr inner, List());
  if (cursor_.AtWord("for")) {
    return Comprehension("(", Pack(std::move(inner)), begin);
  }
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp(")", "to close the parenthesis"));
  if (inner.kind == ExprKind::kTuple) inner.begin = begin;
  return inner;
}

absl::StatusOr<Expr> ExprParser::Bracket() {
  Expr list = Node(ExprKind::kList, cursor_.Take().begin);
  while (!cursor_.AtOp("]")) {
    KILN_ASSIGN_OR_RETURN(Expr item, StarredOrSingle());
    if (list.items.empty() && cursor_.AtWord("for")) {
      return Comprehension("[", Pack(std::move(item)), list.begin);
    }
    list.items.push_back(std::move(item));
    if (!cursor_.TakeOp(",")) break;
  }
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp("]", "or `,` in this list"));
  return Finish(std::move(list));
}

absl::StatusOr<Expr> ExprParser::Brace() {
  Expr node = Node(ExprKind::kDict, cursor_.Take().begin);
  while (!cursor_.AtOp("}")) {
    std::vector<Expr> entry;
    KILN_ASSIGN_OR_RETURN(Expr key, Single());
    entry.push_back(std::move(key));
    if (node.items.empty() && !cursor_.AtOp(":")) node.kind = ExprKind::kSet;
    if (node.kind == ExprKind::kDict) {
      KILN_RETURN_IF_ERROR(cursor_.ExpectOp(":", "after a key of this dict"));
      KILN_ASSIGN_OR_RETURN(Expr value, Single());
      entry.push_back(std::move(value));
    }
    if (node.items.empty() && cursor_.AtWord("for")) {
      return Comprehension("{", std::move(entry), node.begin);
    }
    for (Expr& part : entry) node.items.push_back(std::move(part));
    if (!cursor_.TakeOp(",")) break;
  }
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp("}", "or `,` in this dict"));
  return Finish(std::move(node));
}

absl::StatusOr<Expr> ExprParser::Comprehension(std::string bracket,
                                               std::vector<Expr> elements,
                                               Position begin) {
  std::string_view close = bracket == "(" ? ")" : bracket == "[" ? "]" : "}";
  Expr node = Node(ExprKind::kComprehension, begin, std::move(bracket),
                   std::move(elements));
  while (cursor_.AtWord("for") || cursor_.AtWord("if")) {
    if (cursor_.TakeWord("for")) {
      KILN_ASSIGN_OR_RETURN(Expr target, ForTargets());
      node.items.push_back(std::move(target));
      KILN_RETURN_IF_ERROR(
          cursor_.ExpectWord("in", "after the names of this loop"));
    } else {
      cursor_.Take();
    }
    KILN_ASSIGN_OR_RETURN(Expr over, Boolean(/*is_or=*/true));
    node.items.push_back(std::move(over));
  }
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp(close, "to close the comprehension"));
  return Finish(std::move(node));
}

absl::StatusOr<Expr> ExprParser::Call(Expr callee) {
  Expr call = Node(ExprKind::kCall, callee.begin, "", Pack(std::move(callee)));
  cursor_.Take();
  bool named = false;
  while (!cursor_.AtOp(")")) {
    KILN_ASSIGN_OR_RETURN(Expr argument, Argument());
    if (call.items.size() == 1 && cursor_.AtWord("for")) {
      Position begin = argument.begin;
      KILN_ASSIGN_OR_RETURN(
          argument, Comprehension("(", Pack(std::move(argument)), begin));
      call.items.push_back(std::move(argument));
      return Finish(std::move(call));
    }
    bool keyword = argument.kind == ExprKind::kKeyword;
    if (named && !keyword && argument.kind != ExprKind::kStarred) {
      return cursor_.source().Error(
          argument.begin, "a positional argument cannot follow a named one");
    }
    named = named || keyword;
    call.items.push_back(std::move(argument));
    if (!cursor_.TakeOp(",")) break;
  }
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp(")", "or `,` among the arguments"));
  return Finish(std::move(call));
}

absl::StatusOr<Expr> ExprParser::Argument() {
  if (cursor_.AtOp("**")) {
    Position begin = cursor_.Take().begin;
    KILN_ASSIGN_OR_RETURN(Expr value, Single());
    return Finish(
        Node(ExprKind::kStarred, begin, "**", Pack(std::move(value))));
  }
  KILN_ASSIGN_OR_RETURN(Expr value, StarredOrSingle());
  if (!cursor_.AtOp("=")) return value;
  if (value.kind != ExprKind::kName) {
    return cursor_.Expected("`,` or `)`: only a name can be given a value");
  }
  cursor_.Take();
  std::string name = value.text;
  Position begin = value.begin;
  KILN_ASSIGN_OR_RETURN(value, Single());
  return Finish(
      Node(ExprKind::kKeyword, begin, std::move(name), Pack(std::move(value))));
}

absl::StatusOr<Expr> ExprParser::Subscript(Expr object) {
  Expr node =
      Node(ExprKind::kSubscript, object.begin, "", Pack(std::move(object)));
  cursor_.Take();
  while (!cursor_.AtOp("]")) {
    KILN_ASSIGN_OR_RETURN(Expr item, SubscriptItem());
    node.items.push_back(std::move(item));
    if (!cursor_.TakeOp(",")) break;
  }
  if (node.items.size() == 1) return cursor_.Expected("an index");
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp("]", "or `,` after this index"));
  return Finish(std::move(node));
}

absl::StatusOr<Expr> ExprParser::SubscriptItem() {
  Position begin = cursor_.peek().begin;
  auto part = [&]() -> absl::StatusOr<Expr> {
    bool omitted = cursor_.AtOp(":") || cursor_.AtOp("]") || cursor_.AtOp(",");
    if (omitted) return Node(ExprKind::kOmitted, cursor_.peek().begin);
    return StarredOrSingle();
  };
  KILN_ASSIGN_OR_RETURN(Expr first, part());
  if (!cursor_.TakeOp(":")) {
    if (first.kind == ExprKind::kOmitted) return cursor_.Expected("an index");
    return first;
  }
  KILN_ASSIGN_OR_RETURN(Expr stop, part());
  Expr step = Node(ExprKind::kOmitted, cursor_.peek().begin);
  if (cursor_.TakeOp(":")) {
    KILN_ASSIGN_OR_RETURN(step, part());
  }
  return Finish(Node(ExprKind::kSlice, begin, "",
                     Pack(std::move(first), std::move(stop), std::move(step))));
}

}  // namespace kiln::python
