// Profiles as text and back, and what is none.
#include "kiln/tools/graph/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

Profile TwoCalls() {
  Profile profile;
  profile.function = "main";
  profile.cpu = "a \"CPU\"";
  profile.threads = 3;
  profile.runs = 7;
  profile.run_s = 31e-6;
  profile.calls.resize(3);
  profile.calls[0] = {"dense", "y", 10e-6, 4000, 1000, 20000.0};
  profile.calls[1] = {"vm.builtin.shape", "", 1e-6};
  profile.calls[2] = {"dense", "z", 15e-6, 4000, 1000, 30000.0, true};
  return profile;
}

auto Refused(const std::string& reason) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
}

TEST(ProfileTest, JsonReadsBack) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Profile read,
      ParseProfile(ProfileText(TwoCalls(), ProfileForm::kJson)));
  EXPECT_EQ(read.cpu, "a \"CPU\"");
  EXPECT_EQ(read.threads, 3);
  EXPECT_DOUBLE_EQ(read.run_s, 31e-6);
  ASSERT_EQ(read.calls.size(), 3);
  EXPECT_EQ(read.calls[2].variable, "z");
  EXPECT_THAT(read.calls[2].flop, Optional(30000));
  EXPECT_TRUE(read.calls[2].flop_is_bound);
  EXPECT_FALSE(read.calls[1].flop);
  EXPECT_EQ(read.calls[0].bytes(), 5000);
}

TEST(ProfileTest, TheTableAddsUpCallsOfOneCallee) {
  const std::string table = ProfileText(TwoCalls(), ProfileForm::kTable);
  EXPECT_THAT(table, HasSubstr("       25.00   96.2%        2      2.00     "
                               "0.40  dense\n"));
  EXPECT_THAT(table,
              HasSubstr("        1.00    3.8%        1                    "
                        " vm.builtin.shape\n"));
}

TEST(ProfileTest, ChromeHasTheTimesOfOneRun) {
  Profile profile = TwoCalls();
  profile.calls[1].start_s = 20e-6;
  profile.calls[1].typical_s = 2e-6;
  EXPECT_THAT(ProfileText(profile, ProfileForm::kChrome),
              HasSubstr("\"ts\":20,\"dur\":2,"));
}

TEST(ProfileTest, EarlierFilesAreRead) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Profile read,
      ParseProfile("{\"calls\":[{\"callee\":\"f\",\"variable\":\"y\","
                   "\"us\":2.5}]}\n"));
  EXPECT_EQ(read.runs, 0);
  EXPECT_DOUBLE_EQ(read.calls[0].seconds, 2.5e-6);
}

TEST(ProfileTest, WhatIsNoProfileIsRefused) {
  EXPECT_THAT(ParseProfile(""), Refused("is no profile"));
  EXPECT_THAT(ParseProfile("@I.ir_module"), Refused("--profile json > FILE"));
  EXPECT_THAT(ParseProfile("{\"row\":\"task\"}"), Refused("row"));
  EXPECT_THAT(ParseProfile("[1, 2]"), Refused("is no profile"));
  EXPECT_THAT(ParseProfile("{}"), Refused("without calls"));
  EXPECT_THAT(ParseProfile("{\"calls\":[]}"), Refused("without calls"));
}

TEST(ProfileTest, NumbersThatCannotBeAreRefused) {
  const auto with = [](const std::string& fields) {
    return ParseProfile(absl::StrCat(
        "{\"calls\":[{\"callee\":\"f\",\"us\":1},{\"callee\":\"g\",", fields,
        "}]}"));
  };
  KILN_EXPECT_OK(with("\"us\":0"));
  EXPECT_THAT(with("\"us\":-1"), Refused("wrong call 2 of 2 (g): it took -1"));
  EXPECT_THAT(with("\"us\":\"NaN\""), Refused("it took nan us"));
  EXPECT_THAT(with("\"us\":\"Infinity\""), Refused("it took inf us"));
  EXPECT_THAT(with("\"flop\":-3"), Refused("needs -3 FLOP"));
  EXPECT_THAT(with("\"bytes_read\":\"-Infinity\""), Refused("moved -inf"));
  EXPECT_THAT(ParseProfile("{\"calls\":[{\"us\":1}]}"),
              Refused("has no callee"));
  EXPECT_THAT(ParseProfile("{\"calls\":[{\"callee\":\"f\"}],\"run_us\":-1}"),
              Refused("a run of -1 us"));
  EXPECT_THAT(ParseProfile("{\"calls\":[{\"callee\":\"f\"}],\"threads\":-1}"),
              Refused("on -1 threads"));
}

TEST(ProfileTest, FormsAreNamed) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto none, ParseProfileForm(""));
  EXPECT_FALSE(none);
  EXPECT_THAT(ParseProfileForm("jso"), Refused("table, json and chrome"));
}

}  // namespace
}  // namespace kiln
