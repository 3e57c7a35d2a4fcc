#include "kiln/ir/transform/graph/lambda_lift.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

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

}  // namespace
}  // namespace kiln
