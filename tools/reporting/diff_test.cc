#include "kiln/tools/reporting/diff.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/base/random.h"

namespace kiln::report {
namespace {

// "=a -b +c"
std::string Diff(std::string_view before, std::string_view after) {
  std::string text;
  for (const DiffLine& line : DiffLines(before, after)) {
    if (!text.empty()) text += ' ';
    text += line.change == Change::kSame      ? '='
            : line.change == Change::kRemoved ? '-'
                                              : '+';
    text += line.text;
  }
  return text;
}

TEST(DiffTest, WhatIsTheSameStays) {
  EXPECT_EQ(Diff("a\nb\n", "a\nb\n"), "=a =b");
  EXPECT_EQ(Diff("", ""), "");
}

TEST(DiffTest, LinesAreRemovedBeforeOthersAreAdded) {
  EXPECT_EQ(Diff("a\nb\nc", "a\nx\nc"), "=a -b +x =c");
}

TEST(DiffTest, KeepsTheLongestPartInCommon) {
  EXPECT_EQ(Diff("a\nb\nc\nd", "b\nx\nd\ny"), "-a =b -c +x =d +y");
}

TEST(DiffTest, OneEmptyTextIsAllRemovedOrAdded) {
  EXPECT_EQ(Diff("a\nb", ""), "-a -b");
  EXPECT_EQ(Diff("", "a\nb"), "+a +b");
}

TEST(DiffTest, RepeatedLinesAtBothEndsAreUsedOnce) {
  EXPECT_EQ(Diff("a\na", "a"), "=a -a");
  EXPECT_EQ(Diff("a", "a\na\na"), "=a +a +a");
}

// Either text can be read off the difference.
TEST(DiffTest, RandomTextsCanBeReadBackFromTheirDifference) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::string texts[2];
    for (std::string& text : texts) {
      const uint64_t lines = random.Below(12);
      for (uint64_t i = 0; i < lines; ++i) {
        text += static_cast<char>('a' + random.Below(3));
        text += '\n';
      }
    }
    std::string before, after;
    for (const DiffLine& line : DiffLines(texts[0], texts[1])) {
      if (line.change != Change::kAdded) before += line.text + "\n";
      if (line.change != Change::kRemoved) after += line.text + "\n";
    }
    EXPECT_EQ(before, texts[0]) << "seed " << seed;
    EXPECT_EQ(after, texts[1]) << "seed " << seed;
  }
}

TEST(DiffTest, VeryDifferentLongTextsTakeNoTable) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(DiffLines(before, after).size(), 10000u);
}

}  // namespace
}  // namespace kiln::report
