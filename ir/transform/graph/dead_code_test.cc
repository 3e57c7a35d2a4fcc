#include "kiln/ir/transform/graph/dead_code.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(DeadCodeTest, WhatNothingNeedsIsDropped) {
  EXPECT_EQ(DifferenceAfter({"dce"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def unused(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.exp(a)
        c = R.add(x, x)
        return c
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        c = R.add(x, x)
        return c
)"),
            "");
}

TEST(DeadCodeTest, EffectsStay) {
  EXPECT_EQ(DifferenceAfter({"dce"}, R"(
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    y = R.call_packed("log", x, sinfo_args=(R.Tensor((4,), "float32"),))
    return x
)",
                            R"(
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    y = R.call_packed("log", x, sinfo_args=(R.Tensor((4,), "float32"),))
    return x
)"),
            "");
}

}  // namespace
}  // namespace kiln
