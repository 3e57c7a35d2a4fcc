#include "kiln/search/feature/store_features.h"

#include <cmath>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/random_trace.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {
namespace {

Function Parse(const std::string& text) {
  absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? *f : Function();
}

FeatureMatrix FeaturesOf(const std::string& text) {
  return StoreFeatures(Summarize(Parse(text)));
}

// The value of a column before it was scaled.
double Raw(const FeatureMatrix& matrix, int row, const std::string& name) {
  const std::vector<std::string>& names = StoreFeatureNames();
  for (int i = 0; i < kNumStoreFeatures; ++i) {
    if (names[i] != name) continue;
    const double value = matrix.row(row)[i];
    return value < 0 ? 1 - std::exp2(-value) : std::exp2(value) - 1;
  }
  ADD_FAILURE() << "no feature " << name;
  return -1;
}

double Flag(const FeatureMatrix& matrix, int row, const std::string& name) {
  return std::log2(1 + Raw(matrix, row, name));
}

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((64, 128), "float32"), C: T.Buffer((32, 128), "float32")):
    for i in T.parallel(32):
        for j_0, k in T.grid(8, 64):
            for j_1 in T.vectorized(16):
                with T.block("C"):
                    vi = T.axis.spatial(32, i)
                    vj = T.axis.spatial(128, j_0 * 16 + j_1)
                    vk = T.axis.reduce(64, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(StoreFeaturesTest, HasTheDocumentedNumberOfDistinctNames) {
  const std::vector<std::string>& names = StoreFeatureNames();
  EXPECT_EQ(names.size(), 164u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 164u);
}

TEST(StoreFeaturesTest, CountsOperationsOverAllIterations) {
  const FeatureMatrix m = FeaturesOf(kMatmul);
  ASSERT_EQ(m.rows, 1);
  EXPECT_NEAR(Raw(m, 0, "float_mad"), 32 * 128 * 64, 2);
  EXPECT_EQ(Raw(m, 0, "float_mul"), 0);
  EXPECT_NEAR(Raw(m, 0, "nest.iterations"), 32 * 128 * 64, 2);
  EXPECT_NEAR(Raw(m, 0, "nest.loops"), 4, 1e-5);
}

TEST(StoreFeaturesTest, DescribesAnnotatedLoops) {
  const FeatureMatrix m = FeaturesOf(kMatmul);
  EXPECT_NEAR(Raw(m, 0, "vectorize.loops"), 1, 1e-5);
  EXPECT_NEAR(Raw(m, 0, "vectorize.innermost"), 16, 1e-4);
  EXPECT_EQ(Flag(m, 0, "vectorize.inner_spatial"), 1);
  EXPECT_NEAR(Raw(m, 0, "parallel.product"), 32, 1e-4);
  EXPECT_EQ(Flag(m, 0, "parallel.outer_spatial"), 1);
  EXPECT_EQ(Flag(m, 0, "unroll.none"), 1);
  EXPECT_EQ(Flag(m, 0, "is_gpu"), 0);
}

TEST(StoreFeaturesTest, DescribesAccessesBySizeOfTraffic) {
  const FeatureMatrix m = FeaturesOf(kMatmul);
  // C and B move a line in each iteration of k, A one in 16.
  const double iterations = 32.0 * 128 * 64;
  EXPECT_NEAR(Raw(m, 0, "buffer0.bytes") / (iterations * 4 * 2), 1, 1e-3);
  EXPECT_EQ(Flag(m, 0, "buffer0.is_read_written"), 1);
  EXPECT_NEAR(Raw(m, 0, "buffer0.unique_bytes"), 32 * 128 * 4, 1);
  EXPECT_NEAR(Raw(m, 0, "buffer0.unique_lines"), 32 * 128 * 4 / 64, 0.1);
  EXPECT_NEAR(Raw(m, 0, "buffer0.stride"), 1, 1e-5);
  // C stays while k runs: 64 uses, one vector apart.
  EXPECT_EQ(Flag(m, 0, "buffer0.reuse_in_loop"), 1);
  EXPECT_NEAR(Raw(m, 0, "buffer0.reuse_count"), 64, 1e-3);
  EXPECT_NEAR(Raw(m, 0, "buffer0.reuse_iterations"), 16, 1e-3);
  EXPECT_EQ(Raw(m, 0, "buffer3.bytes"), 0);
}

TEST(StoreFeaturesTest, IntensityGrowsWithTheTile) {
  const FeatureMatrix m = FeaturesOf(kMatmul);
  // One multiply-add on 12 bytes; the whole: 2^18 of them on 56 KiB.
  EXPECT_NEAR(Raw(m, 0, "intensity0"), 1.0 / 12, 1e-5);
  EXPECT_NEAR(Raw(m, 0, "intensity9"),
              32.0 * 128 * 64 / (4 * (32 * 64 + 64 * 128 + 32 * 128)), 1e-2);
}

TEST(StoreFeaturesTest, FollowsUnrollPragmas) {
  const FeatureMatrix m = FeaturesOf(R"(
@T.prim_func
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    for i in T.serial(32, annotations={"pragma_auto_unroll_max_step": 64}):
        with T.block("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = T.exp(A[vi])
)");
  EXPECT_NEAR(Raw(m, 0, "nest.unroll_steps"), 64, 1e-3);
  EXPECT_NEAR(Raw(m, 0, "float_math_func"), 32, 1e-3);
}

TEST(StoreFeaturesTest, KnowsThreadsOfAGpu) {
  const FeatureMatrix m = FeaturesOf(R"(
@T.prim_func
def main(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for j in T.thread_binding(128, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(1024, i * 128 + j)
                B[vi] = A[vi] + T.float32(1)
)");
  EXPECT_EQ(Flag(m, 0, "is_gpu"), 1);
  EXPECT_NEAR(Raw(m, 0, "blockIdx.x"), 7, 1e-4);
  EXPECT_NEAR(Raw(m, 0, "threadIdx.x"), 127, 1e-3);
  EXPECT_EQ(Raw(m, 0, "threadIdx.y"), 0);
}

TEST(StoreFeaturesTest, NamesMakeNoDifference) {
  std::string renamed = kMatmul;
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"vi", "row"},
        {"vk", "inner"},
        {"j_0", "outer"},
        {"\"C\"", "\"product\""},
        {"A", "Left"}}) {
    for (size_t at = 0; (at = renamed.find(from, at)) != std::string::npos;
         at += to.size()) {
      renamed.replace(at, from.size(), to);
    }
  }
  EXPECT_EQ(FeaturesOf(renamed).values, FeaturesOf(kMatmul).values);
}

TEST(StoreFeaturesTest, TilesDiffer) {
  std::string other = kMatmul;
  other.replace(other.find("T.grid(8, 64)"), 13, "T.grid(4, 64)");
  other.replace(other.find("T.vectorized(16)"), 16, "T.vectorized(32)");
  other.replace(other.find("j_0 * 16"), 8, "j_0 * 32");
  EXPECT_NE(FeaturesOf(other).values, FeaturesOf(kMatmul).values);
}

TEST(StoreFeaturesTest, AreFiniteForEveryWorkload) {
  for (const WorkloadInfo& info : Workloads()) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(info.name));
    const FeatureMatrix m = StoreFeatures(Summarize(module.functions[0]));
    EXPECT_GT(m.rows, 0);
    for (float value : m.values) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(StoreFeaturesTest, AreFiniteWhereExtentsAreHuge) {
  const FeatureMatrix m = FeaturesOf(R"(
@T.prim_func
def main(A: T.Buffer((1099511627776,), "float32")):
    for a, b, c, d in T.grid(1099511627776, 1099511627776, 1099511627776, 1099511627776):
        for e, f, g in T.grid(1099511627776, 1099511627776, 1099511627776):
            with T.block("A"):
                vi = T.axis.opaque(1099511627776, a)
                A[vi] = T.float32(0)
)");
  for (float value : m.values) ASSERT_TRUE(std::isfinite(value));
}

TEST(StoreFeaturesTest, AreFiniteAndTheSameAgainForRandomSchedules) {
  StepCounts counts;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    KILN_ASSERT_OK_AND_ASSIGN(
        Schedule sch, RandomSchedule(RandomProgram(seed), seed, &counts));
    const Function f = sch.ToModule().functions[0];
    const FeatureMatrix m = StoreFeatures(Summarize(f));
    for (float value : m.values) ASSERT_TRUE(std::isfinite(value));
    EXPECT_EQ(StoreFeatures(Summarize(f)).values, m.values);
  }
}

}  // namespace
}  // namespace kiln
