// What a call becomes, as text: of functions whose parameters tell dimensions,
// in dataflow blocks and outside of them, with arguments that have to be
// checked; and what stays a call.
#include "kiln/ir/transform/graph/inline_functions.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(InlineFunctionsTest, DimensionsAreThoseOfTheArguments) {
  EXPECT_EQ(DifferenceAfter({"inline_functions"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(a: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            b = R.add(a, a)
            c = R.reshape(b, R.shape([n, 1]))
            R.output(c)
        return c

    @R.function(private=True)
    def outer(a: R.Tensor(("n",), "float32")):
        cls = Module
        n = T.int64()
        c = cls.twice(a)
        return (c, a)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.outer(x)
        return y
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            b = R.add(x, x)
            c = R.reshape(b, R.shape([4, 1]))
            R.output(c)
        c1 = c
        y = (c1, x)
        return y
)"),
            "");
}

TEST(InlineFunctionsTest, InDataflowBlocksAllIsDataflow) {
  EXPECT_EQ(DifferenceAfter({"inline_functions"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(a: R.Tensor(ndim=1, dtype="float32")):
        m = T.int64()
        b = R.match_cast(a, R.Tensor((m,), "float32"))
        c = R.add(b, b)
        return c

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            y = cls.twice(x)
            z = cls.twice(y)
            R.output(z)
        return z
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            b = R.match_cast(x, R.Tensor((m,), "float32"))
            c = R.add(b, b)
            y: R.Tensor(ndim=1, dtype="float32") = c
            b1 = R.match_cast(y, R.Tensor((k,), "float32"))
            c1 = R.add(b1, b1)
            z: R.Tensor(ndim=1, dtype="float32") = c1
            R.output(z)
        return z
)"),
            "");
}

TEST(InlineFunctionsTest, ArgumentsAreCheckedAsTheCallChecksThem) {
  EXPECT_EQ(DifferenceAfter({"inline_functions"}, R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(a: R.Tensor((4,), "float32")):
        c = R.add(a, a)
        return c

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        cls = Module
        z = cls.twice(x)
        return z
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        a = R.match_cast(x, R.Tensor((4,), "float32"))
        c = R.add(a, a)
        z = c
        return z
)"),
            "");
}

TEST(InlineFunctionsTest, SomeStay) {
  const std::string text = R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def loop(i: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less(i, R.const(10, "int64"))
        if c:
            j = R.add(i, R.const(1, "int64"))
            k = cls.loop(j)
        else:
            k = i
        return k

    @R.function(private=True)
    def fused(x: R.Tensor((4,), "float32")):
        R.func_attr({"Primitive": True})
        y = R.exp(x)
        return y

    @R.function(private=True)
    def choose(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            k = R.exp(x)
        else:
            k = x
        return k

    @R.function
    def main(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"),
             x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.loop(i)
            b = cls.fused(x)
            d = cls.choose(c, x)
            R.output(a, b, d)
        return (a, b, d)
)";
  EXPECT_EQ(DifferenceAfter({"inline_functions"}, text, text), "");
}

}  // namespace
}  // namespace kiln
