#include "kiln/search/measure/trusted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/testing.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

using ::kiln::testing::TestKernel;
using ::testing::HasSubstr;

absl::StatusOr<CallContents> Contents(int64_t count) {
  KILN_ASSIGN_OR_RETURN(NDArray a, NDArray::Zeros({count}, DType::Float(32)));
  FillRandom(a, 1);
  return CallContents{{count}, {std::move(a), std::nullopt}};
}

TEST(TrustedTest, KernelsAreComparedWithTheTrustedOne) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  for (bool b_has_contents : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(CallContents contents, Contents(1000));
    if (b_has_contents) contents.buffers[1] = contents.buffers[0];
    KILN_ASSERT_OK_AND_ASSIGN(
        const auto task,
        MakeTrustedTask(TestKernel("good"), contents, *runner, {}));
    KILN_ASSERT_OK_AND_ASSIGN(
        const MeasureResult same,
        runner->Measure(*task, TestKernel("parallel"), {}));
    EXPECT_EQ(VerdictName(same.verdict), "ok") << same.reason;
    KILN_ASSERT_OK_AND_ASSIGN(
        const MeasureResult wrong,
        runner->Measure(*task, TestKernel("last_wrong"), {}));
    EXPECT_EQ(VerdictName(wrong.verdict), "wrong_result");
    EXPECT_THAT(wrong.reason, HasSubstr("B[999]"));
  }
}

TEST(TrustedTest, ATrustedKernelThatCannotRunIsAnError) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  KILN_ASSERT_OK_AND_ASSIGN(const CallContents good, Contents(10));
  const auto make = [&](const BuildResult& kernel, CallContents contents) {
    return MakeTrustedTask(kernel, contents, *runner, {}).status();
  };
  EXPECT_THAT(make(TestKernel("none"), good),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("build_error")));
  for (std::vector<int64_t> scalars :
       std::vector<std::vector<int64_t>>{{}, {-1}, {int64_t{1} << 50}}) {
    CallContents contents = good;
    contents.scalars = scalars;
    EXPECT_FALSE(make(TestKernel("good"), contents).ok());
  }
  const BuildResult empty = {"", "test_good", testing::AffineSignature()};
  EXPECT_FALSE(make(empty, good).ok());
}

TEST(TrustedTest, ATrustedKernelThatCrashesIsAnError) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  KILN_ASSERT_OK_AND_ASSIGN(const CallContents contents, Contents(1024));
  EXPECT_THAT(
      MakeTrustedTask(TestKernel("one_too_many"), contents, *runner, {}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("out_of_bounds")));
}

}  // namespace
}  // namespace kiln
