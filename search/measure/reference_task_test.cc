#include "kiln/search/measure/reference_task.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/search/measure/contents.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/trusted.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(InCacheOrderTest, KeepsTheMeaning) {
  for (const char* spec : {"gmm:6,20,7", "c2d:6,6,3,8,3,1,1", "tbg:8,2,12"}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(spec));
    const Function& f = module.functions[0];
    const Function g = InCacheOrder(f);
    EXPECT_NE(CanonicalForm(f), CanonicalForm(g)) << spec;
    KILN_EXPECT_OK(CheckSameResults(f, g, 5));
  }
}

TEST(ReferenceTaskTest, TakesSmallAndLargePrograms) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  for (double max_plain_flop : {0.0, 1e9}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:32,48,16"));
    ReferenceOptions options;
    options.max_plain_flop = max_plain_flop;
    KILN_EXPECT_OK(
        MakeReferenceTask(module.functions[0], builder, *runner, options));
  }
}

// Sums of many terms, of which the condition may leave some out.
absl::StatusOr<Function> LongSums(const std::string& condition,
                                  int64_t terms = 65536) {
  return ParseFunction(
      "test", absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4, )",
                           terms, R"(), "float32"),
         C: T.Buffer((4,), "float32")):
    for i in range(4):
        C[i] = T.float32(0)
        for k in range()",
                           terms, "):\n            if ", condition,
                           ":\n                C[i] = C[i] + A[i, k]\n"));
}

constexpr int64_t kMillion = 1 << 20;

// What only the run on random numbers says of `candidate`.
Verdict OnRandomNumbers(const Function& f, Builder& builder, Runner& runner,
                        const BuildResult& candidate) {
  const auto build = builder.BuildPlain(f);
  EXPECT_TRUE(build.ok()) << build.status();
  const auto contents = DrawContents(f, build->signature, 1);
  EXPECT_TRUE(contents.ok()) << contents.status();
  const auto task = MakeTrustedTask(*build, *contents, runner,
                                    {.reduction_length = kMillion});
  EXPECT_TRUE(task.ok()) << task.status();
  return runner.Measure(**task, candidate, {})->verdict;
}

TEST(ReferenceTaskTest, OnlyWholeNumbersShowOneTermOfAMillion) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, LongSums("k >= 0", kMillion));
  KILN_ASSERT_OK_AND_ASSIGN(const Function faulty,
                            LongSums("i < 3 or k != 777", kMillion));
  KILN_ASSERT_OK_AND_ASSIGN(const BuildResult build, builder.Build(faulty));
  EXPECT_EQ(OnRandomNumbers(f, builder, *runner, build), Verdict::kOk);
  KILN_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeReferenceTask(f, builder, *runner));
  KILN_ASSERT_OK_AND_ASSIGN(const MeasureResult result,
                            runner->Measure(*task, build, {}));
  EXPECT_EQ(result.verdict, Verdict::kWrongResult);
}

// A compiler that leaves a row out wherever it meets one, of references too.
class ForgetfulBuilder : public LlvmBuilder {
 public:
  using LlvmBuilder::LlvmBuilder;
  absl::StatusOr<BuildResult> Build(const Function&) override {
    return LlvmBuilder::Build(*LongSums("i < 3", kMillion));
  }
  absl::StatusOr<BuildResult> BuildPlain(const Function& f) override {
    return Build(f);
  }
};

TEST(ReferenceTaskTest, OnlySampledElementsShowAFaultOfTheCompiler) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  ForgetfulBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, LongSums("k >= 0", kMillion));
  KILN_ASSERT_OK_AND_ASSIGN(const BuildResult candidate, builder.Build(f));
  EXPECT_EQ(OnRandomNumbers(f, builder, *runner, candidate), Verdict::kOk);
  EXPECT_THAT(MakeReferenceTask(f, builder, *runner),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("disagrees with its interpretation: C[3]")));
}

TEST(ReferenceTaskTest, OneTermOf65536ThatIsLeftOutShows) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, LongSums("k >= 0"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeReferenceTask(f, builder, *runner));
  for (const char* condition : {"k >= 0", "k != 65535", "i * 65536 + k != 777",
                                "i != 3 or k != 4000", "i < 2 or k < 65535"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function candidate, LongSums(condition));
    KILN_ASSERT_OK_AND_ASSIGN(const BuildResult build,
                              builder.Build(candidate));
    KILN_ASSERT_OK_AND_ASSIGN(const MeasureResult result,
                              runner->Measure(*task, build, {}));
    if (std::string(condition) == "k >= 0") {
      EXPECT_EQ(result.verdict, Verdict::kOk) << result.reason;
      continue;
    }
    EXPECT_EQ(result.verdict, Verdict::kWrongResult) << condition;
  }
}

TEST(ReferenceTaskTest, SaysHowItsOutputsWereChecked) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  for (double max_unoptimized_flop : {0.0, 1e9}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:128,128,256"));
    ReferenceOptions options;
    options.max_unoptimized_flop = max_unoptimized_flop;
    KILN_ASSERT_OK_AND_ASSIGN(
        const auto task,
        MakeReferenceTask(module.functions[0], builder, *runner, options));
    EXPECT_EQ(task->grounds(),
              "40 elements are those of the interpreter, and 40 elements on "
              "whole numbers up to 3, exactly in Z");
  }
}

// Without pivoting: rounding errors grow beyond bounds unless the diagonal of A
// is large.
constexpr char kFactorization[] = R"(
@T.prim_func
def main(A: T.Buffer((12, 12), "float64")):
    for k in range(12):
        for i in range(11 - k):
            A[k + 1 + i, k] = A[k + 1 + i, k] / A[k, k]
        for i, j in T.grid(11 - k, 11 - k):
            A[k + 1 + i, k + 1 + j] = A[k + 1 + i, k + 1 + j] - A[k + 1 + i, k] * A[k, k + 1 + j]
)";

TEST(ReferenceTaskTest, KeepsToTheInputsOfAUserWhereOthersAreUnstable) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(const Function f,
                            ParseFunction("test", kFactorization));
  KILN_ASSERT_OK_AND_ASSIGN(const BuildResult build, builder.BuildPlain(f));
  int kept = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    KILN_ASSERT_OK_AND_ASSIGN(CallContents contents,
                              DrawContents(f, build.signature, seed));
    double* a = reinterpret_cast<double*>(contents.buffers[0]->data());
    for (int i = 0; i < 12; ++i) a[i * 12 + i] += 8;
    ReferenceOptions options;
    options.contents = contents;
    options.seed = seed;
    KILN_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeReferenceTask(f, builder, *runner, options));
    kept += task->grounds().find("the same inputs") != std::string::npos;
  }
  EXPECT_GT(kept, 0);
}

constexpr char kSymbolic[] = R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 3), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, k in T.grid(n, 3):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)";

TEST(ReferenceTaskTest, ATimedSizeGivesDimensionsTheirValues) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("test", kSymbolic));
  for (const int64_t size : {1, 100, 1000000}) {
    SetTimedSize(&f, {size});
    KILN_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeReferenceTask(f, builder, *runner));
    EXPECT_EQ(task->output_bytes()[0], size * sizeof(float));
    EXPECT_THAT(task->grounds(), HasSubstr("exactly in B"));
    EXPECT_THAT(task->grounds(), Not(HasSubstr("none of")));
  }
}

TEST(ReferenceTaskTest, RefusesSymbolicShapes) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("test", kSymbolic));
  EXPECT_THAT(
      MakeReferenceTask(f, builder, *runner),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("depends on n")));
}

}  // namespace
}  // namespace kiln
