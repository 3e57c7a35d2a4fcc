// The pieces that the scanner cuts a text into.
#ifndef KILN_IR_TEXT_PYTHON_TOKEN_H_
#define KILN_IR_TEXT_PYTHON_TOKEN_H_

#include <string_view>

#include "kiln/ir/text/python/source.h"

namespace kiln::python {

enum class TokenKind {
  kName,     // an identifier or a keyword
  kInt,      // as it is spelled: 12, 0x_ff
  kFloat,    // as it is spelled: 1e-5, 1., .5
  kString,   // as it is spelled, with prefix and quotes
  kOp,       // an operator, bracket or other punctuation
  kNewline,  // the end of a logical line
  kIndent,   // the next line is deeper
  kDedent,   // the next line is shallower, by one level
  kEnd,      // the end of the text
};

// `text` points into the source.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  Position begin;
  Position end;

  bool Is(TokenKind wanted, std::string_view spelling) const {
    return kind == wanted && text == spelling;
  }
};

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_TOKEN_H_
