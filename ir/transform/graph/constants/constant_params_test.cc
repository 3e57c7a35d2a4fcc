#include "kiln/ir/transform/graph/constants/constant_params.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// f(a, b, c) writes c; `main` is the body of a graph function over x and y.
Module With(const std::string& main) {
  return ReadModule(R"(
@I.ir_module
class M:
    @T.prim_func
    def f(a: T.Buffer((2, 2), "float32"), b: T.Buffer((2, 2), "float32"), c: T.Buffer((2, 2), "float32")):
        for i, j in T.grid(2, 2):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] * b[vj, vi]
    @R.function
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")):
        cls = M
)" + main);
}

std::string Call(const std::string& name, const std::string& args) {
  return "        " + name + " = R.call_tir(cls.f, (" + args +
         "), out_sinfo=R.Tensor((2, 2), \"float32\"))\n";
}

constexpr char kConst[] = "R.const([[1.0, 2.0], [3.0, 4.0]], \"float32\")";

TEST(ConstantParamsTest, EveryCallHasToGiveAConstant) {
  const std::string c = kConst;
  EXPECT_THAT(ConstantParams(With(Call("u", "x, " + c) + Call("v", "u, " + c) +
                                  "        return v\n")),
              ElementsAre(Pair("f", ElementsAre(1))));
  EXPECT_THAT(ConstantParams(With(Call("u", c + ", " + c) +
                                  Call("v", "u, " + c) + "        return v\n")),
              ElementsAre(Pair("f", ElementsAre(1))));
  EXPECT_THAT(ConstantParams(With(Call("u", "x, " + c) + Call("v", "u, y") +
                                  "        return v\n")),
              IsEmpty());
}

TEST(ConstantParamsTest, OtherUsesMayGiveAnything) {
  const std::string call = Call("u", std::string("x, ") + kConst);
  EXPECT_THAT(
      ConstantParams(
          With(call +
               "        v = R.call_dps_packed(\"f\", (u, y), "
               "out_sinfo=R.Tensor((2, 2), \"float32\"))\n        return v\n")),
      IsEmpty());
  EXPECT_THAT(ConstantParams(With(call + "        return (u, cls.f)\n")),
              IsEmpty());
}

TEST(ConstantParamsTest, MarksAreAddedToThoseOfTheAuthor) {
  Module module =
      With(Call("u", std::string("x, ") + kConst) + "        return u\n");
  KILN_ASSERT_OK_AND_ASSIGN(Module marked, MarkConstantParams(module));
  EXPECT_THAT(LayoutFreeParams(*marked.Find("f")), ElementsAre(1));
  SetLayoutFree(module.Find("f"), {0});
  KILN_ASSERT_OK_AND_ASSIGN(marked, MarkConstantParams(module));
  EXPECT_THAT(LayoutFreeParams(*marked.Find("f")), ElementsAre(0, 1));
  KILN_ASSERT_OK_AND_ASSIGN(marked, MarkConstantParams(marked));
  EXPECT_THAT(LayoutFreeParams(*marked.Find("f")), ElementsAre(0, 1));
}

TEST(ConstantParamsTest, ConstantsBeyondTheCachesAreCold) {
  const Module module =
      With(Call("u", std::string("x, ") + kConst) + "        return u\n");
  KILN_ASSERT_OK_AND_ASSIGN(Module marked, MarkConstantParams(module, 16));
  EXPECT_FALSE(HasColdConstants(*marked.Find("f")));
  KILN_ASSERT_OK_AND_ASSIGN(marked, MarkConstantParams(module, 15));
  EXPECT_TRUE(HasColdConstants(*marked.Find("f")));
}

TEST(ConstantParamsTest, VectorsStayAsTheyAre) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module marked,
                            MarkConstantParams(ReadModule(R"(
@I.ir_module
class M:
    @T.prim_func
    def f(a: T.Buffer((2,), "float32"), c: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("c"):
                vi = T.axis.spatial(2, i)
                c[vi] = a[vi] + T.float32(1)
    @R.function
    def main():
        cls = M
        y = R.call_tir(cls.f, (R.const([1.0, 2.0], "float32"),), out_sinfo=R.Tensor((2,), "float32"))
        return y
)")));
  EXPECT_THAT(LayoutFreeParams(marked.functions[0]), IsEmpty());
}

}  // namespace
}  // namespace kiln
