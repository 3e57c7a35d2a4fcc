// Programs with calls that give results, and what they become: kFunctions is
// the head of each module, main follows.
#include "kiln/ir/transform/graph/lower_call_tir.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

constexpr char kFunctions[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("exp"):
                v = T.axis.spatial(n, i)
                B[v] = T.exp(A[v])

    @T.prim_func(private=True)
    def fill(b: T.handle, n: T.int64):
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("fill"):
                v = T.axis.spatial(n, i)
                B[v] = T.float32(2)
)";

std::string With(const std::string& main) { return kFunctions + main; }

TEST(LowerCallTirTest, ResultsAreAllocatedAndHandedOver) {
  EXPECT_EQ(DifferenceAfter({"lower_call_tir"}, With(R"(
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((n,), "float32"))
            z = R.call_tir(cls.fill, R.tuple(), out_sinfo=R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
            R.output(y, z)
        return y
)"),
                            With(R"(
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"relax.force_pure": True})
        n = T.int64()
        cls = Module
        a = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), 0, R.str("global"))
        cls.exp(x, a)
        y = a
        b = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), 0, R.str("global"))
        R.vm.call_tir_dyn(cls.fill, (b, R.shape([n])))
        z = b
        return y
)")),
            "");
}

TEST(LowerCallTirTest, ResultsInPlaceAreArguments) {
  EXPECT_EQ(DifferenceAfter({"lower_call_tir"}, With(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        cls = Module
        z = R.call_tir_inplace(cls.exp, (x, y), inplace_indices=[1], out_sinfo=R.Tensor((4,), "float32"))
        w = R.call_dps_packed("twice", (z,), out_sinfo=R.Tensor((4,), "float32"))
        return w
)"),
                            With(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        cls = Module
        cls.exp(x, y)
        z = y
        a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"))
        R.call_packed("twice", z, a)
        w = a
        return w
)")),
            "");
}

TEST(LowerCallTirTest, AResultOfUnknownShapeIsRefused) {
  EXPECT_EQ(DifferenceAfter({"lower_call_tir"}, With(R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor(ndim=1, dtype="float32"))
        return y
)"),
                            ""),
            "lower_call_tir: main: y: the shape and the type of a result have "
            "to be known, not only R.Tensor(dtype=\"float32\", ndim=1)");
}

}  // namespace
}  // namespace kiln
