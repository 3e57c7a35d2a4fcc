#include "kiln/tools/tuning/tune_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kN = 24;

class TuneFunctionTest : public testing::Test {
 protected:
  TuneFunctionTest() {
    const std::string path = testing::TempDir() + "/machine.json";
    KILN_EXPECT_OK(SaveMachine(DescribeMachine(), path));
    setenv("KILN_MACHINE", path.c_str(), 1);
    options_.target.num_cores = 2;
    options_.trials = 4;
  }

  static Function Product(const std::string& suffix = "") {
    return MakeWorkload("gmm:24,24,24" + suffix)->functions[0];
  }

  // C = A * B, by whole numbers that floats hold exactly.
  static void ExpectProduct(const TunedFunction& tuned) {
    const DType f32 = DType::Float(32);
    // Named workloads have a batch.
    std::vector<int64_t> shape = {kN, kN};
    if (tuned.signature().buffers[0].shape.size() == 3) {
      shape.insert(shape.begin(), 1);
    }
    KILN_ASSERT_OK_AND_ASSIGN(auto a, NDArray::Empty(shape, f32));
    KILN_ASSERT_OK_AND_ASSIGN(auto b, NDArray::Empty(shape, f32));
    KILN_ASSERT_OK_AND_ASSIGN(auto c, NDArray::Empty(shape, f32));
    FillSmallInts(a, -4, 4, 1);
    FillSmallInts(b, -4, 4, 2);
    KILN_ASSERT_OK(tuned.Call({a, b, c}));
    const auto x = a.elements<float>(), y = b.elements<float>(),
               z = c.elements<float>();
    for (int64_t i = 0; i < kN * kN; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < kN; ++k) {
        sum += x[i / kN * kN + k] * y[k * kN + i % kN];
      }
      ASSERT_EQ(z[i], sum);
    }
  }

  TuneFunctionOptions options_;
};

TEST_F(TuneFunctionTest, GivesAKernelThatCanBeCalled) {
  KILN_ASSERT_OK_AND_ASSIGN(const TunedFunction tuned,
                            Tune(Product(), options_));
  EXPECT_EQ(tuned.trials(), 4);
  EXPECT_GT(tuned.us(), 0);
  EXPECT_EQ(tuned.folder(), "");
  EXPECT_THAT(tuned.trace(), HasSubstr("sch."));
  EXPECT_EQ(tuned.signature().params.size(), 3u);
  ExpectProduct(tuned);
}

TEST_F(TuneFunctionTest, TheSameCallAgainResumesAndLeavesFiles) {
  options_.folder = testing::TempDir() + "/tuned";
  KILN_ASSERT_OK(Tune(Product(), options_).status());
  options_.trials = 5;
  KILN_ASSERT_OK_AND_ASSIGN(const TunedFunction tuned,
                            Tune(Product(), options_));
  EXPECT_EQ(tuned.trials(), 5);
  for (const char* file :
       {"kernel.o", "kernel.so", "kernel.h", "example.c", "best.py"}) {
    KILN_EXPECT_OK(ReadFile(tuned.folder() + "/" + file).status());
  }
  ExpectProduct(tuned);
}

TEST_F(TuneFunctionTest, WithoutTrialsTheModelChooses) {
  options_.trials = 0;
  KILN_ASSERT_OK_AND_ASSIGN(const TunedFunction tuned,
                            Tune(Product(), options_));
  EXPECT_EQ(tuned.us(), 0);
  ExpectProduct(tuned);
}

TEST_F(TuneFunctionTest, WhatIsLaidOutAheadIsLaidOutByTheCall) {
  KILN_ASSERT_OK_AND_ASSIGN(const TunedFunction tuned,
                            Tune(Product(":layout_free"), options_));
  ExpectProduct(tuned);
}

TEST_F(TuneFunctionTest, TakesASpace) {
  options_.space = R"py(
def space(sch):
    i, j, k = sch.get_loops(sch.get_block("C"))
    sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=8))
)py";
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("mm", R"py(
@T.prim_func
def mm(A: T.Buffer((24, 24), "float32"), B: T.Buffer((24, 24), "float32"), C: T.Buffer((24, 24), "float32")):
    for i, j, k in T.grid(24, 24, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)py"));
  KILN_ASSERT_OK_AND_ASSIGN(const TunedFunction tuned, Tune(f, options_));
  EXPECT_THAT(tuned.trace(), HasSubstr("sample_perfect_tile"));
  EXPECT_THAT(tuned.trace(), Not(HasSubstr("vectorize")));
  ExpectProduct(tuned);
}

TEST_F(TuneFunctionTest, BadOptionsAreRefused) {
  options_.trials = -1;
  EXPECT_THAT(std::string(Tune(Product(), options_).status().message()),
              HasSubstr("trials is -1"));
  options_.trials = 1;
  options_.max_seconds = 0;
  EXPECT_THAT(std::string(Tune(Product(), options_).status().message()),
              HasSubstr("max_seconds"));
  options_.max_seconds = 10;
  options_.space = "def space(sch):\n    sch.get_block(\"nonsense\")\n";
  EXPECT_THAT(std::string(Tune(Product(), options_).status().message()),
              HasSubstr("nonsense"));
}

}  // namespace
}  // namespace kiln
