#include "kiln/search/measure/trusted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::TestKernel;
using ::testing::HasSubstr;

TEST(TrustedTest, KernelsAreComparedWithTheTrustedOne) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  for (bool written_are_inputs : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const auto task,
        MakeTrustedTask(TestKernel("good"), {1000}, {}, written_are_inputs));
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
  EXPECT_FALSE(MakeTrustedTask(TestKernel("none"), {10}, {}).ok());
  EXPECT_FALSE(MakeTrustedTask(TestKernel("good"), {}, {}).ok());
  EXPECT_FALSE(MakeTrustedTask(TestKernel("good"), {-1}, {}).ok());
  EXPECT_FALSE(
      MakeTrustedTask(TestKernel("good"), {int64_t{1} << 50}, {}).ok());
  const BuildResult empty = {"", "test_good", testing::AffineSignature()};
  EXPECT_FALSE(MakeTrustedTask(empty, {10}, {}).ok());
}

}  // namespace
}  // namespace kiln
