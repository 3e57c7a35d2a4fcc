#include "kiln/ir/transform/graph/convert_to_dataflow.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(ConvertToDataflowTest, CallsWithEffectsStandBetweenBlocks) {
  EXPECT_EQ(DifferenceAfter({"convert_to_dataflow"}, R"(
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.exp(a)
        c = R.call_packed("env.log", b, sinfo_args=R.Object())
        d = R.exp(b)
        e = R.call_packed("env.log", d, sinfo_args=R.Object())
        f = R.add(d, b)
        g = R.add(f, b)
        return g
)",
                            R"(
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(a)
            R.output(a, b)
        c = R.call_packed("env.log", b, sinfo_args=R.Object())
        d = R.exp(b)
        e = R.call_packed("env.log", d, sinfo_args=R.Object())
        with R.dataflow():
            f = R.add(d, b)
            g = R.add(f, b)
            R.output(f, g)
        return g
)"),
            "");
}

TEST(ConvertToDataflowTest, BlocksAreContinuedAndBranchesStandOutside) {
  EXPECT_EQ(DifferenceAfter({"convert_to_dataflow"}, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), take: R.Tensor((), "bool")):
        with R.dataflow():
            lv = R.exp(x)
            b = R.exp(lv)
            R.output(b)
        c = R.exp(b)
        if take:
            t1 = R.exp(c)
            t2 = R.exp(t1)
            r = t2
        else:
            r = R.negative(c)
        return r
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), take: R.Tensor((), "bool")):
        with R.dataflow():
            lv = R.exp(x)
            b = R.exp(lv)
            c = R.exp(b)
            R.output(b, c)
        if take:
            with R.dataflow():
                t1 = R.exp(c)
                t2 = R.exp(t1)
                r = t2
                R.output(t1, t2, r)
        else:
            r = R.negative(c)
        return r
)"),
            "");
}

}  // namespace
}  // namespace kiln
