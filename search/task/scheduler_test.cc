#include "kiln/search/task/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/task/flight_replay.h"
#include "kiln/search/task/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Program n of a task takes base - n nanoseconds, a little more each time it
// is asked, as on a real machine; program 3 crashes.
class FakeMeasurer : public Measurer {
 public:
  absl::Status Prepare(const TuneTask& task) override {
    ++prepared;
    if (task.name != "symbolic") return absl::OkStatus();
    return absl::InvalidArgumentError("n has no value");
  }
  absl::Status Measure(const TuneTask& task,
                       absl::Span<const Candidate> candidates,
                       const MeasureOptions&,
                       const OnMeasured& on_measured) override {
    std::this_thread::sleep_for(pause);
    for (size_t i = 0; i < candidates.size(); ++i) {
      Measured measured;
      measured.index = static_cast<int64_t>(i);
      measured.result = ResultOf(task, candidates[i].point.decisions[0][0]);
      if (!on_measured(measured)) break;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<MeasureResult>> MeasureAgain(
      const TuneTask& task, absl::Span<const Again> programs,
      const TurnsOptions& turns, const MeasureOptions&) override {
    stage_seconds.push_back(turns.stage_seconds);
    std::vector<MeasureResult> results;
    for (size_t i = 0; i < programs.size(); ++i) {
      results.push_back(ResultOf(task, 4 + static_cast<int64_t>(i)));
    }
    const double least_ns = results.back().min_ns;
    for (MeasureResult& result : results) {
      result.paired_ratio = result.min_ns / least_ns;
    }
    return results;
  }
  void Release(const TuneTask&) override { ++released; }
  std::string CompilerVersion() const override { return "none"; }

  int prepared = 0, released = 0, calls = 0;
  std::vector<double> stage_seconds;     // of each comparison
  std::chrono::milliseconds pause = {};  // of each batch

 private:
  MeasureResult ResultOf(const TuneTask& task, int64_t number) {
    MeasureResult result;
    if (number == 3) {
      result.verdict = Verdict::kCrash;
      result.reason = "SIGSEGV";
      return result;
    }
    result.min_ns = task.flop - static_cast<double>(number) + 1e-3 * ++calls;
    result.median_ns = result.min_ns * 1.01;
    result.samples = 3;
    return result;
  }
};

// Everything that a run needs, on `threads` threads.
class World {
 public:
  explicit World(int threads, uint64_t seed = 7)
      : pool_({.num_threads = threads}), seed_(seed) {
    std::string folder = ::testing::TempDir() + "/kiln_scheduler_XXXXXX";
    folder_ = mkdtemp(folder.data());
    database_ = Database::Open(folder_ + "/db.sqlite").value();
    options.session.trials = 40;
    options.session.seed = seed;
    options.session.batch = 8;
  }

  void Add(const std::string& name, uint64_t size, double base,
           double weight = 1) {
    spaces_.push_back(std::make_unique<NumberSpace>(size));
    auto task = std::make_unique<TuneTask>();
    task->name = name;
    task->workload = {Sha256Hex(name), "main", name};
    task->target = "none";
    task->flop = base;
    task->weight = weight;
    task->space = spaces_.back().get();
    tasks_.push_back(std::move(task));
  }

  absl::StatusOr<std::vector<TuneState>> Run(Measurer* measurer,
                                             FlightSink* flight = nullptr) {
    std::vector<ScheduledTask> scheduled;
    strategies_.clear();
    for (const auto& task : tasks_) {
      strategies_.push_back(
          std::make_unique<RandomSearch>(task->space, seed_, &pool_));
      scheduled.push_back({task.get(), strategies_.back().get()});
    }
    return TuneAll(scheduled, options, database_.get(), measurer, flight);
  }

  std::string LogPath() const { return folder_ + "/flight.jsonl"; }
  Database& database() { return *database_; }
  TuneAllOptions options;

 private:
  ThreadPool pool_;
  uint64_t seed_;
  std::string folder_;
  std::unique_ptr<Database> database_;
  std::vector<std::unique_ptr<NumberSpace>> spaces_;
  std::vector<std::unique_ptr<TuneTask>> tasks_;
  std::vector<std::unique_ptr<RandomSearch>> strategies_;
};

void AddThree(World* world) {
  world->Add("small", 100, 1e3);
  world->Add("large", 1000, 1e5, 3);
  world->Add("tiny", 5, 10);
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Begins a run in the world's log.
std::unique_ptr<FlightLog> Log(const World& world) {
  std::unique_ptr<FlightLog> log = FlightLog::Open(world.LogPath()).value();
  flight::Event event;
  event.mutable_run()->set_version(kFlightVersion);
  event.mutable_run()->set_compiler("none");
  KILN_EXPECT_OK(log->Write(event));
  return log;
}

TEST(SchedulerTest, EveryTaskGetsItsTrialsAndIsReleased) {
  World world(1);
  AddThree(&world);
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[0].trials_done, 40);
  EXPECT_EQ(states[1].trials_done, 40);
  EXPECT_EQ(states[2].trials_done, 5) << "the space has no more";
  EXPECT_TRUE(states[2].exhausted);
  EXPECT_EQ(states[2].failed(), 1);
  for (const TuneState& state : states) {
    EXPECT_TRUE(state.finished);
    EXPECT_TRUE(state.best.has_value());
  }
  EXPECT_EQ(measurer.prepared, 3);
  EXPECT_EQ(measurer.released, 3);
}

TEST(SchedulerTest, ATotalIsSharedByWhatPromisesMost) {
  World world(1);
  AddThree(&world);
  world.options.session.trials = 1000;
  world.options.trials = 120;
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_EQ(
      states[0].trials_done + states[1].trials_done + states[2].trials_done,
      120);
  EXPECT_GT(states[1].trials_done, 4 * states[0].trials_done);
  EXPECT_GE(states[0].trials_done, 8) << "one batch at least";
}

TEST(SchedulerTest, AFewTrialsReachEveryTask) {
  World world(1);
  for (const char* name : {"a", "b", "c"}) world.Add(name, 1000, 1e3);
  world.options.session.trials = 1000;
  world.options.trials = 10;
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_EQ(states[0].trials_done, 3);
  EXPECT_EQ(states[1].trials_done, 3);
  EXPECT_EQ(states[2].trials_done, 4);
}

TEST(SchedulerTest, TheFirstBatchComesInThreeParts) {
  World world(1);
  world.Add("only", 1000, 1e3);
  world.options.session.batch = 16;
  std::vector<size_t> sizes;
  world.options.session.found = [&](const TuneState&, const SearchBatch& batch,
                                    const std::vector<std::string>&) {
    sizes.push_back(batch.candidates.size());
  };
  int picked = 0;
  world.options.picked = [&](const std::vector<TuneState>&, int) { ++picked; };
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_EQ(states[0].trials_done, 40);
  EXPECT_EQ(sizes, (std::vector<size_t>{5, 5, 6, 16, 8}));
  EXPECT_EQ(picked, 3) << "parts of a batch are one step";
}

TEST(SchedulerTest, ATaskThatCannotBeMeasuredDoesNotStopTheOthers) {
  World world(1);
  world.Add("symbolic", 100, 1e3);
  world.Add("plain", 100, 1e3);
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_EQ(states[0].gave_up, "n has no value");
  EXPECT_EQ(states[0].trials_done, 0);
  EXPECT_EQ(states[1].trials_done, 40);
}

TEST(SchedulerTest, TrialsInVainEndATask) {
  World world(1);
  world.Add("small", 1000, 1e6);
  world.options.session.trials = 1000;
  world.options.session.early_stopping = 10;
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_TRUE(states[0].finished);
  EXPECT_FALSE(states[0].exhausted);
  EXPECT_LT(states[0].trials_done, 300);
}

TEST(SchedulerTest, TimeAndInterruptsEndTheRun) {
  World world(1);
  AddThree(&world);
  world.options.max_seconds = 0;
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states, world.Run(&measurer));
  EXPECT_EQ(states[0].trials_done, 0);
  EXPECT_FALSE(states[0].interrupted);
  int asked = 0;
  world.options.max_seconds = 1e9;
  world.options.session.stop = [&] { return ++asked > 20; };
  KILN_ASSERT_OK_AND_ASSIGN(states, world.Run(&measurer));
  EXPECT_TRUE(states[1].interrupted);
  EXPECT_GT(states[0].trials_done, 0);
  EXPECT_LT(states[1].trials_done, 40);
  // The next run goes on.
  world.options.session.stop = nullptr;
  KILN_ASSERT_OK_AND_ASSIGN(auto again, world.Run(&measurer));
  EXPECT_EQ(again[0].trials_resumed, states[0].trials_done);
  EXPECT_EQ(again[0].trials_done, 40);
}

TEST(SchedulerTest, ComparisonsAreShorterWhereTimeIsShort) {
  for (const double seconds : {0.05, 1e9}) {
    World world(1);
    AddThree(&world);
    world.options.max_seconds = seconds;
    FakeMeasurer measurer;
    measurer.pause = std::chrono::milliseconds(10);
    KILN_ASSERT_OK(world.Run(&measurer).status());
    ASSERT_FALSE(measurer.stage_seconds.empty());
    const double full = world.options.session.turns.stage_seconds;
    EXPECT_LE(measurer.stage_seconds[0], seconds < 1 ? 0.05 : full);
    EXPECT_GE(measurer.stage_seconds[0], seconds < 1 ? 0.03 : full);
  }
}

TEST(TuneAllTest, TheTrialsOfAllTasksIncludeThoseOfEarlierRuns) {
  World world(1);
  AddThree(&world);
  world.options.session.trials = 1000;
  for (const int64_t trials : {30, 50, 50, 40}) {
    world.options.trials = trials;
    FakeMeasurer measurer;
    KILN_ASSERT_OK(world.Run(&measurer).status());
    int64_t done = 0;
    KILN_ASSERT_OK_AND_ASSIGN(const auto all, world.database().AllRecords());
    for (const TuningRecord& record : all) {
      done += record.verdict != Verdict::kScheduleRefused;
    }
    EXPECT_EQ(done, trials == 40 ? 50 : trials);
  }
}

TEST(TuneAllTest, FinalistsKeepTheirLeastTimesBesideTheirRatios) {
  World world(1);
  world.Add("small", 100, 1e3);
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(const auto states, world.Run(&measurer));
  const double best_ns = states[0].best->latency_min_ns;
  int winners = 0, losers = 0;
  KILN_ASSERT_OK_AND_ASSIGN(const auto records, world.database().AllRecords());
  for (const TuningRecord& record : records) {
    winners += record.paired_ratio == 1;
    if (record.paired_ratio <= 1) continue;
    ++losers;
    EXPECT_DOUBLE_EQ(record.ranked_ns, best_ns * record.paired_ratio);
    EXPECT_LE(record.latency_min_ns, 1e3 - 4 - losers + 1);
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, world.options.session.finalists - 1);
  EXPECT_EQ(states[0].best->paired_ratio, 1);
}

TEST(TuneAllTest, ALuckyTrialOfAnEarlierRunDoesNotBeatTheWinner) {
  World world(1);
  world.Add("small", 100, 1e3);
  world.options.session.trials = 20;
  const Workload workload = {Sha256Hex("small"), "main", "small"};
  KILN_ASSERT_OK(world.database().AddWorkload(workload));
  TuningRecord lucky;  // a program that is not in the space
  lucky.workload_key = workload.key;
  lucky.target = "none";
  lucky.program_hash = "lucky";
  lucky.trace = "of another space";
  lucky.latency_min_ns = 1;
  KILN_ASSERT_OK(world.database().CommitTrial(lucky));
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(const auto states, world.Run(&measurer));
  EXPECT_NE(states[0].best->program_hash, "lucky");
  EXPECT_EQ(states[0].best->paired_ratio, 1);
  KILN_ASSERT_OK_AND_ASSIGN(const TuningRecord best,
                            world.database().Best(workload.key, "none"));
  EXPECT_EQ(best.program_hash, states[0].best->program_hash);
}

TEST(TuneAllTest, WhatAnEarlierRunFoundTakesPartInTheComparison) {
  World world(1);
  world.Add("small", 100, 1e3);
  FakeMeasurer measurer;
  int asked = 0;
  world.options.session.stop = [&] { return ++asked > 12; };
  KILN_ASSERT_OK(world.Run(&measurer).status());
  KILN_ASSERT_OK_AND_ASSIGN(auto records, world.database().AllRecords());
  ASSERT_FALSE(records.empty());
  for (const auto& record : records) EXPECT_EQ(record.paired_ratio, 0);
  const int64_t last = records.back().id;
  world.options.session.stop = nullptr;
  world.options.session.trials = static_cast<int64_t>(records.size()) + 2;
  KILN_ASSERT_OK(world.Run(&measurer).status());
  int compared = 0;
  KILN_ASSERT_OK_AND_ASSIGN(records, world.database().AllRecords());
  for (const TuningRecord& record : records) {
    compared += record.id <= last && record.paired_ratio > 0;
  }
  EXPECT_GT(compared, 0);
}

// Runs with a log, and again from the log on other numbers of threads.
void ExpectSameFlight(const std::function<void(World*)>& prepare) {
  World world(2);
  AddThree(&world);
  prepare(&world);
  FakeMeasurer measurer;
  KILN_ASSERT_OK_AND_ASSIGN(auto states,
                            world.Run(&measurer, Log(world).get()));
  KILN_ASSERT_OK_AND_ASSIGN(auto runs, ParseFlightLog(Read(world.LogPath())));
  ASSERT_EQ(runs.size(), 1u);
  for (int threads : {1, 2}) {
    World other(threads);
    AddThree(&other);
    prepare(&other);
    FlightReplay replay(runs[0]);
    other.options.session.stop = [&] { return replay.Interrupted(); };
    other.options.time_up = [&] { return replay.TimeUp(); };
    KILN_ASSERT_OK_AND_ASSIGN(auto replayed, other.Run(&replay, &replay));
    EXPECT_TRUE(replay.at_end());
    EXPECT_EQ(replay.compared() + 1, runs[0].size());
    for (size_t i = 0; i < states.size(); ++i) {
      EXPECT_EQ(replayed[i].trials_done, states[i].trials_done);
      ASSERT_EQ(replayed[i].best.has_value(), states[i].best.has_value());
      if (!states[i].best) continue;
      EXPECT_EQ(replayed[i].best->trace, states[i].best->trace);
      EXPECT_EQ(replayed[i].best->latency_min_ns,
                states[i].best->latency_min_ns);
    }
  }
}

TEST(FlightReplayTest, DecidesTheSameOnOneAndTwoThreads) {
  ExpectSameFlight([](World*) {});
}

TEST(FlightReplayTest, DecidesTheSameWhereTrialsAreShared) {
  ExpectSameFlight([](World* world) {
    world->options.session.trials = 500;
    world->options.trials = 150;
  });
}

TEST(FlightReplayTest, StopsWhereTheRunWasInterruptedOrOutOfTime) {
  ExpectSameFlight([](World* world) {
    auto asked = std::make_shared<int>(0);
    world->options.session.stop = [asked] { return ++*asked > 33; };
  });
  ExpectSameFlight([](World* world) {
    auto asked = std::make_shared<int>(0);
    world->options.time_up = [asked] { return ++*asked > 29; };
  });
}

TEST(FlightReplayTest, AnotherSeedIsFoundOut) {
  World world(1);
  AddThree(&world);
  FakeMeasurer measurer;
  KILN_EXPECT_OK(world.Run(&measurer, Log(world).get()).status());
  KILN_ASSERT_OK_AND_ASSIGN(auto runs, ParseFlightLog(Read(world.LogPath())));
  World other(1, 8);
  AddThree(&other);
  FlightReplay replay(runs[0]);
  EXPECT_THAT(other.Run(&replay, &replay),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("leaves the flight log at event 3")));
}

