// Walks over the tokens of a text; the common part of the two parsers.
#ifndef KILN_IR_TEXT_PYTHON_TOKEN_CURSOR_H_
#define KILN_IR_TEXT_PYTHON_TOKEN_CURSOR_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/python/token.h"

namespace kiln::python {

class TokenCursor {
 public:
  TokenCursor(const Source& source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  const Source& source() const { return source_; }
  const Token& peek() const { return tokens_[at_]; }
  const Token& last() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }

  // The current token; moves on unless it is the end.
  Token Take() {
    Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool At(TokenKind kind) const { return peek().kind == kind; }
  bool AtOp(std::string_view op) const { return peek().Is(TokenKind::kOp, op); }
  bool AtWord(std::string_view word) const {
    return peek().Is(TokenKind::kName, word);
  }
  bool TakeOp(std::string_view op) { return TakeIf(AtOp(op)); }
  bool TakeWord(std::string_view word) { return TakeIf(AtWord(word)); }

  absl::Status ExpectOp(std::string_view op, std::string_view where);
  absl::Status ExpectWord(std::string_view word, std::string_view where);

  // "expected WHAT, found TOKEN" at the current token.
  absl::Status Expected(std::string_view what) const;

  // Counts nesting; an error beyond kMaxNesting. Leave with Ascend.
  absl::Status Descend();
  void Ascend() { --nesting_; }

 private:
  bool TakeIf(bool condition) {
    if (condition) Take();
    return condition;
  }

  const Source& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_TOKEN_CURSOR_H_
