#include "kiln/ir/text/printer/literals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace kiln::script {
namespace {

TEST(LiteralsTest, StringsEscapeWhatNeedsIt) {
  EXPECT_EQ(Quoted("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\x01\"");
  EXPECT_EQ(Quoted("\xC3\xA9"), "\"\xC3\xA9\"");
}

TEST(LiteralsTest, FloatsPrintAsThePeerPrintsThem) {
  EXPECT_EQ(FloatText(0, false), "0");
  EXPECT_EQ(FloatText(0, true), "0.0");
  EXPECT_EQ(FloatText(1e-5, false), "1.0000000000000001e-05");
  EXPECT_EQ(FloatText(0.015625, true), "0.015625");
  EXPECT_EQ(FloatText(-3.4028234663852886e38, true),
            "-340282346638528859811704183484516925440.0");
  EXPECT_EQ(FloatText(-0.0, false), "-0.0");
  EXPECT_EQ(FloatConstant(2, DType::Float(16), true), "T.float16(2.0)");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FloatConstant(-inf, DType::Float(32), true), "T.float32(\"-inf\")");
  EXPECT_EQ(FloatText(std::nan(""), true), "\"nan\"");
}

TEST(LiteralsTest, EveryFloatReadsBackAsItself) {
  const unsigned seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(static_cast<double>(random()),
                                    static_cast<int>(random() % 1200) - 600);
    for (bool point : {false, true}) {
      EXPECT_EQ(std::strtod(FloatText(value, point).c_str(), nullptr), value);
    }
  }
}

}  // namespace
}  // namespace kiln::script
