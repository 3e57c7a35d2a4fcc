// Models as text, and the sizes with which they call their tensor functions.
#include "kiln/tools/tuning/call_sizes.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Sizes = std::map<std::string, std::set<DimSize>>;

constexpr char kTensorFunctions[] = R"(
    @T.prim_func
    def relu(a: T.handle, b: T.handle):
        i = T.int64()
        j = T.int64()
        A = T.match_buffer(a, (i, j), "float32")
        B = T.match_buffer(b, (i, j), "float32")
        for x, y in T.grid(i, j):
            with T.block("B"):
                vx, vy = T.axis.remap("SS", [x, y])
                B[vx, vy] = T.max(A[vx, vy], T.float32(0))
)";

// `functions` are graph functions, which begin with "cls = Module".
Sizes SizesOf(const std::string& functions, const DimValues& dims) {
  absl::StatusOr<Module> module = ParseModule(
      "m.py",
      absl::StrCat("@I.ir_module\nclass Module:", kTensorFunctions, functions));
  KILN_EXPECT_OK(module);
  if (!module.ok()) return {};
  module = RunGraphPasses(*module, {"infer"});
  KILN_EXPECT_OK(module);
  return module.ok() ? CallSizes(*module, "main", dims) : Sizes();
}

TEST(CallSizesTest, DimensionsFollowFromShapes) {
  const std::string main = R"(
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((2, "n"), "float32")):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, 4), "float32"))
        b = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((2, n), "float32"))
        return (a, b)
)";
  EXPECT_THAT(
      SizesOf(main, {{"n", 16}}),
      ElementsAre(Pair("relu", ElementsAre(DimSize{2, 16}, DimSize{16, 4}))));
  EXPECT_THAT(SizesOf(main, {{"m", 16}}), IsEmpty());
}

TEST(CallSizesTest, ExtentsMayBeComputed) {
  EXPECT_THAT(SizesOf(R"(
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n * 12", 2), "float32")):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((n * 12, 2), "float32"))
        return a
)",
                      {{"n", 3}}),
              ElementsAre(Pair("relu", ElementsAre(DimSize{36, 2}))));
}

TEST(CallSizesTest, ACastTellsDimensions) {
  EXPECT_THAT(SizesOf(R"(
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        m = T.int64()
        cls = Module
        y = R.match_cast(x, R.Tensor((m, 4), "float32"))
        a = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((m, 4), "float32"))
        return a
)",
                      {{"n", 7}}),
              ElementsAre(Pair("relu", ElementsAre(DimSize{7, 4}))));
}

TEST(CallSizesTest, CalledFunctionsHaveDimensionsOfTheirOwn) {
  EXPECT_THAT(
      SizesOf(R"(
    @R.function(private=True)
    def layer(x: R.Tensor(("m", 4), "float32")) -> R.Tensor(("m", 4), "float32"):
        m = T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((m, 4), "float32"))
        return a

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("k", 4), "float32")):
        cls = Module
        a = cls.layer(x)
        b = cls.layer(y)
        c = cls.layer(a)
        return (b, c)
)",
              {{"n", 7}, {"k", 9}}),
      ElementsAre(Pair("relu", ElementsAre(DimSize{7, 4}, DimSize{9, 4}))));
}

TEST(CallSizesTest, WhatContentsDecideIsNotThere) {
  EXPECT_THAT(SizesOf(R"(
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        k = T.int64()
        cls = Module
        u = R.unique(x)
        v = R.match_cast(u, R.Tensor((k,), "float32"))
        y = R.reshape(v, (k, 1))
        a = R.call_tir(cls.relu, (y,), out_sinfo=R.Tensor((k, 1), "float32"))
        return a
)",
                      {{"n", 7}}),
              IsEmpty());
}

TEST(CallSizesTest, AFunctionThatCallsItselfEnds) {
  EXPECT_THAT(SizesOf(R"(
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, 4), "float32"))
        b: R.Tensor((n, 4), "float32") = cls.main(a)
        return b
)",
                      {{"n", 7}}),
              ElementsAre(Pair("relu", ElementsAre(DimSize{7, 4}))));
}

}  // namespace
}  // namespace kiln
