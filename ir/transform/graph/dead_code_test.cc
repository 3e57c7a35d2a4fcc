#include "kiln/ir/transform/graph/dead_code.h"

#include <string>

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

// A tensor function that is called itself writes into its arguments.
TEST(DeadCodeTest, WritesIntoArgumentsStay) {
  const std::string text = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        T.evaluate(0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"))
        e = cls.exp(x, y)
        e1 = cls.exp(x, y)
        e2 = R.vm.call_tir_dyn(cls.exp, (x, y))
        return y
)";
  for (const char* pass : {"dce", "cse", "fold_batchnorm_into_conv2d"}) {
    EXPECT_EQ(DifferenceAfter({pass}, text, text), "") << pass;
  }
  EXPECT_EQ(DifferenceAfter({"convert_to_dataflow", "dce", "cse"}, text, text),
            "");
}

}  // namespace
}  // namespace kiln
