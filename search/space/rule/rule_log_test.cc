#include "kiln/search/space/rule/rule_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Lines(const RuleLog& log) {
  std::vector<std::string> lines;
  for (const RuleRefusal& refusal : log.refusals()) {
    lines.push_back(ToLine(refusal));
  }
  return lines;
}

TEST(RuleLogTest, SaysWhichRuleTriedWhatAndWhyItWasRefused) {
  RuleLog log;
  log.Enter("tiling", "Z");
  log.GaveUp("", absl::FailedPreconditionError("split: too long\n  for i"));
  log.WentOn("the store", absl::FailedPreconditionError("two consumers"));
  log.Enter("inline", "Y");
  log.GaveUp("", absl::FailedPreconditionError("split: too long\n  for i"));
  EXPECT_THAT(Lines(log),
              ElementsAre("tiling of Z: split: too long",
                          "tiling of Z, the store, goes on without: two "
                          "consumers",
                          "inline of Y: split: too long"));
}

TEST(RuleLogTest, RefusalsThatAreAlikeAreOne) {
  RuleLog log;
  log.Enter("tiling", "Z");
  for (int i = 0; i < 3; ++i) log.GaveUp("a", absl::InternalError("x"));
  log.WentOn("a", absl::InternalError("x"));
  log.GaveUp("b", absl::InternalError("x"));
  EXPECT_THAT(Lines(log), ElementsAre("tiling of Z, a, 3 times: x",
                                      "tiling of Z, a, goes on without: x",
                                      "tiling of Z, b: x"));
}

TEST(RuleLogTest, StepsThatWereCarriedOutAreNotTold) {
  RuleLog log;
  log.Enter("tiling", "Z");
  log.GaveUp("", absl::OkStatus());
  EXPECT_TRUE(log.refusals().empty());
}

}  // namespace
}  // namespace kiln
