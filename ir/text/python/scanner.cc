// Layout becomes tokens, and the parser needs to know nothing of lines. A stack
// holds the indentation of the open blocks; the first token of a line is
// compared with its top:
//
//   for i in x:       for i in x : Newline
//       a = f(          Indent a = f ( b ) Newline
//         b)
//   c                 Dedent c Newline End
//
// Lines in open brackets do not end, and their indentation counts for nothing.
// Operators are tried longest first, so that **= is one. The text is checked to
// be UTF-8 first; names are ASCII. Positions are found by walking on from the
// last one, which keeps a text of one long line linear.
#include "kiln/ir/text/python/scanner.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::python {
namespace {

// Longest first, so that the first match is the right one.
constexpr std::string_view kOperators[] = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==",
    "!=",  "->",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "@=", ":=",
    "+",   "-",   "*",   "/",   "%",   "@",  "&",  "|",  "^",  "~",  "<",  ">",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "="};

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNameChar(char c) { return absl::ascii_isalnum(c) || c == '_'; }

char ClosingOf(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : '}';
}

class Scanner {
 public:
  Scanner(const Source& source, int tab_width)
      : source_(source), text_(source.text()), tab_width_(tab_width) {}

  absl::StatusOr<std::vector<Token>> Run();

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool AtNewline() const {
    return Peek() == '\n' || (Peek() == '\r' && Peek(1) == '\n');
  }
  absl::Status ErrorAt(size_t offset, std::string_view message) const {
    return source_.Error(source_.PositionAt(offset), message);
  }
  Position Locate(size_t offset);
  void Emit(TokenKind kind, size_t begin, size_t end);

  absl::Status StartLine();
  absl::Status SetIndentation(int width);
  void SkipBlanksAndComment();
  absl::Status ScanToken();
  absl::Status ScanNumber();
  void ScanDigits(bool hexadecimal);
  absl::Status ScanString(size_t prefix);
  absl::Status ScanOperator();
  absl::Status Bracket(char c);
  absl::Status EndOfText();
  size_t StringPrefix() const;
  void TakeNewline();

  const Source& source_;
  std::string_view text_;
  const int tab_width_;
  size_t at_ = 0;
  size_t located_at_ = 0;
  Position located_ = {1, 1};
  bool line_open_ = false;  // a token stands on the current logical line
  struct Open {
    char bracket;
    size_t offset;
  };
  std::vector<Open> open_;
  std::vector<int> levels_;
  std::vector<Token> tokens_;
};

// How many bytes the code point at `at` takes; 0 where it is no UTF-8 (cut off,
// too long a form, a surrogate, or beyond U+10FFFF).
size_t CodePointLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned lead = byte(at), next = byte(at + 1);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xC2   ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const bool wrong =
      (lead == 0xE0 && next < 0xA0) || (lead == 0xED && next >= 0xA0) ||
      (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90);
  return wrong ? 0 : length;
}

// The first byte that is no UTF-8; the size of the text where there is none.
size_t FirstBadByte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CodePointLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

// Like Source::PositionAt, but walks on from the last place that was asked
// for, so that a text of one long line takes linear time.
Position Scanner::Locate(size_t offset) {
  for (; located_at_ < offset; ++located_at_) {
    unsigned char c = text_[located_at_];
    if (c == '\n') {
      ++located_.line;
      located_.column = 1;
    } else if (located_at_ + 1 >= text_.size() ||
               (static_cast<unsigned char>(text_[located_at_ + 1]) & 0xC0) !=
                   0x80) {
      ++located_.column;
    }
  }
  return located_;
}

void Scanner::Emit(TokenKind kind, size_t begin, size_t end) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(begin, end - begin);
  token.begin = Locate(begin);
  token.end = Locate(end);
  tokens_.push_back(token);
}

