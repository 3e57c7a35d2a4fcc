#include "kiln/ir/transform/graph/name_extents.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(NameExtentsTest, ShapesAndTensorsOfParametersAreCast) {
  EXPECT_EQ(DifferenceAfter({"name_extents"}, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=1), s: R.Shape(ndim=2)):
        with R.dataflow():
            y = R.reshape(R.exp(x), s)
            R.output(y)
        return y
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=1), s: R.Shape(ndim=2)):
        x_0 = T.int64()
        s_0 = T.int64()
        s_1 = T.int64()
        x1 = R.match_cast(x, R.Tensor((x_0,), "float32"))
        s1 = R.match_cast(s, R.Shape([s_0, s_1]))
        with R.dataflow():
            e = R.exp(x1)
            y = R.reshape(e, R.shape([s_0, s_1]))
            R.output(y)
        return y
)"),
            "");
}

TEST(NameExtentsTest, OfAChainTheFirstIsCastAndTheOthersFollow) {
  EXPECT_EQ(DifferenceAfter({"name_extents"}, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), t: R.Tensor((2,), "int64")):
        with R.dataflow():
            s = R.tensor_to_shape(t)
            y = R.reshape(x, s)
            z = R.exp(y)
            R.output(z)
        return (z, R.shape_of(z))
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), t: R.Tensor((2,), "int64")):
        s_0 = T.int64()
        s_1 = T.int64()
        with R.dataflow():
            lv = R.tensor_to_shape(t)
            s = R.match_cast(lv, R.Shape([s_0, s_1]))
            y = R.reshape(x, R.shape([s_0, s_1]))
            z = R.exp(y)
            R.output(z)
        w = R.shape_of(z)
        return (z, w)
)"),
            "");
}

TEST(NameExtentsTest, WhatIsOutputOfABlockStaysSo) {
  EXPECT_EQ(DifferenceAfter({"name_extents"}, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((2, 3), "float32"))
            z = R.call_pure_packed("g", y, sinfo_args=R.Tensor(dtype="int32", ndim=1))
            R.output(z)
        w = R.negative(z)
        return w
)",
                            R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        z_0 = T.int64()
        with R.dataflow():
            y = R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((2, 3), "float32"))
            lv = R.call_pure_packed("g", y, sinfo_args=R.Tensor(dtype="int32", ndim=1))
            z = R.match_cast(lv, R.Tensor((z_0,), "int32"))
            R.output(z)
        w = R.negative(z)
        return w
)"),
            "");
}

TEST(NameExtentsTest, WhatHasNoRankOrTypeIsLeft) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32"), y: R.Tensor(ndim=2), s: R.Shape,
             z: R.Tensor((), "int32")):
        a = R.reshape(x, s)
        return (a, y, z)
)";
  EXPECT_EQ(DifferenceAfter({"name_extents"}, kText, kText), "");
}

}  // namespace
}  // namespace kiln
