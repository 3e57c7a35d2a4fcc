// The page as a whole: what it says, that it needs nothing else, and that names
// are text wherever they stand.
#include "kiln/tools/reporting/profile_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/tools/reporting/compare_profiles.h"
#include "kiln/tools/reporting/profile_data.h"

namespace kiln::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Profile SomeCalls(int ops) {
  Profile profile;
  profile.function = "main";
  profile.threads = 1;
  profile.runs = 9;
  for (int i = 0; i < ops; ++i) {
    profile.calls.push_back(
        {absl::StrCat("op", i), "y", (ops - i) * 1e-6, 100, 20, 5000.0});
    profile.run_s += (ops - i) * 1.25e-6;
  }
  return profile;
}

ProfileData DataOf(Profile profile) {
  return Analyze("p.json", std::move(profile), Machine{}, 100);
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ProfilePageTest, TellsTheTotalAndTheOps) {
  const std::string page = RenderProfilePage(DataOf(SomeCalls(2)), {});
  EXPECT_THAT(page, HasSubstr("<title>Model profile</title>"));
  EXPECT_THAT(page, HasSubstr("main takes 3.75 µs, the median of 9 runs on 1 "
                              "thread. 2 calls of 2 ops take 3.00 µs (80.0 % "
                              "of the run). Together they are at 3.3 % of the "
                              "roofline."));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">66.7 %</td><td class="
                              "\"number\">2.50</td>"));
  EXPECT_THAT(page, HasSubstr("All 2 calls in order"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  for (const char* outside : {"http://", "https://", "<script", "src="}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(ProfilePageTest, NamesAreText) {
  Profile profile = SomeCalls(1);
  profile.function = profile.target = "<f>";
  profile.calls[0].callee = "<b onload=\"x\">&";
  profile.calls[0].variable = "<i>";
  const ProfileData data = DataOf(profile);
  ProfilePageOptions options;
  options.title = "<t>";
  options.against = CompareProfiles(data, data);
  options.against_name = "<q>";
  const std::string page = RenderProfilePage(data, options);
  for (const char* name : {"<b onload", "<i>", "<t>", "<q>", "<f>"}) {
    EXPECT_THAT(page, Not(HasSubstr(name)));
  }
  EXPECT_THAT(page, HasSubstr("&lt;b onload=&quot;x&quot;&gt;&amp;"));
}

TEST(ProfilePageTest, BarsAreOfTheLongestOps) {
  EXPECT_EQ(CountOf(RenderProfilePage(DataOf(SomeCalls(21)), {}),
                    "<span class=\"track\">"),
            21);
  const std::string page = RenderProfilePage(DataOf(SomeCalls(300)), {});
  EXPECT_EQ(CountOf(page, "<span class=\"track\">"), 21);
  EXPECT_THAT(page, HasSubstr("280 other ops"));
  EXPECT_THAT(page, HasSubstr("mono\">op299</td>"));
}

TEST(ProfilePageTest, BarsBeforeAreOfOpsWithAllPartners) {
  Profile before = SomeCalls(2);
  before.calls[1].variable = "gone";
  const ProfileData data = DataOf(SomeCalls(2));
  ProfilePageOptions options;
  options.against = CompareProfiles(DataOf(before), data);
  const std::string page = RenderProfilePage(data, options);
  EXPECT_EQ(CountOf(page, "class=\"time before\""), 1);
  EXPECT_THAT(page, HasSubstr("2 calls that one of the two has"));
}

TEST(ProfilePageTest, WhatIsNotKnownIsADash) {
  Profile profile = SomeCalls(1);
  profile.calls[0].flop.reset();
  profile.calls[0].bytes_read = profile.calls[0].bytes_written = 0;
  profile.run_s = 0;
  const std::string page = RenderProfilePage(DataOf(profile), {});
  EXPECT_THAT(page, HasSubstr("1 call of 1 op take"));
  EXPECT_THAT(page, HasSubstr("What the calls have to do is not known;"));
  EXPECT_THAT(page, HasSubstr("No op has both operations and bytes"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(ProfilePageTest, TimesOfZeroAndBoundsAreShown) {
  Profile profile = SomeCalls(2);
  profile.calls[0].seconds = 0;
  profile.calls[1].flop_is_bound = true;
  std::string page = RenderProfilePage(DataOf(profile), {});
  EXPECT_THAT(page, HasSubstr("≤ 5.00"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("inf")));
  profile.calls[1].seconds = 0;
  page = RenderProfilePage(DataOf(profile), {});
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace kiln::report
