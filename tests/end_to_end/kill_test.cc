// A tuner that is killed, interrupted or started again loses nothing and
// measures nothing twice. KILN_KILLS says how often it is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kiln/tests/end_to_end/tuning.h"

namespace kiln {
namespace {

using testing::Events;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;
using testing::TuneCommand;
using testing::WorkFolder;

constexpr char kWorkload[] = "gmm:256,256,256";
constexpr int kKillsOfOneFolder = 34;

std::vector<std::string> Programs(const WorkFolder& folder) {
  std::vector<std::string> programs;
  for (const TuningRecord& record : folder.Records()) {
    if (!record.program_hash.empty()) programs.push_back(record.program_hash);
  }
  return programs;
}

// Starts a run, kills it some microseconds after its n-th line, and returns
// what it had reported.
Events RunAndKill(const WorkFolder& folder, int lines, int microseconds) {
  testing::Process process(TuneCommand(kWorkload, 1 << 20, folder));
  Events events;
  for (int i = 0; i < lines; ++i) {
    auto line = process.ReadLine(60);
    if (!line) break;
    events.Add(*line);
  }
  usleep(microseconds);
  process.Signal(SIGKILL);
  while (auto line = process.ReadLine(10)) events.Add(*line);
  EXPECT_EQ(process.Wait(10).signal, SIGKILL);
  return events;
}

void ExpectNoneTwice(std::vector<std::string> programs) {
  std::sort(programs.begin(), programs.end());
  EXPECT_EQ(std::adjacent_find(programs.begin(), programs.end()),
            programs.end());
}

// Kills a run so many times, lets it end, and compares what was reported with
// what is in the database.
void KillAndResume(int kills, std::mt19937& random) {
  WorkFolder folder;
  std::vector<std::string> reported;
  for (int i = 0; i < kills; ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    // Now and then before the first trial, else between or within trials.
    const int lines = random() % 7;
    const Events events =
        RunAndKill(folder, lines, random() % (lines == 0 ? 1500000 : 50000));
    for (const std::string& p : events.Programs()) reported.push_back(p);
    ASSERT_THAT(reported, IsSubsetOf(Programs(folder)));
    ASSERT_TRUE(testing::AllDescendantsEnd(10)) << "a worker is left behind";
  }
  const int64_t before = Programs(folder).size();
  const Events last =
      testing::RunTuning(TuneCommand(kWorkload, before + 6, folder));
  ASSERT_TRUE(last.start.has_value());
  EXPECT_EQ(last.start->resumed(), before);
  for (const std::string& p : last.Programs()) reported.push_back(p);
  ExpectNoneTwice(reported);
  EXPECT_EQ(static_cast<int64_t>(Programs(folder).size()), before + 6);
  std::printf("%d kills, %zu programs reported, %ld recorded, none lost\n",
              kills, reported.size(), static_cast<long>(before + 6));
}

TEST(KillTest, WhatWasReportedSurvivesAndTheRunResumes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  // The space ends after some hundred programs: a new folder now and then.
  int left = testing::CountFromEnvironment("KILN_KILLS", 8);
  for (; left > 0 && !HasFatalFailure(); left -= kKillsOfOneFolder) {
    KillAndResume(std::min(left, kKillsOfOneFolder), random);
  }
}

// A run that `signal` ends after its third trial.
void InterruptAndResume(int signal) {
  WorkFolder folder;
  testing::Process process(TuneCommand(kWorkload, 1 << 20, folder));
  Events events;
  while (events.trials.size() < 3) {
    auto line = process.ReadLine(60);
    ASSERT_TRUE(line.has_value());
    events.Add(*line);
  }
  process.Signal(signal);
  while (auto line = process.ReadLine(60)) events.Add(*line);
  const testing::ProcessResult result = process.Wait(60);
  EXPECT_EQ(result.status, 128 + signal) << result.err;
  EXPECT_EQ(result.signal, 0);
  EXPECT_THAT(result.err, HasSubstr("tune: interrupted, ends after the"));
  ASSERT_TRUE(events.done.has_value());
  EXPECT_TRUE(events.done->interrupted());
  EXPECT_GT(events.done->tasks(0).latency_us(), 0);
  for (const char* name : {"best.py", "best.pb", "trace.py", "kernel.o"}) {
    EXPECT_TRUE(
        std::filesystem::exists(folder.path() + "/gmm_256_256_256/" + name))
        << name;
  }
  EXPECT_TRUE(testing::AllDescendantsEnd(5));
  const int64_t before = Programs(folder).size();
  const Events again =
      testing::RunTuning(TuneCommand(kWorkload, before + 2, folder));
  EXPECT_EQ(again.start->resumed(), before);
  EXPECT_EQ(again.Programs().size(), 2);
  EXPECT_FALSE(again.done->interrupted());
}

TEST(KillTest, CtrlCEndsARunWithWhatWasFoundAndTheNextResumes) {
  InterruptAndResume(SIGINT);
}

TEST(KillTest, SigtermEndsARunWithWhatWasFoundAndTheNextResumes) {
  InterruptAndResume(SIGTERM);
}

// Reads a run to its end.
void ReadOn(testing::Process& process, Events* events) {
  while (auto line = process.ReadLine(60)) events->Add(*line);
}

TEST(KillTest, TwoTunersShareAFolder) {
  WorkFolder folder;
  testing::Process first(TuneCommand(kWorkload, 1 << 20, folder));
  const std::string first_pid = std::to_string(first.pid());
  Events of_first, of_second;
  while (of_first.trials.empty()) {
    auto line = first.ReadLine(60);
    ASSERT_TRUE(line.has_value());
    of_first.Add(*line);
  }
  std::vector<std::string> command = TuneCommand(kWorkload, 1 << 20, folder);
  command.push_back("--seed=5");
  testing::Process second(command);
  while (of_second.trials.size() < 3) {
    auto line = second.ReadLine(60);
    ASSERT_TRUE(line.has_value());
    of_second.Add(*line);
  }
  first.Signal(SIGINT);
  second.Signal(SIGINT);
  ReadOn(first, &of_first);
  ReadOn(second, &of_second);
  EXPECT_THAT(first.Wait(60).err, Not(HasSubstr("warning: process")));
  const testing::ProcessResult result = second.Wait(60);
  EXPECT_EQ(result.status, 128 + SIGINT) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("warning: process " + first_pid + " tunes in"));
  EXPECT_THAT(of_first.Programs(), IsSubsetOf(Programs(folder)));
  EXPECT_THAT(of_second.Programs(), IsSubsetOf(Programs(folder)));
}

// Random draws do not depend on measured times, as those of a search that
// learns do.
std::vector<std::string> DrawCommand(const WorkFolder& folder) {
  std::vector<std::string> command = TuneCommand(kWorkload, 12, folder);
  command.push_back("--search=random");
  return command;
}

TEST(KillTest, TheSameSeedGivesTheSameCandidates) {
  WorkFolder one, two;
  const Events first = testing::RunTuning(DrawCommand(one));
  const Events second = testing::RunTuning(DrawCommand(two));
  const std::vector<std::string> a = first.Programs(), b = second.Programs();
  EXPECT_EQ(a.size(), 12);
  EXPECT_EQ(std::set<std::string>(a.begin(), a.end()),
            std::set<std::string>(b.begin(), b.end()));
  const Events again = testing::RunTuning(DrawCommand(one));
  EXPECT_TRUE(again.trials.empty()) << "a program was measured again";
  EXPECT_EQ(again.done->tasks(0).latency_us(),
            first.done->tasks(0).latency_us());
}

}  // namespace
}  // namespace kiln
