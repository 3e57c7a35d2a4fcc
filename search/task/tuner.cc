#include "kiln/search/task/tuner.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/measure/measure_all.h"
#include "kiln/search/strategy/random_search.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

class Session {
 public:
  Session(const TuneTask& task, const TuneOptions& options, Builder& builder,
          Runner& runner, Database& database, ThreadPool& pool)
      : task_(task),
        options_(options),
        builder_(builder),
        runner_(runner),
        database_(database),
        random_(task.space, options.seed, &pool),
        strategy_(options.strategy ? *options.strategy : random_),
        start_(Clock::now()) {
    state_.task = task.name;
    state_.flop = task.flop;
    state_.peak_gflops = task.peak_gflops;
    state_.trials_total = options.trials;
  }

  absl::StatusOr<TuneState> Run() {
    KILN_RETURN_IF_ERROR(Resume());
    Report(nullptr);
    while (!Done()) {
      KILN_RETURN_IF_ERROR(RunBatch());
    }
    KILN_RETURN_IF_ERROR(RunFinal());
    Report(nullptr);
    return state_;
  }

 private:
  bool Done() {
    state_.interrupted =
        state_.interrupted || (options_.stop && options_.stop());
    return state_.interrupted || state_.exhausted ||
           state_.trials_done >= state_.trials_total ||
           Seconds() > options_.max_seconds;
  }

  double Seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void Report(const TuningRecord* record) {
    state_.seconds = Seconds();
    if (options_.progress) options_.progress(state_, record);
  }

  // Takes earlier trials of the workload into account.
  absl::Status Resume() {
    KILN_RETURN_IF_ERROR(database_.AddWorkload(task_.workload));
    RecordFilter filter;
    filter.workload_key = task_.workload.key;
    filter.target = task_.target;
    KILN_RETURN_IF_ERROR(
        database_.ForEachRecord(filter, [&](const TuningRecord& record) {
          if (!record.program_hash.empty())
            strategy_.Exclude(record.program_hash);
          Count(record);
          Remember(record);
          return absl::OkStatus();
        }));
    state_.trials_resumed = state_.trials_done;
    return Teach(earlier_);
  }

  // An earlier trial that the space still holds, for the strategy.
  void Remember(const TuningRecord& record) {
    if (options_.strategy == nullptr) return;
    if (record.verdict == Verdict::kScheduleRefused) return;
    std::optional<Point> point = task_.space->Locate(record.trace);
    if (!point) return;
    absl::StatusOr<Candidate> candidate = task_.space->At(*point);
    if (candidate.ok()) earlier_.Add(*std::move(candidate), record);
  }

  // Candidates and their seconds; 0 for what failed.
  struct Lesson {
    std::vector<Candidate> candidates;
    std::vector<double> seconds;

    void Add(Candidate candidate, const TuningRecord& record) {
      candidates.push_back(std::move(candidate));
      const bool ok = record.verdict == Verdict::kOk;
      seconds.push_back(ok ? record.latency_min_ns * 1e-9 : 0);
    }
  };

  absl::Status Teach(const Lesson& lesson) {
    if (lesson.candidates.empty()) return absl::OkStatus();
    return strategy_.Observe(lesson.candidates, lesson.seconds);
  }

  void Count(const TuningRecord& record) {
    ++state_.counts[static_cast<int>(record.verdict)];
    if (record.verdict != Verdict::kScheduleRefused) ++state_.trials_done;
    if (record.verdict != Verdict::kOk) return;
    if (!state_.best || record.latency_min_ns < state_.best->latency_min_ns) {
      state_.best = record;
    }
  }

  TuningRecord NewRecord(uint64_t index) const {
    TuningRecord record;
    record.workload_key = task_.workload.key;
    record.target = task_.target;
    record.compiler_version = builder_.CompilerVersion();
    record.seed = options_.seed;
    record.trial = static_cast<int64_t>(index);
    return record;
  }

  TuningRecord NewRecord(const Candidate& candidate, uint64_t index) const {
    TuningRecord record = NewRecord(index);
    record.program_hash = candidate.program_hash;
    record.trace = task_.space->TraceText(candidate.point);
    record.decisions = task_.space->DecisionText(candidate.point);
    return record;
  }

  absl::Status Commit(const TuningRecord& record) {
    absl::StatusOr<int64_t> id = database_.CommitTrial(record);
    if (absl::IsAlreadyExists(id.status())) return absl::OkStatus();
    KILN_RETURN_IF_ERROR(id.status());
    Count(record);
    Report(&record);
    return absl::OkStatus();
  }

  absl::Status CommitRefused(const SearchBatch& batch) {
    for (const RefusedSample& refused : batch.refused) {
      TuningRecord record = NewRecord(refused.index);
      record.verdict = Verdict::kScheduleRefused;
      record.reason = refused.reason;
      record.trace = refused.reason;
      KILN_RETURN_IF_ERROR(Commit(record));
    }
    return absl::OkStatus();
  }

