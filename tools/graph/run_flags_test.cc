#include "kiln/tools/graph/run_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunFlagsTest : public testing::Test {
 protected:
  absl::FlagSaver put_back_;
};

TEST_F(RunFlagsTest, TakesWhatMayStandSeveralTimes) {
  char program[] = "run", a[] = "--input=x", b[] = "--time", c[] = "--expect",
       d[] = "y", e[] = "--input", f[] = "z";
  char* argv[] = {program, a, b, c, d, e, f, nullptr};
  int argc = 7;
  const RepeatedRunFlags taken = TakeRepeatedRunFlags(&argc, argv);
  EXPECT_THAT(taken.inputs, ElementsAre("x", "z"));
  EXPECT_THAT(taken.expectations, ElementsAre("y"));
  EXPECT_THAT(taken.outputs, IsEmpty());
  ASSERT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--time");
}

TEST_F(RunFlagsTest, NamesTheFlagThatCannotBe) {
  KILN_EXPECT_OK(CheckRunFlags());
  for (const int threads : {-1, 1025}) {
    absl::SetFlag(&FLAGS_threads, threads);
    EXPECT_THAT(CheckRunFlags(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("--threads")));
  }
  absl::SetFlag(&FLAGS_threads, 1024);
  KILN_EXPECT_OK(CheckRunFlags());
  absl::SetFlag(&FLAGS_atol, -2);
  EXPECT_THAT(CheckRunFlags(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("atol")));
}

TEST_F(RunFlagsTest, TheRequestIsOfTheFlags) {
  absl::SetFlag(&FLAGS_func, "f");
  absl::SetFlag(&FLAGS_seed, 7);
  absl::SetFlag(&FLAGS_rtol, 0.5);
  absl::SetFlag(&FLAGS_time, true);
  const GraphRunRequest request =
      GraphRequestOfFlags({{"x"}, {"y"}, {"z"}, {"l"}});
  EXPECT_EQ(request.func, "f");
  EXPECT_EQ(request.seed, 7u);
  EXPECT_EQ(request.rtol, 0.5);
  EXPECT_EQ(request.atol, -1);
  EXPECT_TRUE(request.time);
  EXPECT_THAT(request.inputs, ElementsAre("x"));
  EXPECT_THAT(request.expectations, ElementsAre("y"));
  EXPECT_THAT(request.outputs, ElementsAre("z"));
  EXPECT_THAT(request.libraries, ElementsAre("l"));
}

}  // namespace
}  // namespace kiln
