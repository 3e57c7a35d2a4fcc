#include "kiln/ir/text/python/ast.h"

namespace kiln::python {

std::string DottedName(const Expr& expr) {
  const Expr* at = &expr;
  std::string name;
  for (; at->kind == ExprKind::kAttribute; at = &at->items[0]) {
    name = "." + at->text + name;
  }
  return at->kind == ExprKind::kName ? at->text + name : "";
}

std::string_view DescribeKind(ExprKind kind) {
  switch (kind) {
    case ExprKind::kName:
      return "a name";
    case ExprKind::kInt:
      return "an integer";
    case ExprKind::kFloat:
      return "a float";
    case ExprKind::kString:
      return "a string";
    case ExprKind::kTrue:
      return "True";
    case ExprKind::kFalse:
      return "False";
    case ExprKind::kNone:
      return "None";
    case ExprKind::kEllipsis:
      return "`...`";
    case ExprKind::kAttribute:
      return "an attribute";
    case ExprKind::kCall:
      return "a call";
    case ExprKind::kKeyword:
      return "a keyword argument";
    case ExprKind::kStarred:
      return "a starred expression";
    case ExprKind::kSubscript:
      return "a subscript";
    case ExprKind::kSlice:
      return "a slice";
    case ExprKind::kOmitted:
      return "nothing";
    case ExprKind::kTuple:
      return "a tuple";
    case ExprKind::kList:
      return "a list";
    case ExprKind::kSet:
      return "a set";
    case ExprKind::kDict:
      return "a dict";
    case ExprKind::kLambda:
      return "a lambda";
    case ExprKind::kUnary:
      return "a unary operation";
    case ExprKind::kBinary:
      return "a binary operation";
    case ExprKind::kCompare:
      return "a comparison";
    case ExprKind::kBoolean:
      return "an and/or expression";
    case ExprKind::kConditional:
      return "a conditional expression";
    case ExprKind::kComprehension:
      return "a comprehension";
  }
  return "an expression";
}

}  // namespace kiln::python
