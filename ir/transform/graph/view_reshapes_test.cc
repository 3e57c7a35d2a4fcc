#include "kiln/ir/transform/graph/view_reshapes.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

const std::vector<std::string> kPasses = {"view_reshapes"};

// Around the lines of a dataflow block and what it puts out.
std::string With(const std::string& lines, const std::string& output = "z") {
  return R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def flatten(A: T.Buffer((4, 8), "float32"), C: T.Buffer((32,), "float32")):
        for i in range(32):
            with T.block("C"):
                vi = T.axis.spatial(32, i)
                C[vi] = A[vi // 8, vi % 8]

    @T.prim_func(private=True)
    def twice(A: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
        for i in range(32):
            with T.block("C"):
                vi = T.axis.spatial(32, i)
                C[vi] = A[vi] * T.float32(2)

    @T.prim_func(private=True)
    def exp(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.exp(A[vi, vj])

    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        cls = Module
)" + std::string("        with R.dataflow():\n") +
         lines + "            R.output(" + output + ")\n        return " +
         output + "\n";
}

constexpr char kExp[] =
    "            y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4, 8), "
    "\"float32\"))\n";
constexpr char kFlatten[] =
    "            v = R.call_tir(cls.flatten, (y,), out_sinfo=R.Tensor((32,), "
    "\"float32\"))\n";
constexpr char kView[] = "            v = R.memory.view(y, R.shape([32]))\n";
constexpr char kTwice[] =
    "            z = R.call_tir(cls.twice, (v,), out_sinfo=R.Tensor((32,), "
    "\"float32\"))\n";

std::string Lines(const char* a, const char* b, const char* c) {
  return std::string(a) + b + c;
}

TEST(ViewReshapesTest, AReshapeBetweenKernelsIsAView) {
  EXPECT_EQ(DifferenceAfter(kPasses, With(Lines(kExp, kFlatten, kTwice)),
                            With(Lines(kExp, kView, kTwice))),
            "");
}

TEST(ViewReshapesTest, AParameterThatOnlyKernelsReadMayBeSharedToo) {
  const std::string flatten =
      "            v = R.call_tir(cls.flatten, (x,), out_sinfo=R.Tensor((32,), "
      "\"float32\"))\n";
  const std::string view = "            v = R.memory.view(x, R.shape([32]))\n";
  EXPECT_EQ(
      DifferenceAfter(kPasses, With(flatten + kTwice), With(view + kTwice)),
      "");
}

// Expects that no view comes of it.
void ExpectKept(const std::string& text) {
  EXPECT_EQ(DifferenceAfter(kPasses, text, text), "");
}

TEST(ViewReshapesTest, WhatTheCallerGetsHasMemoryOfItsOwn) {
  ExpectKept(With(Lines(kExp, kFlatten, ""), "v"));
  ExpectKept(With(Lines(kExp, kFlatten, kTwice), "y, z"));
  ExpectKept(With(Lines(kExp, kFlatten, kTwice), "v, z"));
}

TEST(ViewReshapesTest, WhatACallMayChangeIsNotShared) {
  const std::string in_place =
      "            w = R.call_tir_inplace(cls.exp, (y,), inplace_indices=[0], "
      "out_sinfo=[R.Tensor((4, 8), \"float32\")])\n";
  ExpectKept(With(Lines(kExp, kFlatten, in_place.c_str()) + kTwice, "w, z"));
  const std::string packed =
      "            u = R.call_dps_packed(\"some.function\", (v,), "
      "out_sinfo=R.Tensor((32,), \"float32\"))\n";
  ExpectKept(With(Lines(kExp, kFlatten, kTwice) + packed, "u, z"));
}

}  // namespace
}  // namespace kiln
