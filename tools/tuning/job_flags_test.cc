// Flags and modules as text on one side, the names and weights of jobs on the
// other: a matmul and a relu that are called twice by a model are
// "fused_matmul_relu 2".
#include "kiln/tools/tuning/job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/automatic.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

void Refused(const JobFlags& flags, const char* why,
             absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  Module module;
  EXPECT_THAT(LoadJobs(flags, &module), StatusIs(code, HasSubstr(why)));
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

std::vector<std::string> NamesAndWeights(const JobFlags& flags) {
  Module module;
  const absl::StatusOr<std::vector<TuneJob>> jobs = LoadJobs(flags, &module);
  KILN_EXPECT_OK(jobs);
  std::vector<std::string> texts;
  if (!jobs.ok()) return texts;
  for (const TuneJob& job : *jobs) {
    EXPECT_EQ(job.module.functions.size(), 1u);
    EXPECT_NE(module.Find(job.function), nullptr);
    texts.push_back(absl::StrCat(job.name, " ", job.weight));
  }
  return texts;
}

TEST(JobFlagsTest, AModelIsLegalizedAndTheFunctionsThatItCallsAreItsTasks) {
  const std::string path = ::testing::TempDir() + "/job_flags_model.py";
  KILN_ASSERT_OK(WriteFileAtomically(path, R"(
@I.ir_module
class Module:
    @T.prim_func
    def unused(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 8), "float32")):
        a = R.nn.relu(R.matmul(x, w))
        b = R.nn.relu(R.matmul(a, w))
        return b

    @R.function
    def last(x: R.Tensor((1, 8), "float32")):
        a = R.nn.relu(x)
        return a
)"));
  EXPECT_THAT(NamesAndWeights({.module = path}),
              UnorderedElementsAre("fused_matmul_relu 2", "relu 1"));
  EXPECT_THAT(
      NamesAndWeights({.module = path, .prepare = {.fusion = Fusion::kNone}}),
      UnorderedElementsAre("matmul 2", "relu 3"));
  EXPECT_THAT(NamesAndWeights({.module = path, .func = "last"}),
              ElementsAre("relu 1"));
  EXPECT_THAT(NamesAndWeights({.module = path, .func = "fused_matmul_relu"}),
              ElementsAre("fused_matmul_relu 2"));
  EXPECT_THAT(NamesAndWeights({.module = path, .func = "unused"}),
              ElementsAre("unused 1"));
  Module module;
  EXPECT_THAT(LoadJobs({.module = path, .func = "nosuch"}, &module),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("matmul")));
}

TEST(JobFlagsTest, FunctionsOfSymbolicExtentsAreNamedAndLeftOut) {
  const std::string path = ::testing::TempDir() + "/job_flags_symbolic.py";
  const auto write = [&](const char* result) {
    return WriteFileAtomically(path, absl::StrCat(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), y: R.Tensor(("m", 4), "float32"),
             z: R.Tensor((4,), "float32")):
        a = R.nn.relu(x)
        b = R.exp(y)
        return )",
                                                  result, "\n"));
  };
  KILN_ASSERT_OK(write("(a, b, R.tanh(z))"));
  EXPECT_THAT(NamesAndWeights({.module = path}), ElementsAre("tanh 1"));
  Bindings bindings;
  bindings.dims = {"n=3", "m=2"};
  EXPECT_THAT(NamesAndWeights({.module = path, .bindings = bindings}),
              UnorderedElementsAre("relu 1", "exp 1", "tanh 1"));
  KILN_ASSERT_OK(write("(a, b)"));
  Refused({.module = path}, "--bind m=16,n=16 tunes");
}

// "name: n=1 n=16" of each job.
std::vector<std::string> NamesAndSizes(const JobFlags& flags) {
  Module module;
  const auto jobs = LoadJobs(flags, &module);
  KILN_EXPECT_OK(jobs);
  std::vector<std::string> texts;
  if (!jobs.ok()) return texts;
  for (const TuneJob& job : *jobs) {
    std::string& text = texts.emplace_back(job.name);
    for (const DimSize& size : job.sizes) {
      absl::StrAppend(&text, " ", absl::StrJoin(size, "x"));
    }
  }
  return texts;
}

TEST(JobFlagsTest, SeveralSizesOfADimensionAreSizesOfFunctions) {
  const std::string path = ::testing::TempDir() + "/job_flags_sizes.py";
  KILN_ASSERT_OK(WriteFileAtomically(path, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), y: R.Tensor(("m", 4), "float32"),
             z: R.Tensor((4,), "float32")):
        n = T.int64()
        a = R.nn.relu(x)
        b = R.exp(y)
        c = R.sin(R.reshape(x, (n * 8,)))
        return (a, b, c, R.tanh(z))
)"));
  Bindings bindings;
  bindings.dims = {"n=16", "1"};
  EXPECT_THAT(
      NamesAndSizes({.module = path, .bindings = bindings}),
      UnorderedElementsAre("relu 1 16", "tanh", "fused_reshape_sin 1 16"));
  bindings.dims = {"n=16", "1", "m=2"};
  EXPECT_THAT(NamesAndSizes({.module = path, .bindings = bindings}),
              ::testing::Contains("exp"));
  bindings.dims = {"n=16", "1", "q=2", "3"};
  Refused({.module = path, .bindings = bindings}, "no dimension called q",
          absl::StatusCode::kNotFound);
}

TEST(JobFlagsTest, TensorFunctionsHaveTheSizesOfTheirNames) {
  const std::string path = ::testing::TempDir() + "/job_flags_tensor.py";
  KILN_ASSERT_OK(WriteFileAtomically(path, R"(
@T.prim_func
def main(a: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)
)"));
  Bindings bindings;
  bindings.dims = {"n=1", "16", "m=2", "3"};
  EXPECT_THAT(NamesAndSizes({.module = path, .bindings = bindings}),
              ElementsAre("main 2x1 3x16"));
  bindings.dims = {"n=1", "16"};
  Refused({.module = path, .bindings = bindings}, "no size of m");
  bindings.dims = {"n=1", "16", "m=2", "3", "k=1", "2"};
  Refused({.module = path, .bindings = bindings}, "dimension called k",
          absl::StatusCode::kNotFound);
}

TEST(JobFlagsTest, AModelWithoutTasksSaysSo) {
  const std::string path = ::testing::TempDir() + "/job_flags_empty.py";
  KILN_ASSERT_OK(WriteFileAtomically(path, R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8), "float32")):
        return x
)"));
  Refused({.module = path}, "calls no tensor function");
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
