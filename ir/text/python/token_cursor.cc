#include "kiln/ir/text/python/token_cursor.h"

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/python/parser.h"

namespace kiln::python {
namespace {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "a deeper indentation";
    case TokenKind::kDedent:
      return "the end of the block";
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kName:
    case TokenKind::kInt:
    case TokenKind::kFloat:
    case TokenKind::kOp:
      return absl::StrCat("`", std::string(token.text), "`");
    case TokenKind::kString:
      return "a string";
  }
  return "something else";
}

}  // namespace

absl::Status TokenCursor::Expected(std::string_view what) const {
  return source_.Error(peek().begin,
                       absl::StrCat("expected ", std::string(what), ", found ",
                                    Describe(peek())));
}

absl::Status TokenCursor::ExpectOp(std::string_view op,
                                   std::string_view where) {
  if (TakeOp(op)) return absl::OkStatus();
  return Expected(absl::StrCat("`", std::string(op), "` ", std::string(where)));
}

absl::Status TokenCursor::ExpectWord(std::string_view word,
                                     std::string_view where) {
  if (TakeWord(word)) return absl::OkStatus();
  return Expected(
      absl::StrCat("`", std::string(word), "` ", std::string(where)));
}

absl::Status TokenCursor::Descend() {
  if (++nesting_ <= kMaxNesting) return absl::OkStatus();
  return source_.Error(peek().begin,
                       absl::StrCat("this is nested more than ", kMaxNesting,
                                    " levels deep; name a part of it first"));
}

}  // namespace kiln::python
