#include "kiln/tools/tuning/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModule[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def relu(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = T.max(A[vi], T.float32(0))

    @T.prim_func
    def twice(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func
    def relu1(X: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
        for j in range(64):
            with T.block("Y"):
                vj = T.axis.spatial(64, j)
                Y[vj] = T.max(X[vj], T.float32(0))
)";

TEST(JobTest, EveryFunctionIsAJobAndEqualOnesAreMerged) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("m.py", kModule));
  const std::vector<TuneJob> jobs = JobsOf(module);
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[1].name, "twice");
  EXPECT_EQ(jobs[1].module.functions.size(), 1u);
  const std::vector<TuneJob> merged = Merge(jobs);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].function, "relu");
  EXPECT_EQ(merged[0].weight, 2);
  EXPECT_THAT(merged[0].same, ElementsAre("relu1"));
  EXPECT_EQ(merged[1].weight, 1);
}

TEST(JobTest, CallsOfGraphFunctionsAreTheWeight) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseModule("m.py", absl::StrCat(kModule, R"(
    @R.function
    def main(x: R.Tensor((64,), "float32")):
        cls = Module
        a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((64,), dtype="float32"))
        b = R.call_tir(cls.relu1, (a,), out_sinfo=R.Tensor((64,), dtype="float32"))
        c = R.call_tir(cls.relu, (b,), out_sinfo=R.Tensor((64,), dtype="float32"))
        return c
)")));
  const std::vector<TuneJob> jobs = JobsOf(module);
  ASSERT_EQ(jobs.size(), 2u);  // `twice` is not called
  EXPECT_EQ(jobs[0].function, "relu");
  EXPECT_EQ(jobs[0].weight, 2);
  EXPECT_EQ(jobs[1].function, "relu1");
  EXPECT_EQ(jobs[1].weight, 1);
  EXPECT_EQ(Merge(jobs)[0].weight, 3);
  EXPECT_THAT(Merge(jobs)[0].same, ElementsAre("relu1"));
}

TEST(JobTest, TheSameWorkloadTwiceHasTwiceTheWeight) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob a, JobOfWorkload("gmm:64,64,64"));
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob b, JobOfWorkload("gmm:64,64,32"));
  const std::vector<TuneJob> merged = Merge({a, b, a});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].weight, 2);
  EXPECT_EQ(merged[1].weight, 1);
}

TEST(JobTest, NamesThatComeTwiceAreToldApart) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob a, JobOfWorkload("gmm:64,64,64"));
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob b, JobOfWorkload("gmm:64,64,32"));
  b.name = a.name;
  EXPECT_EQ(Merge({a, b})[1].name, "gmm:64,64,64_2");
}

TEST(JobTest, WeightsOfFreeLayoutAreAnotherTask) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob plain, JobOfWorkload("gmm:64,64,64"));
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob free,
                            JobOfWorkload("gmm:64,64,64:layout_free"));
  EXPECT_TRUE(free.use_rules);
  EXPECT_EQ(Merge({plain, free}).size(), 2u);
}

TEST(JobTest, SuitesHaveTheirShapes) {
  KILN_ASSERT_OK_AND_ASSIGN(auto ansor, SuiteWorkloads("ansor"));
  EXPECT_EQ(ansor.size(), 52u);
  KILN_ASSERT_OK_AND_ASSIGN(auto gemm, SuiteWorkloads("gemm"));
  for (const std::string& name : gemm) {
    KILN_EXPECT_OK(JobOfWorkload(name).status());
  }
  EXPECT_EQ(std::set<std::string>(gemm.begin(), gemm.end()).size(),
            gemm.size());
  EXPECT_THAT(SuiteWorkloads("resnet"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there are ansor")));
  EXPECT_FALSE(JobOfWorkload("nosuch:1").ok());
}

}  // namespace
}  // namespace kiln
