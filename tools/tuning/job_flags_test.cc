#include "kiln/tools/tuning/job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/automatic.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

void Refused(const JobFlags& flags, const char* why) {
  Module module;
  EXPECT_THAT(LoadJobs(flags, &module),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
}

TEST(JobFlagsTest, WorkloadsMayRepeatAndHaveWeights) {
  Module module;
  KILN_ASSERT_OK_AND_ASSIGN(
      auto jobs,
      LoadJobs({.workloads = {"gmm:8,8,8", "nrm:8,8"}, .weights = "3,0.5"},
               &module));
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].weight, 3);
  EXPECT_EQ(jobs[1].weight, 0.5);
  EXPECT_TRUE(module.functions.empty());
}

TEST(JobFlagsTest, AnEinsumIsOneJobOfItsModule) {
  Module module;
  KILN_ASSERT_OK_AND_ASSIGN(
      auto jobs,
      LoadJobs({.einsum = "C[i] += A[i,k]", .shape = "i=4,k=8"}, &module));
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "einsum");
  EXPECT_EQ(module.functions.size(), 1u);
}

TEST(JobFlagsTest, NothingIsChosenForAnyJobWhereTheFlagSaysSo) {
  for (const JobFlags& base :
       {JobFlags{.workloads = {"gmm:8,8,8", "nrm:8,8"}},
        JobFlags{.workloads = {"gmm:8,8,8"}},
        JobFlags{.einsum = "C[i] += A[i,k]", .shape = "i=4,k=8"}}) {
    for (bool is_auto : {true, false}) {
      JobFlags flags = base;
      flags.is_auto = is_auto;
      Module module;
      KILN_ASSERT_OK_AND_ASSIGN(const auto jobs, LoadJobs(flags, &module));
      for (const TuneJob& job : jobs) {
        EXPECT_EQ(IsAuto(job.module.functions[0]), is_auto) << job.name;
      }
      for (const Function& f : module.functions) EXPECT_EQ(IsAuto(f), is_auto);
    }
  }
}

TEST(JobFlagsTest, SaysWhatIsWrongWithTheFlags) {
  Refused({}, "no program is given");
  Refused({.suite = "resnet"}, "there are ansor");
  Refused({.suite = "gemm", .module = "m.py"}, "in a run of their own");
  Refused({.workloads = {"gmm:8,8,8", "gmm:8"}}, "--workload: ");
  Refused({.workloads = {"gmm:8,8,8"}, .weights = "1,2"},
          "2 numbers for 1 functions");
  Refused({.workloads = {"gmm:8,8,8"}, .weights = "-1"},
          "\"-1\" is no positive number");
  Refused({.workloads = {"gmm:8,8,8"}, .weights = "nan"}, "no positive number");
}

}  // namespace
}  // namespace kiln
