#include "kiln/tools/support/main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using ::testing::ElementsAre;

TEST(TakeRepeatedFlagTest, TakesBothSpellingsInOrderAndLeavesTheRest) {
  char program[] = "run", a[] = "--input=x", b[] = "--other", c[] = "--input",
       d[] = "y", e[] = "--inputs=z";
  char* argv[] = {program, a, b, c, d, e, nullptr};
  int argc = 6;
  EXPECT_THAT(TakeRepeatedFlag(&argc, argv, "input"), ElementsAre("x", "y"));
  ASSERT_EQ(argc, 3);
  EXPECT_STREQ(argv[1], "--other");
  EXPECT_STREQ(argv[2], "--inputs=z");
}

}  // namespace
}  // namespace kiln
