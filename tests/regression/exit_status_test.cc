// What the exit status of a tool says, and what it prints with it.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kiln/tests/support/subprocess.h"
#include "kiln/tools/run_report.pb.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using testing::RunProcess;

class ExitStatusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/kiln_status_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `run` on a small matmul, with more flags.
  ProcessResult Run(const std::vector<std::string>& flags) {
    std::vector<std::string> argv = {
        "tools/run", "--einsum",     "C[i,j] += A[i,k] * B[k,j]",
        "--shape",   "i=8,j=4,k=16", "--threads=1"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return RunProcess(argv, {.folder = folder_});
  }

  std::string folder_;
};

run::Report ParseReport(const std::string& text) {
  run::Report report;
  const auto status =
      google::protobuf::util::JsonStringToMessage(text, &report);
  EXPECT_TRUE(status.ok()) << text;
  return report;
}

TEST_F(ExitStatusTest, AMismatchIsNoError) {
  EXPECT_EQ(Run({"--seed=1", "--output=@c.npy", "--check"}).status, 0);
  EXPECT_EQ(Run({"--seed=1", "--expect=@c.npy"}).status, 0);
  const ProcessResult other = Run({"--seed=2", "--expect=@c.npy"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.out, HasSubstr("C against @c.npy: "));
  const ProcessResult missing = Run({"--expect=@missing.npy"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.npy"));
}

TEST_F(ExitStatusTest, ADifferenceBetweenProgramsIsNoError) {
  const auto program = [](int extent) {
    return "@T.prim_func\ndef f(A: T.Buffer((8,), \"float32\")):\n"
           "    for i in range(" +
           std::to_string(extent) +
           "):\n        with T.block(\"A\"):\n"
           "            vi = T.axis.spatial(" +
           std::to_string(extent) + ", i)\n            A[vi] = T.float32(1)\n";
  };
  std::ofstream(folder_ + "/a.py") << program(8);
  std::ofstream(folder_ + "/b.py") << program(7);
  const auto compare = [&](const std::string& other) {
    return RunProcess({"tools/opt", "--module=a.py", "--compare=" + other},
                      {.folder = folder_});
  };
  EXPECT_EQ(compare("a.py").status, 0);
  EXPECT_EQ(compare("b.py").status, 2);
  EXPECT_THAT(compare("b.py").out, Not(IsEmpty()));
  EXPECT_EQ(compare("missing.py").status, 1);
}

TEST_F(ExitStatusTest, ARefusedStepIsOneOfItsOwn) {
  std::ofstream(folder_ + "/t.py")
      << "def schedule(sch):\n    b = sch.get_block(\"nowhere\")\n";
  const ProcessResult refused = Run({"--trace=t.py"});
  EXPECT_EQ(refused.status, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("refused: "));
}

TEST_F(ExitStatusTest, JsonTellsWhatWasComparedAndMeasured) {
  ASSERT_EQ(Run({"--seed=1", "--output=@c.npy"}).status, 0);
  const ProcessResult good =
      Run({"--seed=1", "--expect=@c.npy", "--check", "--time", "--json"});
  EXPECT_EQ(good.status, 0) << good.err;
  const run::Report report = ParseReport(good.out);
  EXPECT_TRUE(report.agrees());
  ASSERT_EQ(report.comparisons_size(), 2);
  EXPECT_EQ(report.comparisons(0).output(), "C");
  EXPECT_EQ(report.comparisons(0).against(), "@c.npy");
  EXPECT_EQ(report.comparisons(1).against(), "the interpreter");
  EXPECT_EQ(report.comparisons(1).elements(), 32);
  EXPECT_GT(report.time().min_us(), 0);
  EXPECT_EQ(report.time().flop(), 2 * 8 * 4 * 16);
  EXPECT_EQ(report.time().bytes(), 4 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_NEAR(report.time().gflops() * report.time().min_us(), 1.024, 1e-6);
  const ProcessResult bad = Run({"--seed=2", "--expect=@c.npy", "--json"});
  EXPECT_EQ(bad.status, 2);
  const run::Report mismatch = ParseReport(bad.out);
  EXPECT_FALSE(mismatch.agrees());
  EXPECT_GT(mismatch.comparisons(0).mismatches(), 0);
  EXPECT_FALSE(mismatch.has_time());
}

TEST(HelpTest, EveryToolTellsItsFlagsAndVersionAndSucceeds) {
  for (const char* tool : {"bench", "opt", "run", "tune"}) {
    const std::string path = std::string("tools/") + tool;
    const ProcessResult help = RunProcess({path, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.err, IsEmpty());
    EXPECT_THAT(help.out, HasSubstr("c2d:H,W,ci,co,k,s,p"));
    EXPECT_THAT(help.out, HasSubstr("\n  --version\n"));
    const ProcessResult version = RunProcess({path, "--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.out,
                ::testing::MatchesRegex(std::string(tool) +
                                        " of Kiln [0-9.]+, LLVM [0-9.]+\n"));
  }
}

}  // namespace
}  // namespace kiln
