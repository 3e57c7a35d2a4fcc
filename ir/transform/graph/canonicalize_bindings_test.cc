#include "kiln/ir/transform/graph/canonicalize_bindings.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(CanonicalizeBindingsTest, NamesOfNamesGo) {
  EXPECT_EQ(DifferenceAfter({"canonicalize_bindings"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        lv = R.exp(x)
        y = lv
        gv = y
        R.output(gv)
    return gv
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        gv = R.exp(x)
        R.output(gv)
    return gv
)"),
            "");
}

TEST(CanonicalizeBindingsTest, FieldsOfKnownTuplesAreTheirValues) {
  EXPECT_EQ(DifferenceAfter({"canonicalize_bindings", "dce"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.exp(x)
    t = (x, y)
    z = t[1]
    return z
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.exp(x)
    return y
)"),
            "");
}

TEST(CanonicalizeBindingsTest, ATupleInATupleKeepsItsName) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        t = (x, (x, x))
        p = t[1]
        R.output(p)
    return p
)";
  EXPECT_EQ(DifferenceAfter({"canonicalize_bindings"}, text, text), "");
}

// What the body is known to give by now, the function gives.
TEST(CanonicalizeBindingsTest, TheResultSaysWhatIsKnown) {
  EXPECT_EQ(DifferenceAfter({"canonicalize_bindings"}, R"(
@R.function
def main(x: R.Tensor(("n", "k"), "float32")) -> R.Tensor(dtype="float32", ndim=2):
    m = T.int64()
    k = T.int64()
    y = R.match_cast(x, R.Tensor((m, k), "float32"))
    z = R.add(y, y)
    return z
)",
                            R"(
@R.function
def main(x: R.Tensor(("n", "k"), "float32")) -> R.Tensor(("n", "k"), "float32"):
    z = R.add(x, x)
    return z
)"),
            "");
}

}  // namespace
}  // namespace kiln
