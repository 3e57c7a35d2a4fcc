// One task's search, in steps: draw programs, build, check and time them, keep
// every trial, and know the best.
#ifndef KILN_SEARCH_TASK_SESSION_H_
#define KILN_SEARCH_TASK_SESSION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/rename_trace.h"
#include "kiln/search/measure/measure_all.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/strategy/strategy.h"
#include "kiln/search/task/finalists.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/measurer.h"
#include "kiln/search/task/task.h"

namespace kiln {

struct SessionOptions {
  int64_t trials = 64;  // programs with a record, earlier runs included
  uint64_t seed = 0;    // recorded with each trial
  // The task is finished after so many trials in a row without a better one.
  // 0: never.
  int64_t early_stopping = 0;
  // Programs that are proposed and measured at a time. The first batch of a
  // task comes in three parts, as the first times teach most.
  int batch = 16;
  // The best few are timed again, in turns, before one is named.
  int finalists = 16;
  TurnsOptions turns;
  MeasureOptions measure;
  // Asked between trials; true ends the step.
  std::function<bool()> stop;
  // Told when a batch was found, with what the strategy says of it.
  std::function<void(const TuneState&, const SearchBatch&,
                     const std::vector<std::string>&)>
      found;
  // Told after each trial. The record is null between trials.
  std::function<void(const TuneState&, const TuningRecord*)> progress;
  // Told of each record that the comparison of the best few has changed.
  std::function<void(const TuneState&, const TuningRecord&)> revised;
};

// What the sessions of a run share.
struct SessionParts {
  Database* database = nullptr;
  Measurer* measurer = nullptr;
  FlightSink* flight = nullptr;  // null: nothing is logged
  std::chrono::steady_clock::time_point start;

  double Seconds() const;
  absl::Status Log(flight::Event event) const;
};

class Session {
 public:
  // All arguments outlive the session.
  Session(int id, const TuneTask& task, Strategy& strategy,
          const SessionOptions& options, const SessionParts& parts);

  // Takes earlier trials of the workload into account. Comes first.
  absl::Status Resume();
  // Measures one batch of at most `most` programs. The task is finished
  // afterwards if it has its trials, the space has no more programs, or no
  // trial in a while was better.
  absl::Status Step(int64_t most);
  // Times the fastest few again in turns, those of earlier runs included, so
  // that a moment of quiet or of noise does not decide between them, and names
  // the best. Without a step before it, nothing is timed.
  absl::Status Finish();
  // Names the best without timing anything again.
  absl::Status Abandon();

  const TuneTask& task() const { return task_; }
  const TuneState& state() const { return state_; }
  // The best latency in nanoseconds after each step so far.
  const std::vector<double>& history() const { return history_; }
  // What is worth another look.
  int64_t num_finalists() const {
    return prepared_ ? static_cast<int64_t>(finalists_.size()) : 0;
  }
  void Interrupt() { state_.interrupted = true; }

 private:
  struct Lesson;

  void Report(const TuningRecord* record);
  void Remember(const TuningRecord& record, Lesson* lesson);
  absl::Status Teach(const Lesson& lesson);
  void Count(const TuningRecord& record);
  TuningRecord NewRecord(uint64_t index) const;
  TuningRecord NewRecord(const Candidate& candidate, uint64_t index) const;
  absl::Status LearnNames();
  absl::Status Commit(const TuningRecord& record);
  absl::Status CommitRefused(const SearchBatch& batch);
  absl::Status LogBatch(const SearchBatch& batch);
  absl::Status MeasureBatch(const SearchBatch& batch, Lesson* lesson);
  MeasureOptions MeasureNow() const;
  void Fill(const MeasureResult& result, TuningRecord* record);
  absl::Status Compare(std::vector<Finalist>* finalists);
  absl::Status Revise(Finalist* finalist, const MeasureResult& result,
                      double winner_ns);
  absl::Status RankBehind(const TuningRecord& winner);
  absl::Status FindBest();
  // Of all, the kernel of the best is kept.
  void KeepKernel(const TuningRecord& record, const BuildResult* kernel);
  absl::Status NameBest();
  absl::Status Prepare();
  bool Stopped() const;
  int64_t NextPart(int64_t left) const;
  absl::Status StepPart(int64_t count);
  void UpdateFinished();

  const int id_;
  const TuneTask& task_;
  Strategy& strategy_;
  const SessionOptions& options_;
  const SessionParts& parts_;
  TuneState state_;
  std::vector<double> history_;
  Finalists finalists_;
  bool prepared_ = false;
  // Between the names of the task and those of the stored workload.
  TraceRenamer to_stored_, from_stored_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_SESSION_H_