  absl::Status RunBatch() {
    const int64_t left = state_.trials_total - state_.trials_done;
    SearchBatch batch = strategy_.Next(
        static_cast<int>(std::min<int64_t>(left, options_.batch)));
    state_.exhausted = batch.exhausted;
    KILN_RETURN_IF_ERROR(CommitRefused(batch));
    std::vector<Function> functions;
    for (const Candidate& candidate : batch.candidates) {
      functions.push_back(candidate.scheduled);
    }
    absl::Status status;
    std::map<size_t, TuningRecord> records;  // results come in any order
    KILN_RETURN_IF_ERROR(MeasureAll(
        builder_, runner_, *task_.data, functions, MeasureAllOptionsNow(),
        [&](const Measured& measured) {
          TuningRecord record = NewRecord(batch.candidates[measured.index],
                                          batch.indices[measured.index]);
          Fill(measured.result, &record);
          status = Commit(record);
          records[measured.index] = record;
          if (measured.result.verdict == Verdict::kOk) {
            Keep(record, *measured.kernel);
          }
          return status.ok() && !(options_.stop && options_.stop());
        }));
    KILN_RETURN_IF_ERROR(status);
    Lesson lesson;
    for (const auto& [index, record] : records) {
      lesson.Add(batch.candidates[index], record);
    }
    return Teach(lesson);
  }

  MeasureAllOptions MeasureAllOptionsNow() const {
    MeasureAllOptions options;
    options.measure = options_.measure;
    options.measure.num_threads = task_.num_threads;
    if (state_.best) options.measure.best_ns = state_.best->latency_min_ns;
    options.num_cpus = ThreadPool::NumAvailableCpus();
    return options;
  }

  // Takes the result into the record, and its cost into the state.
  void Fill(const MeasureResult& result, TuningRecord* record) {
    state_.check_seconds += result.check_seconds;
    record->verdict = result.verdict;
    record->reason = result.reason;
    record->latency_min_ns = result.min_ns;
    record->latency_median_ns = result.median_ns;
    record->latency_spread_ns = result.spread_ns;
    record->samples = result.samples;
  }

  // Remembers the kernels of the fastest few.
  void Keep(const TuningRecord& record, const BuildResult& build) {
    finalists_.push_back({record, build});
    std::sort(finalists_.begin(), finalists_.end(),
              [](const Finalist& a, const Finalist& b) {
                return a.record.latency_min_ns < b.record.latency_min_ns;
              });
    if (static_cast<int>(finalists_.size()) > options_.finalists) {
      finalists_.pop_back();
    }
  }

  // Times the fastest few again in turns, so that a moment of quiet or of noise
  // does not decide between them.
  absl::Status RunFinal() {
    const bool cut_short = state_.interrupted || finalists_.size() < 2;
    if (cut_short) return absl::OkStatus();
    std::vector<const BuildResult*> kernels;
    for (const Finalist& finalist : finalists_) {
      kernels.push_back(&finalist.build);
    }
    std::vector<MeasureResult> results;
    KILN_ASSIGN_OR_RETURN(
        results, MeasureInTurns(runner_, *task_.data, kernels, options_.turns,
                                MeasureAllOptionsNow().measure));
    state_.best.reset();
    for (size_t i = 0; i < results.size(); ++i) {
      TuningRecord& record = finalists_[i].record;
      const double first_ns = record.latency_min_ns;
      --state_.counts[static_cast<int>(record.verdict)];
      Fill(results[i], &record);
      ++state_.counts[static_cast<int>(record.verdict)];
      if (record.verdict == Verdict::kOk) {
        record.latency_min_ns = std::min(record.latency_min_ns, first_ns);
      }
      KILN_RETURN_IF_ERROR(database_.ReviseTrial(record));
    }
    return FindBest();
  }

  // The best of all, earlier runs included.
  absl::Status FindBest() {
    absl::StatusOr<TuningRecord> best =
        database_.Best(task_.workload.key, task_.target);
    if (absl::IsNotFound(best.status())) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(state_.best, std::move(best));
    return absl::OkStatus();
  }

  struct Finalist {
    TuningRecord record;
    BuildResult build;
  };

  const TuneTask& task_;
  const TuneOptions& options_;
  Builder& builder_;
  Runner& runner_;
  Database& database_;
  RandomSearch random_;
  Strategy& strategy_;
  Clock::time_point start_;
  TuneState state_;
  std::vector<Finalist> finalists_;
  Lesson earlier_;
};

}  // namespace

int64_t TuneState::failed() const {
  int64_t total = 0;
  for (int64_t count : counts) total += count;
  return total - counts[static_cast<int>(Verdict::kOk)];
}

absl::StatusOr<TuneState> Tuner::Run(const TuneTask& task,
                                     const TuneOptions& options) {
  Session session(task, options, builder_, runner_, database_, pool_);
  return session.Run();
}

}  // namespace kiln
