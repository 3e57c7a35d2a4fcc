// Records whose times say the opposite of the truth: the schedule that works
// out exp(A[k]) anew for every row is said to be the faster one by a little,
// and takes many times as long where the model calls it.
#include "kiln/tools/tuning/rank_in_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/testing.h"
#include "kiln/search/database/workload.h"
#include "kiln/tools/tuning/record_target.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def weigh(A: T.Buffer((256,), "float32"), W: T.Buffer((ROWS, 256), "float32"), C: T.Buffer((ROWS,), "float32")):
        B = T.alloc_buffer((256,), "float32")
        for k in range(256):
            with T.block("B"):
                vk = T.axis.remap("S", [k])
                B[vk] = T.exp(A[vk])
        for i, k in T.grid(ROWS, 256):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + B[vk] * W[vi, vk]

    @R.function
    def main(x: R.Tensor((256,), "float32"), w: R.Tensor((ROWS, 256), "float32")):
        cls = Module
        a = R.call_tir(cls.weigh, (x, w), out_sinfo=R.Tensor((ROWS,), dtype="float32"))
        return a
)";

// Of no library that is there.
constexpr char kCallOfElsewhere[] =
    R"(b = R.call_packed("elsewhere", a, sinfo_args=(R.Tensor((512,), dtype="float32"),))
        return b)";

constexpr char kOnce[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("C", "weigh")
    l1, l2 = sch.get_loops(b0)
    l3, l4 = sch.split(l1, factors=[None, 4])
)";

constexpr char kAnew[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("B", "weigh")
    sch.compute_inline(b0)
)";

class RankInModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(database_, Database::InMemory());
    Read("512");
  }

  void Read(const std::string& rows) {
    KILN_ASSERT_OK_AND_ASSIGN(
        module_,
        ParseModule("m.py", absl::StrReplaceAll(kModel, {{"ROWS", rows}})));
  }

  void Add(const std::string& hash, const std::string& trace, double ns) {
    const Workload workload = WorkloadOf(module_, "weigh");
    KILN_ASSERT_OK(database_->AddWorkload(workload));
    TuningRecord record = testing::OkRecord(hash, ns);
    record.workload_key = workload.key;
    record.target = RecordTarget(target_);
    record.trace = trace;
    KILN_ASSERT_OK(database_->CommitTrial(record).status());
  }

  absl::StatusOr<BestProgram> Best() {
    return FindBest(*database_, *module_.Find("weigh"), RecordTarget(target_));
  }

  absl::StatusOr<RankedInModel> Rank(double seconds = 60) {
    return RankInModel(module_, *database_,
                       {.target = target_, .seconds = seconds});
  }

  const Target target_ = *ParseTarget("llvm -num-cores=1");
  std::unique_ptr<Database> database_;
  Module module_;
};

TEST_F(RankInModelTest, WhatIsFasterInTheModelIsTheBest) {
  Add("anew", kAnew, 10000);
  Add("once", kOnce, 11000);
  KILN_ASSERT_OK_AND_ASSIGN(BestProgram best, Best());
  EXPECT_EQ(best.record.program_hash, "anew");
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank());
  EXPECT_EQ(ranked.skipped, "");
  EXPECT_EQ(ranked.functions, 1);
  EXPECT_EQ(ranked.changed, 1);
  EXPECT_GT(ranked.before_s, 2 * ranked.after_s);
  EXPECT_GT(ranked.after_s, 0);
  KILN_ASSERT_OK_AND_ASSIGN(best, Best());
  EXPECT_EQ(best.record.program_hash, "once");
  EXPECT_EQ(best.record.rank(), 11000);
  EXPECT_EQ(best.record.paired_ratio, 1);
}

TEST_F(RankInModelTest, TheFirstThatWasMeasuredTakesPart) {
  Add("once", kOnce, 11900);
  Add("anew", kAnew, 10000);
  KILN_ASSERT_OK_AND_ASSIGN(
      const RankedInModel ranked,
      RankInModel(module_, *database_,
                  {.target = target_, .seconds = 60, .schedules = 2}));
  EXPECT_EQ(ranked.changed, 1) << ToString(ranked);
}

TEST_F(RankInModelTest, WhatIsMuchSlowerAloneDoesNot) {
  Add("anew", kAnew, 10000);
  Add("once", kOnce, 20000);
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank());
  EXPECT_THAT(ranked.skipped, HasSubstr("no function has two schedules"));
  KILN_ASSERT_OK_AND_ASSIGN(const BestProgram best, Best());
  EXPECT_EQ(best.record.program_hash, "anew");
}

TEST_F(RankInModelTest, NoTimeIsNoError) {
  Add("anew", kAnew, 10000);
  Add("once", kOnce, 11000);
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank(/*seconds=*/0));
  EXPECT_THAT(ToString(ranked), HasSubstr("there is no time for it"));
}

TEST_F(RankInModelTest, AModelThatCannotRunHereIsSkipped) {
  KILN_ASSERT_OK_AND_ASSIGN(
      module_,
      ParseModule("m.py", absl::StrReplaceAll(
                              kModel, {{"ROWS", "512"},
                                       {"return a", kCallOfElsewhere}})));
  Add("anew", kAnew, 10000);
  Add("once", kOnce, 11000);
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank());
  EXPECT_THAT(ranked.skipped, HasSubstr("elsewhere"));
  KILN_ASSERT_OK_AND_ASSIGN(const BestProgram best, Best());
  EXPECT_EQ(best.record.program_hash, "anew");
}

TEST_F(RankInModelTest, AModelOfOpenExtentsIsSkipped) {
  KILN_ASSERT_OK_AND_ASSIGN(
      module_,
      ParseModule("m.py", absl::StrReplaceAll(kModel, {{"ROWS", "512"},
                                                       {"main(",
                                                        "main(y: R.Tensor(("
                                                        "\"n\",), "
                                                        "\"float32\"), "}})));
  Add("anew", kAnew, 10000);
  Add("once", kOnce, 11000);
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank());
  EXPECT_THAT(ranked.skipped, HasSubstr("extents of main are open"));
}

TEST_F(RankInModelTest, AModelWithoutRecordsIsSkipped) {
  KILN_ASSERT_OK_AND_ASSIGN(const RankedInModel ranked, Rank());
  EXPECT_NE(ranked.skipped, "");
}

}  // namespace
}  // namespace kiln
