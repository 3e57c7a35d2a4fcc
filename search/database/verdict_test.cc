#include "kiln/search/database/verdict.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kiln {
namespace {

TEST(VerdictTest, EveryNameParsesBackToItsVerdictAndIsUnique) {
  std::set<std::string> names;
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_EQ(ParseVerdict(VerdictName(verdict)), verdict);
    EXPECT_FALSE(VerdictMeaning(verdict).empty());
    names.insert(std::string(VerdictName(verdict)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kNumVerdicts));
}

TEST(VerdictTest, UnknownNamesAreNotVerdicts) {
  EXPECT_FALSE(ParseVerdict("").has_value());
  EXPECT_FALSE(ParseVerdict("OK").has_value());
  EXPECT_FALSE(ParseVerdict("segfault").has_value());
}

}  // namespace
}  // namespace kiln
