#include "kiln/ir/text/python/source.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln::python {
namespace {

std::string Render(const std::string& text, Position position) {
  return std::string(Source("m.py", text).Error(position, "wrong").message());
}

TEST(SourceTest, ErrorShowsTheLineAndACaretBelowTheColumn) {
  EXPECT_EQ(Render("a\n  bcd\ne", {2, 4}), "m.py:2:4: wrong\n  bcd\n   ^");
}

TEST(SourceTest, TabsAreKeptBeforeTheCaretSoThatItAligns) {
  EXPECT_EQ(Render("\tx y", {1, 4}), "m.py:1:4: wrong\n\tx y\n\t  ^");
}

TEST(SourceTest, ColumnsCountCodePoints) {
  Source source("m.py", "x = '\xE4\xB8\xAD' y");
  Position y = source.PositionAt(source.text().find('y'));
  EXPECT_EQ(y.column, 9);
  EXPECT_EQ(Render(source.text(), y),
            "m.py:1:9: wrong\nx = '\xE4\xB8\xAD' y\n        ^");
}

TEST(SourceTest, LongLinesAreShownInPart) {
  std::string text = std::string(500, 'a') + "!" + std::string(500, 'b');
  std::string message = Render(text, {1, 501});
  EXPECT_LT(message.size(), 260u);
  size_t line = message.find('\n') + 1;
  size_t next = message.find('\n', line) + 1;
  EXPECT_EQ(message.find('!') - line, message.find('^') - next);
}

TEST(SourceTest, PositionsBeyondTheTextDoNotCrash) {
  EXPECT_EQ(Render("ab", {7, 9}), "m.py:7:9: wrong\n\n^");
  EXPECT_EQ(Render("ab", {1, 90}), "m.py:1:90: wrong\nab\n  ^");
  EXPECT_EQ(Render("", {}), "m.py: wrong");
}

TEST(SourceTest, LinesAreCutWithAndWithoutCarriageReturns) {
  Source source("m.py", "a\r\nb\nc");
  EXPECT_EQ(source.Line(1), "a");
  EXPECT_EQ(source.Line(3), "c");
  EXPECT_EQ(source.Line(4), "");
  EXPECT_EQ(source.Lines(2, 9), "b\nc");
}

}  // namespace
}  // namespace kiln::python
