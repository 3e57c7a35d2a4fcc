#include "kiln/search/measure/measure_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// "Compiles" a function to the name of a kernel, which is its own name.
class NameBuilder : public Builder {
 public:
  absl::StatusOr<BuildResult> Build(const Function& scheduled) override {
    ++builds;
    if (scheduled.name == "broken") return absl::InternalError("no code");
    BuildResult result;
    result.symbol = scheduled.name;
    return result;
  }
  std::string CompilerVersion() const override { return "test"; }

  std::atomic<int> builds{0};
};

// Takes the times of kernels from a script, one after the other.
class ScriptRunner : public Runner {
 public:
  absl::StatusOr<MeasureResult> Measure(
      const MeasureTask&, const BuildResult& kernel,
      const MeasureOptions& options) override {
    calls.push_back(kernel.symbol);
    best_seen.push_back(options.best_ns);
    checked.push_back(options.check);
    guarded.push_back(options.guarded);
    deadlines.push_back(options.deadline_s);
    std::vector<double>& times = script[kernel.symbol];
    MeasureResult result;
    if (times.empty()) {
      result.verdict = Verdict::kCrash;
      return result;
    }
    result.min_ns = times.front();
    result.median_ns = times.front();
    result.samples = 1;
    result.seconds = times.front() * 1e-9;
    times.erase(times.begin());
    return result;
  }

  std::map<std::string, std::vector<double>> script;
  std::vector<std::string> calls;
  std::vector<double> best_seen, deadlines;
  std::vector<bool> checked, guarded;
};

std::vector<Function> Functions(const std::vector<std::string>& names) {
  std::vector<Function> functions(names.size());
  for (size_t i = 0; i < names.size(); ++i) functions[i].name = names[i];
  return functions;
}

TEST(BuildAllTest, KeepsTheOrderOnAnyNumberOfThreads) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(std::to_string(i));
  names[50] = "broken";
  for (int threads : {1, 3, 200}) {
    NameBuilder builder;
    const auto results = BuildAll(builder, Functions(names), threads);
    ASSERT_EQ(results.size(), 100u);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(results[i].ok(), i != 50);
      if (i != 50) EXPECT_EQ(results[i]->symbol, names[i]);
    }
  }
  NameBuilder builder;
  EXPECT_TRUE(BuildAll(builder, {}, 4).empty());
}

TEST(MeasureAllTest, MeasuresInOrderAndNarrowsWhatIsHopeless) {
  for (Overlap overlap : {Overlap::kNever, Overlap::kSingleThread}) {
    NameBuilder builder;
    ScriptRunner runner;
    runner.script = {
        {"a", {5e9}}, {"b", {}}, {"c", {3e9}}, {"d", {4e9}}, {"e", {1}}};
    MeasureAllOptions options;
    options.overlap = overlap;
    options.num_cpus = 2;
    options.measure.deadline_s = 1000;
    std::vector<std::string> verdicts;
    KILN_ASSERT_OK(MeasureAll(
        builder, runner, *testing::AffineTask(1),
        Functions({"a", "broken", "b", "c", "d", "e"}), options,
        [&](const Measured& measured) {
          EXPECT_EQ(measured.index, static_cast<int64_t>(verdicts.size()));
          verdicts.emplace_back(VerdictName(measured.result.verdict));
          EXPECT_EQ(measured.kernel == nullptr, measured.index == 1);
          return true;
        }));
    EXPECT_THAT(verdicts,
                ElementsAre("ok", "build_error", "crash", "ok", "ok", "ok"));
    EXPECT_THAT(runner.calls, ElementsAre("a", "b", "c", "d", "e"));
    EXPECT_THAT(runner.best_seen, ElementsAre(0, 5e9, 5e9, 3e9, 3e9));
    EXPECT_THAT(runner.deadlines, ElementsAre(1000, 1000, 1000, 900, 900));
  }
}

TEST(MeasureAllTest, StopsWhenTold) {
  NameBuilder builder;
  ScriptRunner runner;
  int told = 0;
  KILN_ASSERT_OK(MeasureAll(builder, runner, *testing::AffineTask(1),
                            Functions(std::vector<std::string>(50, "a")), {},
                            [&](const Measured&) { return ++told < 3; }));
  EXPECT_EQ(told, 3);
  EXPECT_EQ(runner.calls.size(), 3u);
}