TEST(FlightReplayTest, ALogThatWasCutEndsQuietly) {
  World world(1);
  AddThree(&world);
  FakeMeasurer measurer;
  KILN_EXPECT_OK(world.Run(&measurer, Log(world).get()).status());
  const std::string text = Read(world.LogPath());
  for (size_t size : {text.size() / 3, text.size() / 2, text.size() - 5}) {
    KILN_ASSERT_OK_AND_ASSIGN(auto runs, ParseFlightLog(text.substr(0, size)));
    World other(2);
    AddThree(&other);
    FlightReplay replay(runs[0]);
    other.options.session.stop = [&] { return replay.Interrupted(); };
    KILN_EXPECT_OK(other.Run(&replay, &replay).status());
    EXPECT_TRUE(replay.at_end()) << size;
  }
}

TEST(FlightLogTest, BadLogsAreRefusedByLine) {
  const auto refused = [](const std::string& text, const char* why) {
    EXPECT_THAT(ParseFlightLog(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << text;
  };
  refused("", "holds no run");
  refused("nonsense\n", "line 1");
  refused("{\"run\":{\"version\":99}}\n", "version 99");
  refused("{\"pick\":{\"task\":1}}\n", "before any run");
  refused("{\"run\":{\"version\":1}}\n{\"pick\":\n{\"pick\":{}}\n", "line 2");
  refused("{\"run\":{\"version\":1}}\n{}\n{\"pick\":{}}\n", "no content");
}

TEST(FlightLogTest, ARunAfterAKillBeginsOnALineOfItsOwn) {
  World world(1);
  AddThree(&world);
  std::ofstream(world.LogPath()) << "{\"run\":{\"version\":1}}\n{\"at\":1,\"pi";
  FakeMeasurer measurer;
  KILN_EXPECT_OK(world.Run(&measurer, Log(world).get()).status());
  KILN_ASSERT_OK_AND_ASSIGN(auto runs, ParseFlightLog(Read(world.LogPath())));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].size(), 1u);
  EXPECT_GT(runs[1].size(), 100u);
}

}  // namespace
}  // namespace kiln
