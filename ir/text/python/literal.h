// Values of literals.
#ifndef KILN_IR_TEXT_PYTHON_LITERAL_H_
#define KILN_IR_TEXT_PYTHON_LITERAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"

namespace kiln::python {

// The value of a string token: prefix and quotes gone, escapes resolved. A
// raw or formatted string keeps its content as it is. `message` says what is
// wrong where the result is false.
bool DecodeString(std::string_view token, std::string& value,
                  std::string& message);

// The value of an integer literal, with any number of signs before it.
// OutOfRange does not happen silently: a literal beyond 64 bits is an error
// that shows it.
absl::StatusOr<int64_t> IntegerValue(const Source& source, const Expr& expr);

// The same for an unsigned number; a sign before it is an error.
absl::StatusOr<uint64_t> UnsignedValue(const Source& source, const Expr& expr);

// The value of a float or integer literal, with any number of signs before
// it, rounded to the nearest double. One beyond the range is an error.
absl::StatusOr<double> FloatValue(const Source& source, const Expr& expr);

// True for an integer literal with any number of signs before it.
bool IsIntegerLiteral(const Expr& expr);

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_LITERAL_H_