TEST(MeasureInTurnsTest, TakesTurnsAndPutsRoundsTogether) {
  ScriptRunner runner;
  runner.script = {{"a", {10, 30, 20}}, {"b", {7, 6}}, {"c", {9, 8, 9}}};
  const BuildResult a = {"", "a", {}}, b = {"", "b", {}}, c = {"", "c", {}};
  const BuildResult* const kernels[] = {&a, &b, &c};
  TurnsOptions turns;
  turns.min_rounds = 3;
  turns.stage_seconds = 0;
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<MeasureResult> results,
      MeasureInTurns(runner, *testing::AffineTask(1), kernels, turns, {}));
  EXPECT_THAT(runner.calls,
              ElementsAre("a", "b", "c", "a", "b", "c", "a", "b", "c"));
  EXPECT_THAT(runner.guarded, ElementsAre(true, true, true, false, false, false,
                                          false, false, false));
  EXPECT_EQ(results[0].min_ns, 10);
  EXPECT_DOUBLE_EQ(results[0].paired_ratio, 20.0 / 9);
  EXPECT_EQ(results[0].median_ns, 20);
  EXPECT_EQ(results[0].spread_ns, 10);
  EXPECT_EQ(results[0].samples, 3);
  EXPECT_EQ(results[1].verdict, Verdict::kCrash);
  EXPECT_EQ(results[1].paired_ratio, 0);
  EXPECT_EQ(results[2].median_ns, 9);
  EXPECT_EQ(results[2].min_ns, 8);
  EXPECT_EQ(results[2].paired_ratio, 1);
  EXPECT_TRUE(runner.checked[2]);
  EXPECT_FALSE(runner.checked[3]);
}

TEST(MeasureInTurnsTest, TheSlowerHalfRetiresUntilTwoAreLeft) {
  ScriptRunner runner;
  runner.script = {{"a", {5}},
                   {"b", {9, 1, 1}},
                   {"c", {3, 8}},
                   {"d", {4, 4, 2}},
                   {"e", {2, 7, 7}}};
  std::vector<BuildResult> builds;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    builds.push_back({"", name, {}});
  }
  std::vector<const BuildResult*> kernels;
  for (const BuildResult& build : builds) kernels.push_back(&build);
  TurnsOptions turns;
  turns.min_rounds = 1;
  turns.stage_seconds = 0;
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<MeasureResult> results,
      MeasureInTurns(runner, *testing::AffineTask(1), kernels, turns, {}));
  EXPECT_THAT(runner.calls, ElementsAre("a", "b", "c", "d", "e",  // all
                                        "e", "c", "d",            // the faster
                                        "e", "d"));
  EXPECT_EQ(results[3].min_ns, 2);
  EXPECT_EQ(results[3].paired_ratio, 1);
  EXPECT_EQ(results[4].min_ns, 2);
  EXPECT_DOUBLE_EQ(results[4].paired_ratio, 1.75);
  EXPECT_EQ(results[1].samples, 1);
}

TEST(MeasureInTurnsTest, OneLuckyRoundIsNotFast) {
  ScriptRunner runner;
  runner.script = {{"a", {12, 3, 12, 12, 24}}, {"b", {10, 10, 10, 10, 20}}};
  const BuildResult a = {"", "a", {}}, b = {"", "b", {}};
  const BuildResult* const kernels[] = {&a, &b};
  TurnsOptions turns;
  turns.min_rounds = 5;
  turns.stage_seconds = 0;
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<MeasureResult> results,
      MeasureInTurns(runner, *testing::AffineTask(1), kernels, turns, {}));
  EXPECT_EQ(results[0].min_ns, 3);
  EXPECT_DOUBLE_EQ(results[0].paired_ratio, 1.2);
  EXPECT_EQ(results[1].paired_ratio, 1);
}

TEST(MeasureInTurnsTest, OneIsTheBest) {
  ScriptRunner runner;
  runner.script = {{"a", {10, 10}}, {"b", {10, 10}}};
  const BuildResult a = {"", "a", {}}, b = {"", "b", {}};
  const BuildResult* const kernels[] = {&a, &b};
  TurnsOptions turns;
  turns.min_rounds = 2;
  turns.stage_seconds = 0;
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<MeasureResult> results,
      MeasureInTurns(runner, *testing::AffineTask(1), kernels, turns, {}));
  EXPECT_NE(results[0].paired_ratio, results[1].paired_ratio);
}

TEST(MeasureInTurnsTest, AStageIsFilledWithTurns) {
  ScriptRunner runner;
  runner.script = {{"a", std::vector<double>(100, 1e8)}};  // 0.1 s a turn
  const BuildResult a = {"", "a", {}};
  const BuildResult* const kernels[] = {&a};
  TurnsOptions turns;
  turns.stage_seconds = 0.75;
  KILN_ASSERT_OK(
      MeasureInTurns(runner, *testing::AffineTask(1), kernels, turns, {})
          .status());
  EXPECT_EQ(runner.calls.size(), 8u);
}

}  // namespace
}  // namespace kiln
