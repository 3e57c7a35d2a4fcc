// Private functions with their callers, before and after; and what they compute
// by the graph interpreter, where that is what counts:
//
//   EXPECT_EQ(MeaningAfter({"remove_unused_outputs"}, kCallers), "")
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

// Callers with other extents, by a branch, by another private function, and a
// function that calls itself; tuples in tuples, as variables and spelled out.
constexpr char kCallers[] = R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def leaf(unused: R.Tensor(("k",), "float32"), t: R.Tuple(R.Tuple(R.Tensor(("n", 2), "float32"), R.Tensor((2,), "float32")), R.Tensor(("n", 2), "float32"))):
        n = T.int64()
        k = T.int64()
        a = t[0]
        b = a[0]
        c = R.add(b, t[1])
        d = R.zeros(R.shape([k]), "float32")
        e = R.exp(c)
        return (c, (d, a), e)

    @R.function(private=True)
    def loop(i: R.Tensor((), "int64"), t: R.Tuple(R.Tensor(("n", 2), "float32"), R.Tensor((2,), "float32")), unused: R.Tensor((1,), "float32")) -> R.Tuple(R.Tensor(("n", 2), "float32"), R.Tensor((2,), "float32")):
        n = T.int64()
        cls = Module
        done = R.less_equal(i, R.const(0, "int64"))
        if done:
            r = t
        else:
            j = R.subtract(i, R.const(1, "int64"))
            x = R.add(t[0], t[1])
            u = cls.loop(j, (x, t[1]), unused)
            v = u[0]
            r = (v, t[1])
        return r

    @R.function(private=True)
    def middle(x: R.Tensor(("n", 2), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        inner = (x, y)
        t = (inner, x)
        p = cls.leaf(y, t)
        q = p[1]
        r = q[0]
        return (p[0], r)

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", 2), "float32"), y: R.Tensor((2,), "float32"), z: R.Tensor((1,), "float32")):
        cls = Module
        m = cls.middle(x, y)
        w = R.concat((x, x), axis=0)
        if c:
            p = cls.leaf(y, ((w, y), w))
            s = R.sum(p[0])
        else:
            p = cls.leaf(z, ((x, y), x))
            s = R.sum(p[0])
        l = cls.loop(R.const(3, "int64"), (x, y), z)
        f = l[0]
        return (m[0], s, f)
)";

TEST(SignaturesTest, AllCallersFollow) {
  for (const char* pass : {"remove_unused_parameters", "remove_unused_outputs",
                           "expand_tuple_arguments"}) {
    EXPECT_EQ(MeaningAfter({pass}, kCallers), "") << pass;
  }
  EXPECT_EQ(MeaningAfter({"expand_tuple_arguments", "remove_unused_parameters",
                          "remove_unused_outputs", "expand_tuple_arguments",
                          "inline_functions", "dce"},
                         kCallers),
            "");
}

TEST(SignaturesTest, FunctionsThatOthersSeeStay) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def seen(unused: R.Tensor((4,), "float32"), t: R.Tuple(R.Tensor((4,), "float32"))):
        a = t[0]
        b = R.exp(a)
        return (a, b)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.seen(x, (x,))
        r = t[1]
        return r
)";
  for (const char* pass : {"remove_unused_parameters", "remove_unused_outputs",
                           "expand_tuple_arguments"}) {
    EXPECT_EQ(DifferenceAfter({pass}, kText, kText), "") << pass;
  }
}

TEST(SignaturesTest, AFunctionThatIsHandedOverKeepsItsSignature) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32"), unused: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        b = R.exp(a)
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        g = cls.f
        r = g(x, x)
        s = cls.f(r, x)
        return s
)";
  EXPECT_EQ(MeaningAfter({"remove_unused_parameters"}, kText), "");
}

}  // namespace
}  // namespace kiln
