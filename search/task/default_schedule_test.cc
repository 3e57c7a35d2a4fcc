#include "kiln/search/task/default_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

ThreadPool& Pool() {
  static ThreadPool pool({.num_threads = 2});
  return pool;
}

absl::StatusOr<DefaultSchedule> Default(
    const Module& module, const DefaultScheduleOptions& options = {},
    ThreadPool* pool = &Pool()) {
  return ScheduleByDefault(module, 0, Machine{.vectors = kAvx512Registers}, 2,
                           pool, options);
}

class DefaultScheduleTest : public testing::TestWithParam<const char*> {};

TEST_P(DefaultScheduleTest, ComputesTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(GetParam()));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(module, {.draws = 32}));
  KILN_EXPECT_OK(
      CheckCloseResults(module.functions[0], best.scheduled, /*seed=*/3));
}

TEST_P(DefaultScheduleTest, ItsTraceLeadsThere) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(GetParam()));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            Default(module, {.draws = 32}));
  KILN_ASSERT_OK_AND_ASSIGN(const Function replayed,
                            ReplayTrace(module, 0, best.trace));
  EXPECT_EQ(CanonicalForm(replayed), CanonicalForm(best.scheduled));
}

INSTANTIATE_TEST_SUITE_P(Workloads, DefaultScheduleTest,
                         testing::Values("gmm:19,37,23", "c1d:21,5,20,3,2,1",
                                         "dep:9,11,20,3,1,1", "nrm:19,21",
                                         "sfm:9,35", "t2d:4,4,6,18,4,2,1"));

TEST(DefaultScheduleTest, IsEstimatedFarBelowTheProgramAsItStands) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            MakeWorkload("gmm:512,512,512"));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best, Default(module));
  const double plain =
      EstimateTime(Summarize(module.functions[0]), Machine{}, 2).seconds;
  EXPECT_LT(best.seconds, plain / 8);
}

TEST(DefaultScheduleTest, IsTheSameOnAnyNumberOfThreads) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("sfm:64,96"));
  ThreadPool one({.num_threads = 1});
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule a, Default(module));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule b, Default(module, {}, &one));
  EXPECT_EQ(a.trace, b.trace);
}

TEST(DefaultScheduleTest, MoreDrawsAreNeverEstimatedToBeSlower) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("gmm:96,64,80"));
  double last = 1;
  for (int draws : {1, 4, 16, 64}) {
    KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                              Default(module, {.draws = draws}));
    EXPECT_LE(best.seconds, last) << draws;
    last = best.seconds;
  }
}

constexpr char kNothingToDo[] = R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
    with T.block("B"):
        vi = T.axis.spatial(1, 0)
        B[vi] = A[vi]
)";

TEST(DefaultScheduleTest, AFunctionThatNoRuleChangesStaysAsItIs) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseModule("copy.py", kNothingToDo));
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best, Default(module));
  KILN_EXPECT_OK(CheckCloseResults(module.functions[0], best.scheduled, 1));
}

class RefusingSpace : public Space {
 public:
  absl::StatusOr<Candidate> Sample(uint64_t, uint64_t index) const override {
    return absl::FailedPreconditionError(absl::StrCat("refusal ", index));
  }
  absl::StatusOr<Candidate> At(const Point&) const override {
    return Sample(0, 0);
  }
  absl::StatusOr<Candidate> Mutate(const Point&, uint64_t) const override {
    return Sample(0, 0);
  }
  absl::StatusOr<Candidate> Cross(const Point&, const Point&,
                                  uint64_t) const override {
    return Sample(0, 0);
  }
  std::string TraceText(const Point&) const override { return ""; }
  std::string DecisionText(const Point&) const override { return ""; }
  std::optional<Point> Locate(const std::string&) const override {
    return std::nullopt;
  }
};

TEST(DefaultScheduleTest, SaysWhyNothingAppliesInASpaceOfRefusals) {
  EXPECT_THAT(
      BestEstimated(RefusingSpace(), Machine{}, 1, &Pool(), {.draws = 3})
          .status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("refusal 2")));
}

}  // namespace
}  // namespace kiln