absl::StatusOr<std::vector<Token>> Scanner::Run() {
  if (const size_t bad = FirstBadByte(text_); bad < text_.size()) {
    return source_.Error(source_.PositionAt(bad),
                         "this byte is no UTF-8; save the file as UTF-8");
  }
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  while (true) {
    if (!line_open_ && open_.empty()) KILN_RETURN_IF_ERROR(StartLine());
    SkipBlanksAndComment();
    if (AtEnd()) break;
    if (AtNewline()) {
      TakeNewline();
    } else {
      KILN_RETURN_IF_ERROR(ScanToken());
      line_open_ = true;
    }
  }
  KILN_RETURN_IF_ERROR(EndOfText());
  return std::move(tokens_);
}

void Scanner::TakeNewline() {
  if (line_open_ && open_.empty()) {
    Emit(TokenKind::kNewline, at_, at_);
    line_open_ = false;
  }
  at_ += Peek() == '\r' ? 2 : 1;
}

// Measures the indentation of a line that holds something.
absl::Status Scanner::StartLine() {
  int width = 0;
  for (; Peek() == ' ' || Peek() == '\t' || Peek() == '\f'; ++at_) {
    if (Peek() == ' ') ++width;
    if (Peek() == '\t') width = (width / tab_width_ + 1) * tab_width_;
    if (Peek() == '\f') width = 0;
  }
  if (AtEnd() || AtNewline() || Peek() == '#') return absl::OkStatus();
  return SetIndentation(width);
}

absl::Status Scanner::SetIndentation(int width) {
  if (levels_.empty()) levels_.push_back(width);
  if (width > levels_.back()) {
    levels_.push_back(width);
    Emit(TokenKind::kIndent, at_, at_);
    return absl::OkStatus();
  }
  while (levels_.size() > 1 && width < levels_.back()) {
    if (width > levels_[levels_.size() - 2]) {
      return ErrorAt(at_,
                     "this indentation matches no outer level; align the line "
                     "with the block that it belongs to");
    }
    levels_.pop_back();
    Emit(TokenKind::kDedent, at_, at_);
  }
  if (width < levels_.back()) levels_.back() = width;
  return absl::OkStatus();
}

void Scanner::SkipBlanksAndComment() {
  while (!AtEnd()) {
    char c = Peek();
    if (c == ' ' || c == '\t' || c == '\f') {
      ++at_;
    } else if (c == '\\' && Peek(1) == '\n') {
      at_ += 2;
    } else if (c == '\\' && Peek(1) == '\r' && Peek(2) == '\n') {
      at_ += 3;
    } else {
      break;
    }
  }
  if (Peek() != '#') return;
  while (!AtEnd() && Peek() != '\n') ++at_;
  if (at_ > 0 && !AtEnd() && text_[at_ - 1] == '\r') --at_;
}

absl::Status Scanner::ScanToken() {
  size_t begin = at_;
  if (size_t prefix = StringPrefix(); prefix != std::string_view::npos) {
    return ScanString(prefix);
  }
  if (IsNameStart(Peek())) {
    while (IsNameChar(Peek())) ++at_;
    Emit(TokenKind::kName, begin, at_);
    return absl::OkStatus();
  }
  if (absl::ascii_isdigit(Peek()) ||
      (Peek() == '.' && absl::ascii_isdigit(Peek(1)))) {
    return ScanNumber();
  }
  return ScanOperator();
}

void Scanner::ScanDigits(bool hexadecimal) {
  auto is_digit = [&](char c) {
    return hexadecimal ? absl::ascii_isxdigit(c) : absl::ascii_isdigit(c);
  };
  while (is_digit(Peek()) || (Peek() == '_' && is_digit(Peek(1)))) ++at_;
}

