#include "kiln/tools/support/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"

ABSL_FLAG(std::string, work_dir, "w", "where things lie");
ABSL_FLAG(int64_t, trials_per_task, 64, "how many");
ABSL_FLAG(bool, inject_faults, false, "whether");

namespace kiln {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<CommandLineRequest> Parse(std::vector<std::string> args) {
  args.insert(args.begin(), "tool");
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  return ParseFlags(static_cast<int>(args.size()), argv.data());
}

TEST(FlagsTest, TellsWhichFlagsAreGiven) {
  KILN_ASSERT_OK(Parse({"--trials-per-task=64", "--noinject-faults"}));
  absl::SetFlag(&FLAGS_work_dir, "w");
  EXPECT_EQ(FirstGiven({"work-dir", "trials-per-task", "inject-faults"}), "");
  EXPECT_EQ(FirstGiven({"no-flag"}), "");
  KILN_ASSERT_OK(Parse({"--trials-per-task=7", "--inject-faults"}));
  EXPECT_EQ(FirstGiven({"work-dir", "trials-per-task", "inject-faults"}),
            "trials-per-task");
  KILN_ASSERT_OK(Parse({"--trials-per-task=64", "--noinject-faults"}));
}

TEST(FlagsTest, TakesDashesAndUnderscoresAlike) {
  for (const char* name : {"--work-dir", "--work_dir", "-work-dir"}) {
    KILN_ASSERT_OK(Parse({name, "-", "--trials-per-task=7"}));
    EXPECT_EQ(absl::GetFlag(FLAGS_work_dir), "-");
    EXPECT_EQ(absl::GetFlag(FLAGS_trials_per_task), 7);
    KILN_ASSERT_OK(Parse({std::string(name) + "=a-b_c=d"}));
    EXPECT_EQ(absl::GetFlag(FLAGS_work_dir), "a-b_c=d");
  }
}

TEST(FlagsTest, TakesBooleansWithAndWithoutAValue) {
  const std::pair<const char*, bool> cases[] = {
      {"--inject-faults", true},
      {"--noinject-faults", false},
      {"--inject_faults=true", true},
      {"--inject-faults=false", false}};
  for (const auto& [arg, value] : cases) {
    KILN_ASSERT_OK(Parse({arg}));
    EXPECT_EQ(absl::GetFlag(FLAGS_inject_faults), value) << arg;
  }
}

TEST(FlagsTest, RefusesWhatItCannotTake) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--work_dirs", "x"},
       "--work-dirs is no flag of this tool; did you mean --work-dir?"},
      {{"--nowork-dir"}, "--nowork-dir is no flag"},
      {{"file"}, "\"file\" is no flag"},
      {{"--work-dir"}, "--work-dir has no value"},
      {{"--work-dir", "--inject-faults"}, "--inject-faults is the next flag"},
      {{"--trials_per_task", "x"}, "--trials-per-task: \"x\" is no value"},
      {{"--inject-faults=maybe"}, "--inject-faults: \"maybe\" is no value"},
  };
  for (const auto& [args, message] : cases) {
    EXPECT_THAT(Parse(args), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr(message)));
  }
}

TEST(FlagsTest, HelpNamesEachFlagWithDashes) {
  EXPECT_EQ(*Parse({"--help", "--nonsense"}), CommandLineRequest::kHelp);
  EXPECT_EQ(*Parse({"--version"}), CommandLineRequest::kVersion);
  const std::string help = HelpText("Does it.");
  EXPECT_THAT(help, HasSubstr("Does it.\n"));
  EXPECT_THAT(help, HasSubstr("  --trials-per-task=64\n      how many\n"));
}

}  // namespace
}  // namespace kiln
