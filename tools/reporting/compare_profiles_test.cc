// Which calls of two profiles are the same, and what their times add up to.
#include "kiln/tools/reporting/compare_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/tools/reporting/profile_data.h"
#include "kiln/tools/reporting/profile_rows.h"

namespace kiln::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ProfileData Of(std::vector<ProfiledCall> calls, double run_s = 0) {
  Profile profile;
  profile.runs = 5;
  profile.run_s = run_s;
  profile.calls = std::move(calls);
  return Analyze("p.json", profile, Machine{}, 100);
}

TEST(CompareProfilesTest, CallsAreMatchedByCalleeAndVariable) {
  const ProfileComparison c = CompareProfiles(
      Of({{"f", "a", 4e-6}, {"f", "b", 2e-6}, {"g", "a", 10e-6}}, 20e-6),
      Of({{"g", "a", 5e-6}, {"f", "b", 1e-6}, {"f", "a", 1e-6}}, 10e-6));
  ASSERT_EQ(c.ops.size(), 2);
  EXPECT_EQ(c.ops[0].name, "g");
  EXPECT_DOUBLE_EQ(c.ops[0].Speedup(), 2);
  EXPECT_EQ(c.ops[1].calls, 2);
  EXPECT_DOUBLE_EQ(c.ops[1].Speedup(), 3);
  EXPECT_THAT(c.alone, IsEmpty());
  EXPECT_DOUBLE_EQ(c.all.Speedup(), 16 / 7.);
  EXPECT_DOUBLE_EQ(c.run.Speedup(), 2);
  EXPECT_THAT(c.warnings, IsEmpty());
}

TEST(CompareProfilesTest, TheSecondCallMeetsTheSecond) {
  const ProfileComparison c = CompareProfiles(
      Of({{"f", "a", 1e-6}, {"f", "a", 8e-6}}),
      Of({{"f", "a", 1e-6}, {"f", "a", 2e-6}, {"f", "a", 7e-6}}));
  ASSERT_EQ(c.ops.size(), 1);
  EXPECT_DOUBLE_EQ(c.ops[0].before_s, 9e-6);
  EXPECT_DOUBLE_EQ(c.ops[0].after_s, 3e-6);
  ASSERT_EQ(c.alone.size(), 1);
  EXPECT_TRUE(c.alone[0].is_new);
  EXPECT_DOUBLE_EQ(c.alone[0].call.seconds, 7e-6);
}

TEST(CompareProfilesTest, CallsOfOneAloneAreListed) {
  const ProfileComparison c =
      CompareProfiles(Of({{"f", "a", 1e-6}, {"relu<>", "b", 3e-6}}),
                      Of({{"f_relu", "b", 2e-6}, {"f", "a", 2e-6}}));
  ASSERT_EQ(c.alone.size(), 2);
  EXPECT_STREQ(c.alone[0].state(), "new");
  EXPECT_STREQ(c.alone[1].state(), "missing");
  EXPECT_DOUBLE_EQ(c.matched.Speedup(), 0.5);
  EXPECT_DOUBLE_EQ(c.all.Speedup(), 1);
  const std::string text = ComparisonText(c);
  EXPECT_THAT(text, HasSubstr("the 1 call that both have: 1.00 µs before, "
                              "2.00 µs after, 0.500 times as fast"));
  EXPECT_THAT(text, Not(HasSubstr("whole run")));
  EXPECT_THAT(text, HasSubstr("   2.00       new\n"));
  const std::string html = ComparisonHtml(c, "<q>.json");
  EXPECT_THAT(html, HasSubstr("Against &lt;q&gt;.json"));
  EXPECT_THAT(html, HasSubstr("relu&lt;&gt;"));
  EXPECT_THAT(html, HasSubstr("<summary>2 calls that one of the two has"));
}

TEST(CompareProfilesTest, NothingInCommonIsToldAndIsNoError) {
  const ProfileComparison c =
      CompareProfiles(Of({{"f", "a", 1e-6}}), Of({{"f", "b", 1e-6}}));
  EXPECT_THAT(c.ops, IsEmpty());
  EXPECT_THAT(c.warnings, ElementsAre(HasSubstr("no call has a partner")));
  EXPECT_THAT(ComparisonText(c), HasSubstr("warning: no call"));
}

TEST(CompareProfilesTest, TimesOfZeroHaveNoSpeedup) {
  const ProfileComparison c =
      CompareProfiles(Of({{"f", "a", 0}}), Of({{"f", "a", 1e-6}}));
  EXPECT_EQ(c.ops[0].Speedup(), 0);
  EXPECT_THAT(ComparisonText(c), HasSubstr("all calls: 0 ns before, 1.00 µs "
                                           "after\n"));
}

TEST(CompareProfilesTest, WarnsOfWhatDoesNotCompare) {
  ProfileData before = Of({{"f", "a", 1e-6}}), after = before;
  before.profile.cpu = "old";
  before.profile.threads = 2;
  before.profile.target = "llvm";
  after.profile.cpu = "new";
  after.profile.threads = 4;
  EXPECT_THAT(CompareProfiles(before, after).warnings,
              ElementsAre(HasSubstr("old before, new after"),
                          HasSubstr("threads: 2 before, 4 after")));
}

TEST(CompareProfilesTest, RowsTellTheSame) {
  const std::string rows =
      ComparisonRows(CompareProfiles(Of({{"f", "a", 4e-6}, {"h", "c", 1e-6}}),
                                     Of({{"f", "a", 2e-6}, {"g", "b", 1e-6}})));
  EXPECT_THAT(rows,
              HasSubstr("{\"row\":\"op_pair\",\"op\":\"f\",\"calls\":1,"));
  EXPECT_THAT(rows, HasSubstr("\"speedup\":2}\n"));
  EXPECT_THAT(rows, HasSubstr("\"op\":\"g\",\"variable\":\"b\",\"state\":"
                              "\"new\""));
  EXPECT_THAT(rows, HasSubstr("\"new_calls\":1,\"missing_calls\":1"));
}

}  // namespace
}  // namespace kiln::report
