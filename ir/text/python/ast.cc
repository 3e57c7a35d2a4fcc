#include "kiln/ir/text/python/ast.h"

#include <cstddef>
#include <iterator>

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
  // In the order of the enumeration.
  static constexpr std::string_view kWords[] = {"a name",
                                                "an integer",
                                                "a float",
                                                "a string",
                                                "True",
                                                "False",
                                                "None",
                                                "`...`",
                                                "an attribute",
                                                "a call",
                                                "a keyword argument",
                                                "a starred expression",
                                                "a subscript",
                                                "a slice",
                                                "nothing",
                                                "a tuple",
                                                "a list",
                                                "a set",
                                                "a dict",
                                                "a lambda",
                                                "a unary operation",
                                                "a binary operation",
                                                "a comparison",
                                                "an and/or expression",
                                                "a conditional expression",
                                                "a comprehension"};
  static_assert(std::size(kWords) ==
                static_cast<size_t>(ExprKind::kComprehension) + 1);
  return kWords[static_cast<size_t>(kind)];
}

}  // namespace kiln::python
