#include "kiln/ir/transform/graph/signatures.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

TEST(SignaturesTest, UnusedParametersGo) {
  EXPECT_EQ(DifferenceAfter({"remove_unused_parameters"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r: R.Tensor((4,), "float32") = cls.f(x, x)
        return r
)",
                            R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r: R.Tensor((4,), "float32") = cls.f(x)
        return r
)"),
            "");
}

TEST(SignaturesTest, AFieldOfTheOnlyFieldIsNoneOfTheResult) {
  EXPECT_EQ(MeaningAfter({"remove_unused_outputs"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32")):
        b = R.exp(a)
        c = R.log(a)
        return ((b, c), a)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.f(x)
        p = t[0]
        b = p[0]
        c = p[1]
        r = R.subtract(b, c)
        return r
)"),
            "");
}

TEST(SignaturesTest, UnusedOutputsGo) {
  EXPECT_EQ(DifferenceAfter({"remove_unused_outputs"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32")):
        b = R.exp(a)
        c = R.log(a)
        return (b, c)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.f(x)
        r = t[1]
        return r
)",
                            R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32")):
        c = R.log(a)
        return c

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r = cls.f(x)
        return r
)"),
            "");
}

TEST(SignaturesTest, TuplesAreHandedOverByFields) {
  EXPECT_EQ(DifferenceAfter({"expand_tuple_arguments"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))) -> R.Tensor((4,), "float32"):
        a = t[1]
        return a

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r: R.Tensor((4,), "float32") = cls.f((x, x))
        return r
)",
                            R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(t0: R.Tensor((4,), "float32"), t1: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return t1

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r: R.Tensor((4,), "float32") = cls.f(x, x)
        return r
)"),
            "");
}

}  // namespace
}  // namespace kiln
