// What the machine allows for ops, and what is not known of some.
#include "kiln/tools/reporting/profile_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/file.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
#include "kiln/tools/graph/profile.h"

namespace kiln::report {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

Profile Taken() {
  Profile profile;
  profile.runs = 5;
  profile.threads = 1;
  return profile;
}

// At 100 GFLOP/s, on a machine whose L1 reads 200 GB/s.
ProfileData Analyzed(const Profile& profile) {
  return Analyze("p.json", profile, Machine{}, 100);
}

TEST(ProfileDataTest, OpsAreAllCallsOfACallee) {
  Profile profile = Taken();
  profile.calls = {{"b", "x", 1e-6, 1000, 0, 2e4},
                   {"a", "y", 5e-6, 2000, 0, 1e5},
                   {"b", "z", 2e-6, 4000, 0, 1e4}};
  const ProfileData data = Analyzed(profile);
  ASSERT_EQ(data.ops.size(), 2);
  EXPECT_EQ(data.ops[0].name, "a");
  const OpData& b = data.ops[1];
  EXPECT_EQ(b.calls, 2);
  EXPECT_DOUBLE_EQ(b.seconds, 3e-6);
  EXPECT_DOUBLE_EQ(b.Gflops(), 10);
  EXPECT_NEAR(b.Gbs(), 5 / 3., 1e-9);
  EXPECT_EQ(b.by, "FMA");
  EXPECT_NEAR(b.RooflineShare(), 0.1, 1e-9);
  EXPECT_NEAR(data.RooflineShare(), 1.3 / 8, 1e-9);
  EXPECT_DOUBLE_EQ(data.KnownShare(), 1);
  EXPECT_DOUBLE_EQ(data.seconds, 8e-6);
}

TEST(ProfileDataTest, ACopyIsMeasuredByItsBytes) {
  Profile profile = Taken();
  profile.calls = {{"copy", "x", 100e-9, 2000, 0, 0.0}};
  const ProfileData data = Analyzed(profile);
  EXPECT_EQ(data.ops[0].by, "L1");
  EXPECT_NEAR(data.ops[0].RooflineShare(), 0.1, 1e-9);
  EXPECT_EQ(data.ops[0].Gflops(), 0);
}

TEST(ProfileDataTest, WhatIsNotKnownOfOneCallIsNotKnownOfTheOp) {
  Profile profile = Taken();
  profile.calls = {{"f", "x", 1e-6, 1000, 0, 1e4},
                   {"f", "y", 1e-6, 1000, 0},
                   {"g", "z", 2e-6, 0, 0, 1e5, true},
                   {"vm.builtin.shape", "s", 0}};
  const ProfileData data = Analyzed(profile);
  const OpData &f = data.ops[0], &g = data.ops[1], &shape = data.ops[2];
  EXPECT_EQ(f.name, "f");
  EXPECT_FALSE(f.flop);
  EXPECT_FALSE(f.least_s);
  EXPECT_EQ(f.by, "");
  EXPECT_GT(f.Gbs(), 0);
  EXPECT_TRUE(g.flop_is_bound);
  EXPECT_THAT(g.least_s, Optional(DoubleNear(1e-6, 1e-12)));
  EXPECT_EQ(shape.Gbs(), 0);
  EXPECT_EQ(shape.RooflineShare(), 0);
  EXPECT_DOUBLE_EQ(data.RooflineShare(), 0.5);
  EXPECT_DOUBLE_EQ(data.KnownShare(), 0.5);
}

TEST(ProfileDataTest, ARunWithoutTimeHasNoShares) {
  Profile profile = Taken();
  profile.calls = {{"f", "x", 0, 10, 10, 10.0}};
  const ProfileData data = Analyzed(profile);
  EXPECT_EQ(data.RooflineShare(), 0);
  EXPECT_EQ(data.ops[0].RooflineShare(), 0);
  EXPECT_EQ(data.calls[0].RooflineShare(), 0);
}

TEST(ProfileDataTest, WarnsOfOtherMachinesAndOldFiles) {
  Profile profile = Taken();
  profile.calls = {{"f", "x", 1e-6}};
  EXPECT_THAT(Analyzed(profile).warnings, IsEmpty());
  profile.cpu = "another";
  profile.threads = 64;
  profile.runs = 0;
  EXPECT_THAT(
      Analyzed(profile).warnings,
      ElementsAre(HasSubstr("another machine, another"),
                  HasSubstr("on 64 threads"), HasSubstr("take it anew")));
}

TEST(ReadProfileTest, ErrorsNameTheFlagAndTheFile) {
  EXPECT_THAT(ReadProfile("/nowhere/p.json", "--against").status(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("--against: cannot open /nowhere/p.json")));
  const std::string path = testing::TempDir() + "/p.json";
  KILN_ASSERT_OK(WriteFileAtomically(path, "{\"calls\":[]}"));
  EXPECT_THAT(ReadProfile(path, "--profile").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(path + " is a profile without calls")));
}

}  // namespace
}  // namespace kiln::report
