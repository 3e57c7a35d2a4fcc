// Parses the Python subset that programs and schedules are written in.
//
// What is read: expressions without await, yield and assignment expressions;
// import, class, def, assignment in all forms, return, pass, for, while, if,
// with, assert, try, and the small statements that ordinary scripts hold
// around a program. What is read here need not mean anything to a later
// reader: it refuses what it does not know.
#ifndef KILN_IR_TEXT_PYTHON_PARSER_H_
#define KILN_IR_TEXT_PYTHON_PARSER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"

namespace kiln::python {

// How deep brackets, operators and blocks may nest in one another.
inline constexpr int kMaxNesting = 200;
// How deep a tree may get, chains like a + b + c + ... included.
inline constexpr int kMaxTreeDepth = 2000;

// All statements of the text. Errors are InvalidArgument and point into it.
absl::StatusOr<std::vector<Stmt>> ParseFile(const Source& source);

// The text as one expression.
absl::StatusOr<Expr> ParseExpression(const Source& source);

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_PARSER_H_
