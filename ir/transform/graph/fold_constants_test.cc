#include "kiln/ir/transform/graph/fold_constants.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(FoldConstantsTest, ChainsFold) {
  EXPECT_EQ(DifferenceAfter({"fold_constants"}, R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        a = R.add(R.const([1.0, 2.0], "float32"), R.const(1.0, "float32"))
        b = R.multiply(a, a)
        y = R.add(x, b)
        R.output(y)
    return y
)",
                            R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        y = R.add(x, R.const([4.0, 9.0], "float32"))
        R.output(y)
    return y
)"),
            "");
}

TEST(FoldConstantsTest, TuplesStayAndTheirFieldsFold) {
  EXPECT_EQ(DifferenceAfter({"fold_constants"}, R"(
@R.function
def main(x: R.Tensor((1,), "float32")):
    t = R.split(R.const([1.0, 2.0], "float32"), 2)
    a = t[1]
    b = R.exp(x)
    y = R.add(b, a)
    return (y, t)
)",
                            R"(
@R.function
def main(x: R.Tensor((1,), "float32")):
    t = (R.const([1.0], "float32"), R.const([2.0], "float32"))
    b = R.exp(x)
    y = R.add(b, R.const([2.0], "float32"))
    return (y, t)
)"),
            "");
}

TEST(FoldConstantsTest, TensorFunctionsAndShapesFold) {
  EXPECT_EQ(DifferenceAfter({"fold_constants"}, R"(
@I.ir_module
class Module:
    @T.prim_func
    def double(a: T.Buffer((3,), "int64"), b: T.Buffer((3,), "int64")):
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi] + a[vi]

    @R.function
    def main(x: R.Tensor((3,), "int64")):
        cls = Module
        a = R.shape_to_tensor(R.shape([2, 3, 4]))
        b = R.call_tir(cls.double, (a,), out_sinfo=R.Tensor((3,), "int64"))
        y = R.add(x, b)
        return y
)",
                            R"(
@I.ir_module
class Module:
    @T.prim_func
    def double(a: T.Buffer((3,), "int64"), b: T.Buffer((3,), "int64")):
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi] + a[vi]

    @R.function
    def main(x: R.Tensor((3,), "int64")):
        y = R.add(x, R.const([4, 6, 8], "int64"))
        return y
)"),
            "");
}

// What is large, wrong, or has effects is left as it is.
TEST(FoldConstantsTest, SomeStay) {
  const std::string text = R"(
@R.function(pure=False)
def main(x: R.Tensor((1025,), "float32")):
    a = R.zeros(R.shape([1025]), "float32")
    b = R.add(a, x)
    c = R.call_packed("log", R.const(1.0), sinfo_args=R.Object())
    d = R.take(R.const([1.0, 2.0], "float32"), R.const([7], "int64"), axis=0)
    return (b, c, d)
)";
  EXPECT_EQ(DifferenceAfter({"fold_constants"}, text, text), "");
}

TEST(FoldConstantsTest, LimitsAreOptions) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, InferModule(ReadModule(R"(
@R.function
def main(x: R.Tensor((8,), "float32")):
    a = R.zeros(R.shape([8]), "float32")
    b = R.add(R.const([1.0, 2.0], "float32"), R.const(1.0, "float32"))
    return (a, b)
)")));
  FoldOptions options;
  options.max_made = 7;
  options.max_steps = 1;
  KILN_ASSERT_OK_AND_ASSIGN(const Module folded,
                            FoldConstants(module, options));
  const std::string text = PrintModule(folded);
  EXPECT_THAT(text, HasSubstr("R.zeros"));
  EXPECT_THAT(text, HasSubstr("R.add"));
}

}  // namespace
}  // namespace kiln
