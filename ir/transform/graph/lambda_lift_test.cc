#include "kiln/ir/transform/graph/lambda_lift.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

TEST(LambdaLiftTest, FunctionsThatNeedNothingAreCalled) {
  EXPECT_EQ(DifferenceAfter({"lambda_lift"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    @R.function
    def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        z = R.exp(y)
        return z
    r: R.Tensor((4,), "float32") = inner(x)
    return r
)",
                            R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def main_inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        z = R.exp(y)
        return z

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        r: R.Tensor((4,), "float32") = cls.main_inner(x)
        return r
)"),
            "");
}

TEST(LambdaLiftTest, DimensionsThatNoParameterTellsAreHandedOver) {
  EXPECT_EQ(MeaningAfter({"lambda_lift"}, R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    @R.function
    def twice(p: R.Tensor((n * 2, 4), "float32")) -> R.Tensor((n, 8), "float32"):
        q = R.reshape(p, R.shape([n, 8]))
        return q
    @R.function
    def ones() -> R.Tensor((n,), "float32"):
        q = R.ones(R.shape([n]), "float32")
        return q
    y = R.concat((x, x), axis=0)
    z = twice(y)
    o = ones()
    r = (z, o)
    return r
)"),
            "");
}

TEST(LambdaLiftTest, DimensionsThatTheFunctionFindsItselfAreItsOwn) {
  EXPECT_EQ(MeaningAfter({"lambda_lift"}, R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    m = T.int64()
    @R.function
    def first(p: R.Tensor(ndim=2, dtype="float32")):
        q = R.match_cast(p, R.Tensor((m, 4), "float32"))
        r = R.zeros(R.shape([m]), "float32")
        return r
    a = first(x)
    y = R.concat((x, x), axis=0)
    b = first(y)
    r = (a, b)
    return r
)"),
            "");
}

}  // namespace
}  // namespace kiln
