// A function of n rows with records of up to three schedules at up to three
// sizes: which of them serve which calls, where a change of the schedule pays,
// and which functions find these records.
#include "kiln/search/database/by_size.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Called `name`, of tensors called `in` and `out`.
std::string Program(const std::string& name, const std::string& in,
                    const std::string& out) {
  return absl::StrCat(R"(
@I.ir_module
class Module:
    @T.prim_func
    def )",
                      name, "(a: T.handle, b: T.handle):", R"(
        n = T.int64()
        )",
                      in, R"( = T.match_buffer(a, (n, 48), "float32")
        )",
                      out, R"( = T.match_buffer(b, (n, 48), "float32")
        for i, j in T.grid(n, 48):
            with T.block(")",
                      out, R"("):
                vi, vj = T.axis.remap("SS", [i, j])
                )",
                      out, "[vi, vj] = ", in, "[vi, vj] + ", in, "[vi, vj]\n");
}

constexpr char kStart[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("B", "main")
    l1, l2 = sch.get_loops(b0)
)";

std::string Trace(const std::string& step) {
  return absl::StrCat(kStart, "    ", step, "\n");
}

class BySizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(database_, Database::InMemory());
    module_ = *ParseModule("m.py", Program("main", "A", "B"));
  }

  // A trial of the step at this size.
  void Add(int64_t size, const std::string& step, double ns) {
    Module timed = module_;
    SetTimedSize(&timed.functions[0], {size});
    SetTimedSizes(&timed, sizes_);
    const Workload workload = WorkloadOf(timed, "main");
    KILN_ASSERT_OK(database_->AddWorkload(workload));
    TuningRecord record;
    record.workload_key = workload.key;
    record.target = "cpu";
    record.program_hash = step;
    record.trace = Trace(step);
    record.latency_min_ns = record.latency_median_ns = ns;
    record.samples = 3;
    KILN_ASSERT_OK(database_->CommitTrial(record).status());
  }

  absl::StatusOr<BestProgram> Find() {
    return FindBestBySize(*database_, module_.functions[0], "cpu");
  }

  std::string Found() {
    const absl::StatusOr<BestProgram> best = Find();
    if (!best.ok()) return best.status().ToString();
    Module module;
    module.functions.push_back(best->scheduled);
    return PrintModule(module);
  }

  Module module_;
  std::vector<DimSize> sizes_;  // at which it is to be timed
  std::unique_ptr<Database> database_;
};

constexpr char kParallel[] = "sch.parallel(l1)";
constexpr char kVectors[] = "sch.vectorize(l2)";
constexpr char kUnroll[] = "sch.unroll(l2)";

TEST_F(BySizeTest, EachSizeGetsItsFastestProgram) {
  Add(1, kVectors, 10);
  Add(1, kParallel, 100);
  Add(64, kVectors, 800);
  Add(64, kParallel, 200);
  const std::string found = Found();
  EXPECT_THAT(found, HasSubstr("if n <= 8:"));
  EXPECT_THAT(found, HasSubstr("T.vectorized(48)"));
  EXPECT_THAT(found, HasSubstr("T.parallel(n)"));
  EXPECT_THAT(found, Not(HasSubstr(kTimedSize)));
  KILN_ASSERT_OK_AND_ASSIGN(const BestProgram best, Find());
  EXPECT_THAT(best.record.trace, HasSubstr("# n <= 8\n"));
  EXPECT_EQ(best.record.latency_min_ns, 200);
}

TEST_F(BySizeTest, AChangeHasToPay) {
  Add(1, kVectors, 1000);
  Add(1, kParallel, 1010);
  Add(64, kVectors, 1010);
  Add(64, kParallel, 1000);
  EXPECT_THAT(Found(), Not(HasSubstr("if n")));
}

TEST_F(BySizeTest, OneProgramThatIsGoodEverywhereStandsAlone) {
  for (const int64_t size : {1, 16, 64}) {
    Add(size, kVectors, 10);
    Add(size, kParallel, 20);
  }
  EXPECT_THAT(Found(), Not(HasSubstr("if n")));
}

TEST_F(BySizeTest, ThreeSizesMayHaveThreePrograms) {
  const std::vector<std::string> steps = {kVectors, kUnroll, kParallel};
  const std::vector<int64_t> sizes = {1, 16, 100};
  for (size_t s = 0; s < sizes.size(); ++s) {
    for (size_t p = 0; p < steps.size(); ++p) {
      Add(sizes[s], steps[p], s == p ? 10 : 100);
    }
  }
  const std::string found = Found();
  EXPECT_THAT(found, HasSubstr("if n <= 4:"));
  EXPECT_THAT(found, HasSubstr("n <= 40:"));
}

TEST_F(BySizeTest, AProgramServesWhereItWasTimed) {
  Add(1, kVectors, 10);
  Add(64, kParallel, 200);
  EXPECT_THAT(Found(), HasSubstr("if n <= 8:"));
}

TEST_F(BySizeTest, ATraceThatDoesNotApplyIsPassedOver) {
  Add(1, "sch.parallel(l7)", 1);
  Add(64, "sch.parallel(l7)", 1);
  EXPECT_THAT(Found(), HasSubstr("has no programs"));
  Add(1, kVectors, 10);
  Add(64, kParallel, 200);
  EXPECT_THAT(Found(), HasSubstr("if n <= 8:"));
}

TEST_F(BySizeTest, SizesThatAreStillToBeTimedAreWaitedFor) {
  sizes_ = {{1}, {64}};
  Add(1, kVectors, 10);
  EXPECT_THAT(Found(), HasSubstr("none yet at 64"));
  Add(64, kParallel, 200);
  EXPECT_THAT(Found(), HasSubstr("if n <= 8:"));
}

TEST_F(BySizeTest, NamesDoNotCount) {
  Add(1, kVectors, 10);
  Add(64, kVectors, 200);
  module_ = *ParseModule("m.py", Program("twice", "X", "Y"));
  EXPECT_THAT(Found(), HasSubstr("T.vectorized(48)"));
}

TEST_F(BySizeTest, OtherFunctionsAreNotFound) {
  Add(1, kVectors, 10);
  Module other = *ParseModule("m.py", Program("main", "A", "B"));
  other.functions[0].attrs["tir.noalias"] = Attr(Bool(true));
  EXPECT_EQ(
      FindBestBySize(*database_, other.functions[0], "cpu").status().code(),
      absl::StatusCode::kNotFound);
  EXPECT_EQ(
      FindBestBySize(*database_, module_.functions[0], "gpu").status().code(),
      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace kiln
