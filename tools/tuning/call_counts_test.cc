// How often functions are called, of modules as text: each test is a module and
// the counts that it has, such as relu 3 for a private function with one call
// of it that is called three times.
#include "kiln/tools/tuning/call_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"

namespace kiln {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kTensorFunctions[] = R"(
    @T.prim_func
    def relu(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = T.max(A[vi], T.float32(0))

    @T.prim_func
    def twice(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)
)";

// `functions` are graph functions, which begin with "cls = Module".
std::map<std::string, double> Counts(const std::string& functions,
                                     const std::string& entry = "") {
  const absl::StatusOr<Module> module = ParseModule(
      "m.py",
      absl::StrCat("@I.ir_module\nclass Module:", kTensorFunctions, functions));
  KILN_EXPECT_OK(module);
  if (!module.ok()) return {};
  return CallCounts(*module, entry);
}

TEST(CallCountsTest, CallsAreCountedAndFunctionsThatAreNotCalledAreNotThere) {
  EXPECT_THAT(Counts(R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        b = R.call_tir(cls.relu, (a,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return b
)"),
              UnorderedElementsAre(Pair("relu", 2)));
  EXPECT_THAT(Counts(""), IsEmpty());
}

TEST(CallCountsTest, FunctionsMayBeCalledByTheirName) {
  EXPECT_THAT(Counts(R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.call_dps_packed("twice", (x,), R.Tensor((4,), dtype="float32"))
        b = R.call_dps_packed("elsewhere", (a,), R.Tensor((4,), dtype="float32"))
        return b
)"),
              UnorderedElementsAre(Pair("twice", 1)));
}

TEST(CallCountsTest, CallsOfAPrivateFunctionMultiply) {
  EXPECT_THAT(Counts(R"(
    @R.function(private=True)
    def layer(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        b = R.call_tir(cls.relu, (a,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return b

    @R.function(private=True)
    def block(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.layer(x)
        b = cls.layer(a)
        c = R.call_tir(cls.twice, (b,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return c

    @R.function(private=True)
    def unused(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.block(x)
        return a

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.block(x)
        b = cls.layer(a)
        c = cls.block(b)
        return c
)"),
              UnorderedElementsAre(Pair("relu", 10), Pair("twice", 2)));
}

constexpr char kTwoEntries[] = R"(
    @R.function
    def step(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return a

    @R.function
    def prefill(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.step(x)
        b = cls.step(a)
        return b

    @R.function
    def decode(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.step(x)
        b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return b
)";

TEST(CallCountsTest, ARunEntersPublicFunctionsThatNoOtherCalls) {
  EXPECT_THAT(Counts(kTwoEntries),
              UnorderedElementsAre(Pair("relu", 3), Pair("twice", 1)));
  EXPECT_THAT(Counts(kTwoEntries, "prefill"),
              UnorderedElementsAre(Pair("relu", 2)));
  EXPECT_THAT(Counts(kTwoEntries, "step"),
              UnorderedElementsAre(Pair("relu", 1)));
  EXPECT_THAT(Counts(kTwoEntries, "nosuch"), IsEmpty());
}

TEST(CallCountsTest, BothBranchesCount) {
  EXPECT_THAT(Counts(R"(
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        cls = Module
        if c:
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
            y = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((4,), dtype="float32"))
        else:
            y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        return y
)"),
              UnorderedElementsAre(Pair("relu", 2), Pair("twice", 1)));
}

TEST(CallCountsTest, RecursionCountsOnce) {
  EXPECT_THAT(Counts(R"(
    @R.function
    def even(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        if c:
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
            y = cls.odd(c, a)
        else:
            y = cls.even(c, x)
        return y

    @R.function
    def odd(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), dtype="float32"))
        y = cls.even(c, a)
        return y
)"),
              UnorderedElementsAre(Pair("relu", 1), Pair("twice", 1)));
}

TEST(CallCountsTest, OpsAreCountedOnceTheyAreLegalized) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def layer(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        a = R.matmul(x, w)
        b = R.nn.relu(a)
        return b

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        a = cls.layer(x, w)
        b = cls.layer(a, w)
        c = R.nn.relu(b)
        return c
)"));
  EXPECT_THAT(CallCounts(module), IsEmpty());
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal,
                            RunGraphPasses(module, {"legalize"}));
  EXPECT_THAT(CallCounts(legal),
              UnorderedElementsAre(Pair("matmul", 2), Pair("relu", 3)));
}

TEST(CallCountsTest, LongChainsThatDoubleStopAtTheMost) {
  std::string functions;
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(
        &functions,
        i == 0 ? "    @R.function\n" : "    @R.function(private=True)\n",
        "    def f", i,
        "(x: R.Tensor((4,), \"float32\")) -> R.Tensor((4,), "
        "\"float32\"):\n        cls = Module\n");
    const std::string call =
        i < 1999 ? absl::StrCat("cls.f", i + 1, "(x)")
                 : "R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4,), "
                   "dtype=\"float32\"))";
    absl::StrAppend(&functions, "        a = ", call, "\n        b = ", call,
                    "\n        return b\n\n");
  }
  EXPECT_THAT(Counts(functions),
              UnorderedElementsAre(Pair("relu", kMostCalls)));
}

}  // namespace
}  // namespace kiln
