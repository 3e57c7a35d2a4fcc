// The parser keeps numbers as they are spelled and signs as operators, so that
// a number gets its value here, once its sign and the type that is asked for
// are known. The magnitude is read as 64 bits without sign, checked before each
// digit:
//
//   -9223372036854775808    magnitude 2^63, fits with its sign
//   9223372036854775808     does not fit in int64; T.uint64 takes it
//   0x_ff, 1_000, --5       255, 1000, 5
//   "\x41\u00e9\n"          A, e with an acute accent in UTF-8, a line end
//
// A raw or formatted string keeps its text, escapes and braces included;
// \N{...} is refused. A float beyond the range of a double is an error, not
// infinity.
#include "kiln/ir/text/python/literal.h"

#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::python {
namespace {

constexpr uint64_t kMaxMagnitude = std::numeric_limits<uint64_t>::max();

int DigitValue(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  return absl::ascii_tolower(c) - 'a' + 10;
}

// The literal of a number below any signs; `negative` tells whether these
// negate it. Null for anything else.
const Expr* StripSigns(const Expr& expr, bool& negative) {
  const Expr* at = &expr;
  negative = false;
  while (at->kind == ExprKind::kUnary && (at->text == "-" || at->text == "+")) {
    if (at->text == "-") negative = !negative;
    at = &at->items[0];
  }
  bool number = at->kind == ExprKind::kInt || at->kind == ExprKind::kFloat;
  return number ? at : nullptr;
}

absl::StatusOr<uint64_t> Magnitude(const Source& source, const Expr& literal) {
  std::string_view digits = literal.text;
  uint64_t base = 10;
  if (digits.size() > 1 && digits[0] == '0' && !std::isdigit(digits[1]) &&
      digits[1] != '_') {
    char letter = absl::ascii_tolower(digits[1]);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  uint64_t value = 0;
  for (char c : digits) {
    if (c == '_') continue;
    uint64_t digit = DigitValue(c);
    if (digit >= base) {
      return source.Error(literal.begin, absl::StrCat("`", literal.text,
                                                      "` has a digit outside "
                                                      "its base"));
    }
    if (value > (kMaxMagnitude - digit) / base) {
      return source.Error(literal.begin,
                          absl::StrCat("the integer `", literal.text,
                                       "` does not fit in 64 bits"));
    }
    value = value * base + digit;
  }
  return value;
}

void AppendUtf8(uint32_t code, std::string& out) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// Reads `count` hexadecimal digits at `at`.
bool HexCode(std::string_view body, size_t at, size_t count, uint32_t& code) {
  if (at + count > body.size()) return false;
  code = 0;
  for (char c : body.substr(at, count)) {
    if (!absl::ascii_isxdigit(c)) return false;
    code = code * 16 + DigitValue(c);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code <= 0x10FFFF && !is_surrogate;
}

// The escape after the backslash at body[at - 1]; returns how many characters
// it takes, 0 for an escape that is wrong.
size_t DecodeEscape(std::string_view body, size_t at, std::string& out) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"";
  char c = body[at];
  if (size_t k = kLetters.find(c); k != std::string_view::npos) {
    out.push_back(kValues[k]);
    return 1;
  }
  if (c == '\n') return 1;
  if (c == '\r' && body.substr(at, 2) == "\r\n") return 2;
  if (c >= '0' && c <= '7') {
    uint32_t code = 0;
    size_t n = 0;
    for (; n < 3 && at + n < body.size() && body[at + n] >= '0' &&
           body[at + n] <= '7';
         ++n) {
      code = code * 8 + (body[at + n] - '0');
    }
    AppendUtf8(code, out);
    return n;
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    uint32_t code = 0;
    if (!HexCode(body, at + 1, count, code)) return 0;
    AppendUtf8(code, out);
    return count + 1;
  }
  if (c == 'N') return 0;
  out.push_back('\\');  // as Python does, an unknown escape stays as it is
  out.push_back(c);
  return 1;
}

}  // namespace

bool DecodeString(std::string_view token, std::string& value,
                  std::string& message) {
  size_t prefix = token.find_first_of("\"'");
  std::string kind =
      absl::AsciiStrToLower(std::string(token.substr(0, prefix)));
  token.remove_prefix(prefix);
  bool triple =
      token.size() >= 6 && token[1] == token[0] && token[2] == token[0];
  size_t quotes = triple ? 3 : 1;
  std::string_view body = token.substr(quotes, token.size() - 2 * quotes);
  if (kind.find('r') != std::string::npos ||
      kind.find('f') != std::string::npos) {
    value.append(body);
    return true;
  }
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value.push_back(body[i]);
      continue;
    }
    size_t taken = DecodeEscape(body, i + 1, value);
    if (taken == 0) {
      message = absl::StrCat("the escape `\\", std::string(1, body[i + 1]),
                             "` in this string is wrong");
      return false;
    }
    i += taken;
  }
  return true;
}

bool IsIntegerLiteral(const Expr& expr) {
  bool negative = false;
  const Expr* literal = StripSigns(expr, negative);
  return literal != nullptr && literal->kind == ExprKind::kInt;
}

absl::StatusOr<int64_t> IntegerValue(const Source& source, const Expr& expr) {
  bool negative = false;
  const Expr* literal = StripSigns(expr, negative);
  if (literal == nullptr || literal->kind != ExprKind::kInt) {
    return source.Error(expr.begin,
                        absl::StrCat("an integer is needed here, not ",
                                     std::string(DescribeKind(expr.kind))));
  }
  KILN_ASSIGN_OR_RETURN(uint64_t magnitude, Magnitude(source, *literal));
  uint64_t limit = uint64_t{1} << 63;
  if (magnitude > limit || (magnitude == limit && !negative)) {
    return source.Error(literal->begin,
                        absl::StrCat("the integer `", literal->text,
                                     "` does not fit in int64"));
  }
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

absl::StatusOr<uint64_t> UnsignedValue(const Source& source, const Expr& expr) {
  if (expr.kind != ExprKind::kInt) {
    return source.Error(expr.begin,
                        absl::StrCat("an unsigned integer is needed here, not ",
                                     std::string(DescribeKind(expr.kind))));
  }
  return Magnitude(source, expr);
}

absl::StatusOr<double> FloatValue(const Source& source, const Expr& expr) {
  bool negative = false;
  const Expr* literal = StripSigns(expr, negative);
  if (literal == nullptr) {
    return source.Error(expr.begin,
                        absl::StrCat("a number is needed here, not ",
                                     std::string(DescribeKind(expr.kind))));
  }
  double value = 0;
  if (literal->kind == ExprKind::kInt &&
      literal->text.find_first_of("xXoObB") != std::string::npos) {
    KILN_ASSIGN_OR_RETURN(uint64_t magnitude, Magnitude(source, *literal));
    value = static_cast<double>(magnitude);
  } else {
    std::string digits;
    for (char c : literal->text) {
      if (c != '_') digits.push_back(c);
    }
    if (!absl::SimpleAtod(digits, &value)) {
      return source.Error(literal->begin,
                          absl::StrCat("`", literal->text, "` is no number"));
    }
    if (std::isinf(value)) {
      return source.Error(
          literal->begin,
          absl::StrCat("`", literal->text,
                       "` is too large for a float64; write "
                       "T.float64(\"inf\") where infinity is meant"));
    }
  }
  return negative ? -value : value;
}

}  // namespace kiln::python
