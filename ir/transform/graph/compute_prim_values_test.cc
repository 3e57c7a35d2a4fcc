#include "kiln/ir/transform/graph/compute_prim_values.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kBefore[] = R"(
@R.function
def main(x: R.Tensor(("n", "m"), "float32")):
    n = T.int64()
    m = T.int64()
    rows = R.prim_value(n * 2)
    if n > m:
        y = R.add(x, x)
    else:
        y = R.exp(x)
    z = R.full(R.shape([n * 2]), R.const(1, "float32"), "float32")
    return (y, rows, R.prim_value(n * 2), R.prim_value(m), z)
)";

TEST(ComputePrimValuesTest, NumbersWithAnOperatorAreCalls) {
  EXPECT_EQ(DifferenceAfter({"compute_prim_values"}, kBefore, R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def compute_symbolic_expr(n: T.int64) -> T.int64:
        T.func_attr({"tirx.is_host_func": True})
        return n * 2
    @T.prim_func(private=True)
    def compute_symbolic_expr1(n: T.int64, m: T.int64) -> T.bool:
        T.func_attr({"tirx.is_host_func": True})
        return n > m
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        rows = Module.compute_symbolic_expr(R.prim_value(n))
        gv = Module.compute_symbolic_expr1(R.prim_value(n), R.prim_value(m))
        if gv:
            y = R.add(x, x)
        else:
            y = R.exp(x)
        z = R.full(R.shape([n * 2]), R.const(1, "float32"), "float32")
        gv1 = Module.compute_symbolic_expr(R.prim_value(n))
        return (y, rows, gv1, R.prim_value(m), z)
)"),
            "");
}

TEST(ComputePrimValuesTest, TheProgramMeansTheSameBothWays) {
  for (int64_t n : {1, 2, 5}) {
    EXPECT_EQ(
        MeaningAfter({"compute_prim_values"}, kBefore, {{"n", n}, {"m", 2}}),
        "");
    EXPECT_EQ(MeaningAfter({"compute_prim_values", "inline_prim_values"},
                           kBefore, {{"n", n}, {"m", 2}}),
              "");
  }
}

TEST(ComputePrimValuesTest, InliningUndoesIt) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module after,
      RunGraphPasses(ReadModule(kBefore),
                     {"compute_prim_values", "inline_prim_values"}));
  EXPECT_TRUE(after.functions.empty()) << PrintModule(after);
}

TEST(ComputePrimValuesTest, WhatIsKnownLaterIsNotInlined) {
  const Module m = ReadModule(R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(n: T.int64) -> T.int64:
        return n * 2
    @R.function
    def main(p: R.Prim("int64")):
        y = Module.f(p)
        return y
)");
  EXPECT_THAT(RunGraphPasses(m, {"inline_prim_values"}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("known only when the program runs")));
}

}  // namespace
}  // namespace kiln
