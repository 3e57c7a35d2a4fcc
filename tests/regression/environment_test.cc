// Tools in surroundings that they did not choose: without a home, with a small
// limit, with closed streams. Each does its work or says what is in its way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_split.h"
#include "kiln/tests/regression/bad_files.h"
#include "kiln/tests/support/subprocess.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

#define TUNE "tools/tune|--module|mm.py|--space|space.py|--trials|2|--work-dir|"
#define RUN "tools/run|--module|mm.py|--check"

struct Surroundings {
  const char* name;
  const char* setup;    // of a shell
  const char* command;  // words parted by '|'
  // Null: it succeeds. Else a part of the one message.
  const char* message = nullptr;
};

constexpr Surroundings kSurroundings[] = {
    {"NoHome", "unset HOME XDG_CACHE_HOME KILN_MACHINE", TUNE "no_home"},
    {"HomeIsFile", "unset XDG_CACHE_HOME KILN_MACHINE; export HOME=$PWD/file",
     TUNE "home_file"},
    {"HomeMissing", "unset XDG_CACHE_HOME KILN_MACHINE; export HOME=/no/home",
     TUNE "home_missing"},
    {"HomeReadOnly", "unset XDG_CACHE_HOME KILN_MACHINE; export HOME=/proc",
     TUNE "home_read_only"},
    {"MachineEmpty", ": > machine.json; export KILN_MACHINE=$PWD/machine.json",
     TUNE "machine_empty"},
    {"MachineCorrupt",
     "echo junk > junk.json; export KILN_MACHINE=$PWD/junk.json",
     TUNE "machine_corrupt"},
    {"MachineIsFolder", "export KILN_MACHINE=$PWD/empty_dir",
     TUNE "machine_folder"},
    {"NoTemporaryFolder", "export TMPDIR=/no/such/folder", TUNE "no_tmp"},
    {"SpacesAndUmlauts", ":", TUNE "a b/größe ж"},
    {"OneCpu", "taskset -p -c 0 $$ > /dev/null", TUNE "one_cpu"},
    {"SmallStack", "ulimit -s 64", TUNE "small_stack"},
    {"SmallStackOfRun", "ulimit -s 64", RUN},
    {"SmallStackOfOpt", "ulimit -s 64",
     "tools/opt|--module|mm.py|--schedule|default|--stage|asm"},
    {"ClosedInput", "exec <&-", TUNE "closed_input"},
    {"ClosedErrors", "exec 2>&-", TUNE "closed_errors"},
    {"FullDisk", "exec > /dev/full", "tools/opt|--module|mm.py",
     "the output cannot be written"},
    {"SmallFiles", "ulimit -f 1", TUNE "small_files", "database"},
    {"EmptyDatabase", "mkdir empty_db; : > empty_db/database.sqlite",
     TUNE "empty_db"},
    {"NoCpuOfThatName", ":", TUNE "cpu|--target|llvm -mcpu=z99",
     "LLVM knows no CPU"},
    {"NoFeatureOfThatName", ":", TUNE "feature|--target|llvm -mattr=+nonsense",
     "LLVM knows no feature"},
};

class FolderTest : public ::testing::Test {
 protected:
  // The machine is measured once where nothing else is said.
  static void SetUpTestSuite() {
    setenv("KILN_MACHINE", (::testing::TempDir() + "/machine.json").c_str(), 1);
  }
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/kiln_env_XXXXXX";
    folder_ = mkdtemp(name.data());
    testing::WriteBadFiles(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

class EnvironmentTest : public FolderTest,
                        public ::testing::WithParamInterface<Surroundings> {};

TEST_P(EnvironmentTest, TheToolWorksOrSaysWhatIsInItsWay) {
  const Surroundings& here = GetParam();
  const testing::ProcessResult result =
      testing::RunProcess(absl::StrSplit(here.command, '|'),
                          {.folder = folder_, .setup = here.setup});
  SCOPED_TRACE(result.err);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.status, here.message ? 1 : 0);
  if (here.message) EXPECT_THAT(result.err, HasSubstr(here.message));
  for (const char* trace : {"Check failed", "terminate called", "Stack dump"}) {
    EXPECT_THAT(result.err, Not(HasSubstr(trace)));
  }
  EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 8);
  EXPECT_TRUE(testing::AllDescendantsEnd(5));
}

INSTANTIATE_TEST_SUITE_P(All, EnvironmentTest,
                         ::testing::ValuesIn(kSurroundings),
                         [](const auto& tested) {
                           return std::string(tested.param.name);
                         });

// Limits that may be too small for a machine: then there is a message.
TEST_F(FolderTest, LimitsEndNoToolWithASignal) {
  for (const char* setup :
       {"ulimit -n 16", "ulimit -n 8", "ulimit -v 400000", "exec >&-"}) {
    SCOPED_TRACE(setup);
    const testing::ProcessResult result =
        testing::RunProcess(absl::StrSplit(TUNE "limits", '|'),
                            {.folder = folder_, .setup = setup});
    SCOPED_TRACE(result.err);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.signal, 0);
    EXPECT_THAT(result.status, ::testing::AnyOf(0, 1));
    EXPECT_TRUE(result.status == 0 || !result.err.empty());
    EXPECT_TRUE(testing::AllDescendantsEnd(5));
  }
}

}  // namespace
}  // namespace kiln
