#include "kiln/ir/text/python/scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"

namespace kiln::python {
namespace {

using ::testing::HasSubstr;

// The tokens, spelled: > and < for indentation, ; for a line end.
std::string Spell(const std::string& text) {
  Source source("t.py", text);
  auto tokens = Scan(source);
  if (!tokens.ok()) return std::string(tokens.status().message());
  std::string out;
  for (const Token& token : *tokens) {
    switch (token.kind) {
      case TokenKind::kNewline:
        out += "; ";
        break;
      case TokenKind::kIndent:
        out += "> ";
        break;
      case TokenKind::kDedent:
        out += "< ";
        break;
      case TokenKind::kEnd:
        out += ".";
        break;
      case TokenKind::kName:
      case TokenKind::kInt:
      case TokenKind::kFloat:
      case TokenKind::kString:
      case TokenKind::kOp:
        absl::StrAppend(&out, std::string(token.text), " ");
    }
  }
  return out;
}

TEST(ScannerTest, BlocksBecomeIndentAndDedent) {
  EXPECT_EQ(Spell("a\n  b\n\n  # c\n  d\n    e\nf"),
            "a ; > b ; d ; > e ; < < f ; .");
}

TEST(ScannerTest, AFragmentMayStartAtAnyIndentation) {
  EXPECT_EQ(Spell("    a\n      b\n    c"), "a ; > b ; < c ; .");
  EXPECT_EQ(Spell(" a\nb"), "a ; b ; .");
}

TEST(ScannerTest, LinesJoinInBracketsAndAfterABackslash) {
  EXPECT_EQ(Spell("f(a,\n  # note\nb)\nc = \\\n d"), "f ( a , b ) ; c = d ; .");
}

TEST(ScannerTest, NumbersKeepTheirSpelling) {
  EXPECT_EQ(Spell("1_000 0xFF 1e-5 1. .5 3.40282346638528860e+38"),
            "1_000 0xFF 1e-5 1. .5 3.40282346638528860e+38 ; .");
}

TEST(ScannerTest, StringsOfEveryQuoteAreOneToken) {
  EXPECT_EQ(Spell("'''x\n'y'''"), "'''x\n'y''' ; .");
  EXPECT_EQ(Spell("'a\\'b' \"c#d\""), "'a\\'b' \"c#d\" ; .");
}

TEST(ScannerTest, OperatorsAreTheLongestPossible) {
  EXPECT_EQ(Spell("a//=b**c->d!=e"), "a //= b ** c -> d != e ; .");
}

TEST(ScannerTest, WindowsLineEndsAndAByteOrderMarkAreSkipped) {
  EXPECT_EQ(Spell("\xEF\xBB\xBF"
                  "a:\r\n  b # c\r\n"),
            "a : ; > b ; < .");
}

TEST(ScannerTest, EmptyTextsHaveNoLines) {
  EXPECT_EQ(Spell(""), ".");
  EXPECT_EQ(Spell("\n   \n# only this"), ".");
}

struct BadText {
  std::string text, place, message;
};

TEST(ScannerTest, RefusesWithThePlace) {
  const std::vector<BadText> cases = {
      {"a = 'b", "t.py:1:5:", "this string has no end"},
      {"'''a\nb", "t.py:1:1:", "close it with '''"},
      {"f(a", "t.py:1:2:", "never closed"},
      {"f(a]", "t.py:1:4:", "does not close the `(` of line 1"},
      {"a)", "t.py:1:2:", "closes nothing"},
      {"if a:\n    b\n  c", "t.py:3:3:", "matches no outer level"},
      {"a ? b", "t.py:1:3:", "no meaning"},
      {"a = \xEF\xBC\x8C", "t.py:1:5:", "no meaning"},
      {"a \\ b", "t.py:1:3:", "backslash"},
      {"12ab", "t.py:1:3:", "cannot go on"},
      {"0x", "t.py:1:1:", "no digits"},
      {std::string("a\0b", 3), "t.py:1:2:", "no meaning"},
  };
  for (const BadText& bad : cases) {
    Source source("t.py", bad.text);
    EXPECT_THAT(Scan(source),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::AllOf(HasSubstr(bad.place),
                                          HasSubstr(bad.message))))
        << bad.text;
  }
}

TEST(ScannerTest, AVeryLongLineTakesLinearTime) {
  std::string text = "x = [";
  for (int i = 0; i < 200000; ++i) text += "1, ";
  Source source("t.py", text + "]");
  KILN_EXPECT_OK(Scan(source));
}

}  // namespace
}  // namespace kiln::python
