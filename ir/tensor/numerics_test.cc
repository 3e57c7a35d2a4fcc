#include "kiln/ir/tensor/numerics.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

TEST(NumericsTest, OnlyTheWordAllowsNormwiseErrors) {
  Function f;
  EXPECT_FALSE(AllowsNormwise(f));
  for (const Attr& other : {Attr(std::string(kTermwise)), Attr(Int(1)), Attr(),
                            Attr(std::string("Normwise"))}) {
    f.attrs[kNumerics] = other;
    EXPECT_FALSE(AllowsNormwise(f));
  }
  AllowNormwise(&f);
  EXPECT_TRUE(AllowsNormwise(f));
  EXPECT_FALSE(IsStrict(f));
}

TEST(NumericsTest, OnlyTheWordIsStrict) {
  Function f;
  EXPECT_FALSE(IsStrict(f));
  for (const Attr& other : {Attr(std::string(kTermwise)), Attr(Int(1)), Attr(),
                            Attr(std::string("Strict"))}) {
    f.attrs[kNumerics] = other;
    EXPECT_FALSE(IsStrict(f));
  }
  MakeStrict(&f);
  EXPECT_TRUE(IsStrict(f));
  EXPECT_FALSE(AllowsNormwise(f));
}

}  // namespace
}  // namespace kiln
