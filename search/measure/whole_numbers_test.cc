#include "kiln/search/measure/whole_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// Whether the last parameter is exact on ±1, and the magnitude that is drawn.
struct Plan {
  bool exact;
  int64_t magnitude;
};

Plan PlanOf(const Function& f) {
  const size_t count = f.params.size();
  std::vector<bool> is_drawn(count, true);
  is_drawn.back() = false;
  const int64_t magnitude =
      LargestExactMagnitude(f, is_drawn, std::vector<double>(count));
  std::vector<double> magnitudes(count, static_cast<double>(magnitude));
  magnitudes.back() = 0;
  return {ExactBuffers(f, magnitudes).back(), magnitude};
}

Plan PlanOf(const std::string& spec) {
  const absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  return PlanOf(module->functions[0]);
}

// A matmul of the types given, whose sums have k terms.
Function Matmul(const std::string& type, const std::string& sum, int64_t k) {
  const std::string n = std::to_string(k);
  const absl::StatusOr<Function> f = ParseFunction(
      "f.py",
      "@T.prim_func\n"
      "def main(A: T.Buffer((8, " +
          n + "), \"" + type +
          "\"),\n"
          "         B: T.Buffer((" +
          n + ", 8), \"" + type +
          "\"),\n"
          "         C: T.Buffer((8, 8), \"" +
          sum +
          "\")):\n"
          "    for i, j, k in T.grid(8, 8, " +
          n +
          "):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "            with T.init():\n"
          "                C[vi, vj] = T." +
          sum +
          "(0)\n"
          "            C[vi, vj] = C[vi, vj] + T.Cast(\"" +
          sum + "\", A[vi, vk]) * T.Cast(\"" + sum + "\", B[vk, vj])\n");
  EXPECT_TRUE(f.ok()) << f.status();
  return *f;
}

TEST(WholeNumbersTest, SumsOfTheWorkloadsAreExact) {
  for (const char* spec : {"gmm:1024,1024,1024", "c1d", "c2d", "c3d", "dep",
                           "grp", "dil", "t2d", "cap", "cbr", "tbg"}) {
    EXPECT_TRUE(PlanOf(std::string(spec)).exact) << spec;
  }
}

TEST(WholeNumbersTest, ANormIsExactAndASoftmaxIsNot) {
  EXPECT_TRUE(PlanOf("nrm:4096,1024").exact);
  EXPECT_EQ(PlanOf("nrm:4096,1024").magnitude, 2);
  EXPECT_FALSE(PlanOf("sfm:64,64").exact);
}

TEST(WholeNumbersTest, TheLengthOfASumAndItsTypeDecideTheRange) {
  EXPECT_EQ(PlanOf(Matmul("float32", "float32", 1 << 20)).magnitude, 3);
  EXPECT_EQ(PlanOf(Matmul("float32", "float32", 1 << 22)).magnitude, 2);
  EXPECT_EQ(PlanOf(Matmul("float16", "float16", 227)).magnitude, 3);
  EXPECT_EQ(PlanOf(Matmul("float16", "float16", 512)).magnitude, 2);
  EXPECT_EQ(PlanOf(Matmul("float16", "float16", 2048)).magnitude, 1);
  EXPECT_TRUE(PlanOf(Matmul("float16", "float16", 2048)).exact);
  EXPECT_FALSE(PlanOf(Matmul("float16", "float16", 2049)).exact);
  EXPECT_TRUE(PlanOf(Matmul("bfloat16", "bfloat16", 256)).exact);
  EXPECT_FALSE(PlanOf(Matmul("bfloat16", "bfloat16", 257)).exact);
  EXPECT_TRUE(PlanOf(Matmul("float16", "float32", 1 << 20)).exact);
  EXPECT_TRUE(PlanOf(Matmul("int8", "int32", 1 << 20)).exact);
  EXPECT_TRUE(PlanOf(Matmul("int8", "int8", 1 << 20)).exact);
}

TEST(WholeNumbersTest, DrawsAllButZero) {
  NDArray array = *NDArray::Zeros({1000}, DType::Float(32));
  FillWholeNumbers(array, 2, 7);
  int counts[5] = {};
  for (float value : array.elements<float>()) {
    ASSERT_EQ(value, static_cast<int>(value));
    ASSERT_LE(std::abs(value), 2);
    ++counts[static_cast<int>(value) + 2];
  }
  EXPECT_EQ(counts[2], 0);
  for (int i : {0, 1, 3, 4}) EXPECT_GT(counts[i], 150);
}

}  // namespace
}  // namespace kiln
