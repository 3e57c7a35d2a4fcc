#include "kiln/base/check.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(CheckTest, PassesWithoutEvaluatingTheMessage) {
  int evaluations = 0;
  KILN_CHECK(true) << ++evaluations;
  EXPECT_EQ(evaluations, 0);
}

TEST(CheckDeathTest, AbortsWithConditionAndMessage) {
  EXPECT_DEATH(KILN_CHECK_EQ(1 + 1, 3) << "sums", "check failed: .*sums");
}

}  // namespace
}  // namespace kiln
