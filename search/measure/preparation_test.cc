// What is laid out ahead is run, checked and not timed: one function reads a
// transposed argument, and its schedules make the transpose in a block that is
// marked as a preparation, rightly and wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kHead[] = R"(
@T.prim_func
def main(x: T.Buffer((40, 30), "float32"), w: T.Buffer((30, 40), "float32"), y: T.Buffer((40, 30), "float32")):
    T.func_attr({"layout_free_buffers": [1]})
)";

Function Original() {
  return *ParseFunction("m.py", std::string(kHead) + R"(
    for i, j in T.grid(40, 30):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = x[vi, vj] + w[vj, vi]
)");
}

// The transposed w is made ahead, `times` times over, as `value`.
Function Ahead(const std::string& value, int times = 1) {
  return *ParseFunction("m.py", std::string(kHead) + R"(
    t = T.alloc_buffer((40, 30))
    for r, i, j in T.grid()" + std::to_string(times) +
                                    R"(, 40, 30):
        with T.block("t"):
            vr, vi, vj = T.axis.remap("SSS", [r, i, j])
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            t[vi, vj] = )" + value + R"(
    for i, j in T.grid(40, 30):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = x[vi, vj] + t[vi, vj]
)");
}

class PreparationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(runner_, LocalRunner::Create());
    KILN_ASSERT_OK_AND_ASSIGN(
        task_, MakeReferenceTask(Original(), builder_, *runner_));
  }

  MeasureResult Measure(const Function& f) {
    const absl::StatusOr<BuildResult> build = builder_.Build(f);
    EXPECT_TRUE(build.ok()) << build.status();
    EXPECT_TRUE(build.ok() && build->preparation.has_value());
    const auto result = runner_->Measure(*task_, *build, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  std::unique_ptr<LocalRunner> runner_;
  LlvmBuilder builder_{HostTarget()};
  std::shared_ptr<const MeasureTask> task_;
};

TEST_F(PreparationTest, BothPartsTogetherAreChecked) {
  const MeasureResult good = Measure(Ahead("w[vj, vi]"));
  EXPECT_EQ(good.verdict, Verdict::kOk) << good.reason;
  const MeasureResult bad = Measure(Ahead("w[vj, vi] + T.float32(1)"));
  EXPECT_EQ(bad.verdict, Verdict::kWrongResult);
}

TEST_F(PreparationTest, TheRestAloneIsTimed) {
  const MeasureResult once = Measure(Ahead("w[vj, vi]"));
  const MeasureResult often = Measure(Ahead("w[vj, vi]", 20000));
  ASSERT_EQ(often.verdict, Verdict::kOk) << often.reason;
  EXPECT_LT(often.min_ns, 1000 * once.min_ns) << "20000 times is more";
}

// Samples are single calls then, of which there may be more.
TEST_F(PreparationTest, ColdConstantsAreEvictedBeforeEachTimedCall) {
  const Function warm = Ahead("w[vj, vi]");
  Function cold = warm;
  cold.attrs[kColdConstants] = Attr(Bool(true));
  KILN_ASSERT_OK_AND_ASSIGN(const BuildResult build, builder_.Build(cold));
  EXPECT_THAT(build.cold_buffers, ElementsAre(1));
  KILN_ASSERT_OK_AND_ASSIGN(const BuildResult other, builder_.Build(warm));
  EXPECT_THAT(other.cold_buffers, IsEmpty());
  const MeasureResult result = Measure(cold);
  EXPECT_EQ(result.verdict, Verdict::kOk) << result.reason;
  EXPECT_GT(result.samples, MeasureOptions().max_samples);
  EXPECT_LE(Measure(warm).samples, MeasureOptions().max_samples);
}

TEST_F(PreparationTest, AReferenceWithMarksRunsAsAWhole) {
  KILN_EXPECT_OK(MakeReferenceTask(Ahead("w[vj, vi]"), builder_, *runner_));
}

TEST_F(PreparationTest, ScalarsGoToThePartThatUsesThem) {
  const std::string head = R"(
@T.prim_func
def main(beta: T.int32, x: T.Buffer((40,), "float32"), w: T.Buffer((40,), "float32"), alpha: T.float32):
    T.func_attr({"layout_free_buffers": [2]})
)";
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("m.py", head + R"(
    for i in range(40):
        with T.block("x"):
            vi = T.axis.spatial(40, i)
            x[vi] = x[vi] * alpha + w[39 - vi]
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, ParseFunction("m.py", head + R"(
    t = T.alloc_buffer((40,))
    for i in range(40):
        with T.block("t"):
            vi = T.axis.spatial(40, i)
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            t[vi] = w[39 - vi]
    for i in range(40):
        with T.block("x"):
            vi = T.axis.spatial(40, i)
            x[vi] = x[vi] * alpha + t[vi]
)"));
  ReferenceOptions options;
  CallContents& contents = options.contents.emplace();
  contents.scalars = {7, std::bit_cast<int64_t>(0.5)};
  for (uint64_t seed : {1, 2}) {
    KILN_ASSERT_OK_AND_ASSIGN(NDArray array,
                              NDArray::Zeros({40}, DType::Float(32)));
    FillRandom(array, seed);
    contents.buffers.emplace_back(std::move(array));
  }
  KILN_ASSERT_OK_AND_ASSIGN(task_,
                            MakeReferenceTask(f, builder_, *runner_, options));
  const MeasureResult result = Measure(g);
  EXPECT_EQ(result.verdict, Verdict::kOk) << result.reason;
}

TEST_F(PreparationTest, DimensionsGoToThePartThatUsesThem) {
  const std::string head = R"(
@T.prim_func
def main(x: T.handle, w: T.Buffer((30,), "float32"), y: T.handle):
    T.func_attr({"layout_free_buffers": [1], "kiln.timed_size": [3, 17]})
    m = T.int64()
    n = T.int64()
    X = T.match_buffer(x, (m, n, 30), "float32")
    Y = T.match_buffer(y, (n, m, 30), "float32")
)";
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("m.py", head + R"(
    for i, j, k in T.grid(n, m, 30):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vi, vj, vk] = X[vj, vi, vk] + w[29 - vk]
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, ParseFunction("m.py", head + R"(
    t = T.alloc_buffer((30,))
    for k in range(30):
        with T.block("t"):
            vk = T.axis.spatial(30, k)
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            t[vk] = w[29 - vk]
    for i, j, k in T.grid(n, m, 30):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vi, vj, vk] = X[vj, vi, vk] + t[vk]
)"));
  KILN_ASSERT_OK_AND_ASSIGN(task_, MakeReferenceTask(f, builder_, *runner_));
  const MeasureResult result = Measure(g);
  EXPECT_EQ(result.verdict, Verdict::kOk) << result.reason;
}

TEST_F(PreparationTest, WhatCannotBeSplitIsABuildError) {
  EXPECT_THAT(builder_.Build(Ahead("x[vi, vj]")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("uses parameter x")));
}

}  // namespace
}  // namespace kiln