absl::Status Scanner::ScanNumber() {
  size_t begin = at_;
  TokenKind kind = TokenKind::kInt;
  char base = absl::ascii_tolower(Peek(1));
  if (Peek() == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    at_ += 2;
    size_t digits = at_;
    if (Peek() == '_') ++at_;
    ScanDigits(base == 'x');
    if (at_ == digits) return ErrorAt(begin, "this number has no digits");
  } else {
    ScanDigits(false);
    if (Peek() == '.') {
      kind = TokenKind::kFloat;
      ++at_;
      ScanDigits(false);
    }
    size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if (absl::ascii_tolower(Peek()) == 'e' &&
        absl::ascii_isdigit(Peek(1 + sign))) {
      kind = TokenKind::kFloat;
      at_ += 1 + sign;
      ScanDigits(false);
    }
  }
  if (IsNameChar(Peek())) {
    return ErrorAt(at_, "a number cannot go on with this character");
  }
  Emit(kind, begin, at_);
  return absl::OkStatus();
}

// The length of the prefix if a string starts here, else npos.
size_t Scanner::StringPrefix() const {
  size_t length = 0;
  constexpr std::string_view kPrefixes = "rbufRBUF";
  while (length < 2 && kPrefixes.find(Peek(length)) != std::string_view::npos) {
    ++length;
  }
  char quote = Peek(length);
  return quote == '"' || quote == '\'' ? length : std::string_view::npos;
}

absl::Status Scanner::ScanString(size_t prefix) {
  size_t begin = at_;
  at_ += prefix;
  char quote = Peek();
  bool triple = Peek(1) == quote && Peek(2) == quote;
  at_ += triple ? 3 : 1;
  while (!AtEnd()) {
    if (!triple && AtNewline()) break;
    if (Peek() == '\\') {
      at_ += at_ + 1 < text_.size() ? 2 : 1;
    } else if (Peek() != quote) {
      ++at_;
    } else if (!triple || (Peek(1) == quote && Peek(2) == quote)) {
      at_ += triple ? 3 : 1;
      Emit(TokenKind::kString, begin, at_);
      return absl::OkStatus();
    } else {
      ++at_;
    }
  }
  return ErrorAt(begin, absl::StrCat("this string has no end; close it with ",
                                     std::string(triple ? 3 : 1, quote)));
}

absl::Status Scanner::ScanOperator() {
  for (std::string_view op : kOperators) {
    if (text_.substr(at_, op.size()) != op) continue;
    if (op.size() == 1) KILN_RETURN_IF_ERROR(Bracket(op[0]));
    Emit(TokenKind::kOp, at_, at_ + op.size());
    at_ += op.size();
    return absl::OkStatus();
  }
  if (Peek() == '\\') {
    return ErrorAt(at_, "only the end of the line may follow a backslash");
  }
  return ErrorAt(at_, "this character has no meaning here");
}

absl::Status Scanner::Bracket(char c) {
  if (c == '(' || c == '[' || c == '{') open_.push_back({c, at_});
  if (c != ')' && c != ']' && c != '}') return absl::OkStatus();
  if (open_.empty()) {
    return ErrorAt(at_, absl::StrCat("`", std::string(1, c),
                                     "` closes nothing that is open"));
  }
  if (ClosingOf(open_.back().bracket) != c) {
    return ErrorAt(
        at_, absl::StrCat("`", std::string(1, c), "` does not close the `",
                          std::string(1, open_.back().bracket), "` of line ",
                          source_.PositionAt(open_.back().offset).line));
  }
  open_.pop_back();
  return absl::OkStatus();
}

absl::Status Scanner::EndOfText() {
  if (!open_.empty()) {
    return ErrorAt(open_.back().offset,
                   absl::StrCat("this `", std::string(1, open_.back().bracket),
                                "` is never closed"));
  }
  if (line_open_) Emit(TokenKind::kNewline, at_, at_);
  for (; levels_.size() > 1; levels_.pop_back()) {
    Emit(TokenKind::kDedent, at_, at_);
  }
  Emit(TokenKind::kEnd, at_, at_);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Token>> Scan(const Source& source, int tab_width) {
  return Scanner(source, tab_width).Run();
}

}  // namespace kiln::python
