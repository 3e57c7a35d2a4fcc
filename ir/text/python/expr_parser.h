// The expression half of the parser: precedence climbing, one function for
// each level.
#ifndef KILN_IR_TEXT_PYTHON_EXPR_PARSER_H_
#define KILN_IR_TEXT_PYTHON_EXPR_PARSER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/token_cursor.h"

namespace kiln::python {

class ExprParser {
 public:
  explicit ExprParser(TokenCursor& cursor) : cursor_(cursor) {}

  // One expression without a bare comma.
  absl::StatusOr<Expr> Single();

  // One expression, or a tuple of several; a starred one may be among them.
  absl::StatusOr<Expr> List();

  // The targets between `for` and `in`.
  absl::StatusOr<Expr> ForTargets();

 private:
  absl::StatusOr<Expr> Conditional();
  absl::StatusOr<Expr> Lambda();
  absl::StatusOr<Expr> Boolean(bool is_or);
  absl::StatusOr<Expr> Not();
  absl::StatusOr<Expr> Comparison();
  absl::StatusOr<Expr> Binary(int level);
  absl::StatusOr<Expr> Unary();
  absl::StatusOr<Expr> Power();
  absl::StatusOr<Expr> Primary();
  absl::StatusOr<Expr> Atom();
  absl::StatusOr<Expr> Name();
  absl::StatusOr<Expr> Strings();
  absl::StatusOr<Expr> Parenthesis();
  absl::StatusOr<Expr> Bracket();
  absl::StatusOr<Expr> Brace();
  absl::StatusOr<Expr> Call(Expr callee);
  absl::StatusOr<Expr> Argument();
  absl::StatusOr<Expr> Subscript(Expr object);
  absl::StatusOr<Expr> SubscriptItem();
  absl::StatusOr<Expr> StarredOrSingle();
  absl::StatusOr<Expr> Comprehension(std::string bracket,
                                     std::vector<Expr> elements,
                                     Position begin);
  bool TakeComparison(std::string& op);
  absl::StatusOr<Expr> Finish(Expr expr);

  TokenCursor& cursor_;
};

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_EXPR_PARSER_H_
