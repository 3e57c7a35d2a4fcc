// One program, stored with records of a few schedules and targets, and asked
// for by functions that are the same but for names, or nearly the same: which
// record is found, and what is said where there is none.
#include "kiln/search/database/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]
)";

constexpr char kTrace[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("B", "main")
    l1, l2 = sch.get_loops(b0)
    sch.parallel(l1)
)";

Module Read(const std::string& text) { return *ParseModule("m.py", text); }

std::string With(const char* from, const char* to) {
  return absl::StrReplaceAll(kProgram, {{from, to}});
}

class LookupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(database_, Database::InMemory());
    workload_ = WorkloadOf(Read(kProgram), "main");
    KILN_EXPECT_OK(database_->AddWorkload(workload_));
  }

  void Add(const std::string& hash, const std::string& target, double ns,
           const std::string& trace = kTrace) {
    TuningRecord record;
    record.workload_key = workload_.key;
    record.target = target;
    record.program_hash = hash;
    record.trace = trace;
    if (ns > 0) {
      record.latency_min_ns = record.latency_median_ns = ns;
      record.samples = 3;
    } else {
      record.verdict = Verdict::kCrash;
      record.reason = "SIGSEGV";
    }
    KILN_EXPECT_OK(database_->CommitTrial(record).status());
  }

  absl::StatusOr<BestProgram> Find(const std::string& text) {
    const Module module = Read(text);
    return FindBest(*database_, module.functions[0], "cpu threads=2");
  }

  std::unique_ptr<Database> database_;
  Workload workload_;
};

TEST_F(LookupTest, NamesDoNotMatterAndTheBestIsScheduled) {
  Add("slow", "cpu threads=2", 2000);
  Add("fast", "cpu threads=2", 1000);
  KILN_ASSERT_OK_AND_ASSIGN(
      BestProgram best,
      Find(absl::StrReplaceAll(
          kProgram, {{"main", "twice"}, {"\"B\"", "\"out\""}, {"vi", "x"}})));
  EXPECT_EQ(best.record.program_hash, "fast");
  EXPECT_EQ(best.scheduled.name, "twice");
  EXPECT_THAT(best.record.trace,
              HasSubstr("get_block(name=\"out\", func_name=\"twice\")"));
  Module module;
  module.functions.push_back(best.scheduled);
  EXPECT_THAT(PrintModule(module), HasSubstr("T.parallel"));
}

TEST_F(LookupTest, ATraceThatDoesNotApplyIsPassedOver) {
  Add("gone", "cpu threads=2", 500, "def f(sch):\n    sch.no_such_step()\n");
  Add("fast", "cpu threads=2", 1000);
  KILN_ASSERT_OK_AND_ASSIGN(BestProgram best, Find(kProgram));
  EXPECT_EQ(best.record.program_hash, "fast");
}

TEST_F(LookupTest, NearMissesAreExplained) {
  Add("p", "gpu", 1000);
  Add("q", "cpu threads=2", 0);
  EXPECT_THAT(
      Find(kProgram),
      StatusIs(absl::StatusCode::kNotFound,
               AllOf(HasSubstr("another target, gpu: 1 trials, best 1.000 us"),
                     HasSubstr("on this target: 1 trials, none succeeded"))));
  EXPECT_THAT(Find(With("48", "64")),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("main(float32[32, 64], "),
                             HasSubstr("on other shapes: float32[32, 48]"))));
  EXPECT_THAT(Find(With("float32", "float64")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("on another type: float32[32, 48]")));
  EXPECT_THAT(Find(With("A[vi, vj] +", "A[vi, vj] *")),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("nothing like it was tuned"),
                             Not(HasSubstr("near it")))));
}

TEST_F(LookupTest, ManyShapesOfOneComputationAreCounted) {
  for (int extent = 100; extent < 130; ++extent) {
    const std::string text = With("48", std::to_string(extent).c_str());
    KILN_ASSERT_OK(database_->AddWorkload(WorkloadOf(Read(text), "main")));
  }
  EXPECT_THAT(Find(With("48", "64")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("and 23 more like these")));
}

TEST_F(LookupTest, TheFirstThatWasMeasuredStandsBehindTheBest) {
  const std::string target = "cpu threads=2";
  const auto found = [&](int64_t most) {
    std::vector<std::string> hashes;
    const Module module = Read(kProgram);
    const auto programs =
        FindBestAndFirst(*database_, module.functions[0], target, most);
    KILN_EXPECT_OK(programs.status());
    for (const BestProgram& program : *programs) {
      EXPECT_EQ(program.scheduled.name, "main");
      hashes.push_back(program.record.program_hash);
    }
    return hashes;
  };
  EXPECT_THAT(found(2), IsEmpty());
  Add("failed", target, 0);
  Add("first", target, 3000);
  Add("useless", target, 500, "def apply_trace(sch):\n    sch.nothing()\n");
  Add("second", target, 2000);
  Add("best", target, 1000);
  EXPECT_THAT(found(1), ElementsAre("best", "first"));
  EXPECT_THAT(found(2), ElementsAre("best", "second", "first"));
  EXPECT_THAT(found(3), ElementsAre("best", "second", "first"));
}

}  // namespace
}  // namespace kiln
