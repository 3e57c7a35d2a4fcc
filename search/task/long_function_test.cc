// Functions of a hundred blocks, as fusion makes them: what is made, drawn and
// kept of them stays in proportion, and what comes out is right.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/task/default_schedule.h"

namespace kiln {
namespace {

constexpr int kStages = 100;

std::string Stage(int i) { return absl::StrCat("B", i); }

// Stage after stage, each a nest over 8 x 8 (x 8) with this body; `in` and
// `out` stand for what it reads and writes.
Module Chain(bool reduces, const std::string& body) {
  std::string text =
      "@T.prim_func\n"
      "def main(B0: T.Buffer((8, 8), \"float32\"), W: T.Buffer((8, 8), "
      "\"float32\"), O: T.Buffer((8, 8), \"float32\")):\n";
  for (int i = 1; i < kStages; ++i) {
    absl::StrAppend(&text, "    ", Stage(i), " = T.alloc_buffer((8, 8))\n");
  }
  const std::string extents = reduces ? "8, 8, 8" : "8, 8";
  const std::string loops = reduces ? "i, j, k" : "i, j";
  const std::string iters = reduces ? "vi, vj, vk" : "vi, vj";
  for (int i = 0; i < kStages; ++i) {
    const std::string out = i + 1 < kStages ? Stage(i + 1) : "O";
    absl::StrAppend(&text, "    for ", loops, " in T.grid(", extents, "):\n");
    absl::StrAppend(&text, "        with T.block(\"s", i, "\"):\n            ",
                    iters, " = T.axis.remap(\"", reduces ? "SSR" : "SS",
                    "\", [", loops, "])\n");
    if (reduces) {
      absl::StrAppend(&text, "            with T.init():\n                ",
                      out, "[vi, vj] = T.float32(0)\n");
    }
    std::string line = body;
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"out", out}, {"in", Stage(i)}}) {
      for (size_t at = 0; (at = line.find(from, at)) != std::string::npos;) {
        line.replace(at, from.size(), to);
        at += to.size();
      }
    }
    absl::StrAppend(&text, "            ", line, "\n");
  }
  const absl::StatusOr<Function> f = ParseFunction("chain", text);
  EXPECT_TRUE(f.ok()) << f.status();
  Module module;
  module.functions.push_back(*f);
  return module;
}

// One shared weight: every step on it concerns all stages.
Module Products() {
  return Chain(true, "out[vi, vj] = out[vi, vj] + in[vi, vk] * W[vk, vj]");
}

// Each stage put into the next one would double what is written.
Module Squares() {
  return Chain(false, "out[vi, vj] = in[vi, vj] * in[vi, vj] * T.float32(0.5)");
}

int64_t PeakKilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(LongFunctionTest, FewDesignsAreMade) {
  for (const Module& module : {Products(), Squares()}) {
    TraceSpace space(module, 0);
    AddRuleSchedules(CpuRules(), {}, &space);
    EXPECT_GE(space.size(), 1u);
    EXPECT_LE(space.size(), static_cast<size_t>(DesignLimit(kStages)));
  }
}

TEST(LongFunctionTest, DefaultSchedulesComputeTheSameInLittleMemory) {
  const int64_t before = PeakKilobytes();
  ThreadPool pool({.num_threads = 2});
  for (const Module& module : {Products(), Squares()}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const DefaultSchedule best,
        ScheduleByDefault(module, 0, Machine{.vectors = kAvx512Registers}, 2,
                          &pool));
    KILN_EXPECT_OK(
        CheckCloseResults(module.functions[0], best.scheduled, /*seed=*/3));
  }
  // About 50 MB; places of every choice of every draw would be gigabytes.
  EXPECT_LT(PeakKilobytes() - before, 400 << 10);
}

TEST(LongFunctionTest, CountsShrinkWithTheBlocks) {
  EXPECT_EQ(CountForBlocks(256, 1, 16), 256);
  EXPECT_EQ(CountForBlocks(256, 8, 16), 256);
  EXPECT_EQ(CountForBlocks(256, 16, 16), 64);
  EXPECT_EQ(CountForBlocks(256, kStages, 16), 16);
  EXPECT_EQ(CountForBlocks(4, kStages, 16), 4);
}

}  // namespace
}  // namespace kiln
