#include "kiln/ir/type/tolerance.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(ToleranceTest, BoundsGrowWithWhatIsExpected) {
  const Tolerance tolerance = {.rtol = 0.1, .atol = 1};
  EXPECT_TRUE(Agree(111, 100, tolerance));
  EXPECT_FALSE(Agree(111.5, 100, tolerance));
  EXPECT_TRUE(Agree(-111, -100, tolerance));
  EXPECT_FALSE(Agree(100, 111.5, {.rtol = 0.1}));
}

TEST(ToleranceTest, WithoutBoundsNumbersAreEqual) {
  EXPECT_TRUE(Agree(0.0, -0.0, {}));
  EXPECT_FALSE(Agree(1, std::nextafter(1, 2), {}));
}

TEST(ToleranceTest, NaNAndInfinitiesAgreeWithThemselvesOnly) {
  for (const Tolerance tolerance : {Tolerance(), Tolerance{kInf, kInf}}) {
    EXPECT_TRUE(Agree(kNaN, kNaN, tolerance));
    EXPECT_TRUE(Agree(kInf, kInf, tolerance));
    EXPECT_FALSE(Agree(kInf, -kInf, tolerance));
    EXPECT_FALSE(Agree(kInf, 1, tolerance));
    EXPECT_FALSE(Agree(1, kInf, tolerance));
    EXPECT_FALSE(Agree(kNaN, 1, tolerance));
    EXPECT_FALSE(Agree(1, kNaN, tolerance));
  }
}

}  // namespace
}  // namespace kiln
