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

}  // namespace
}  // namespace kiln
