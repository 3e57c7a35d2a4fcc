// A step is: the strategy proposes, refused samples are recorded, the others
// are built and timed, and each result goes to four places as soon as it is
// there, the flight log, the database, the finalists and the lesson for the
// strategy:
//
//   Next(5)   5 candidates, 2 refused samples
//             result 1: log, commit, ..    result 2: log, commit, ..
//             Observe(5 programs with their seconds)
//
// The first batch of 16 comes as 5, 5 and 6, as the first times teach most.
//
// A single time is noisy, and the least of many noisy times is biased: so the
// best few are timed again in turns, and the winner of that comparison is the
// best. The losers' ranks become the winner's time times the ratio to it; a
// trial with a lower time that was not compared is ranked just behind the
// winner (RankBehind). Database and session may name a function differently:
// traces are renamed on the way in and out, and nowhere else.
#include "kiln/search/task/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/search/database/utf8.h"

namespace kiln {
namespace {

// The place of the winner of a comparison; -1 where all failed.
int WinnerOf(const std::vector<MeasureResult>& results) {
  int winner = -1;
  double least = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].verdict != Verdict::kOk) continue;
    // Without ratios, as in logs of old, the times tell the same.
    const double ratio = results[i].paired_ratio;
    const double size = ratio > 0 ? ratio : results[i].min_ns;
    if (winner >= 0 && size >= least) continue;
    winner = static_cast<int>(i);
    least = size;
  }
  return winner;
}

}  // namespace

// Candidates and their seconds; 0 for what failed.
struct Session::Lesson {
  std::vector<Candidate> candidates;
  std::vector<double> seconds;

  void Add(Candidate candidate, const TuningRecord& record) {
    candidates.push_back(std::move(candidate));
    const bool ok = record.verdict == Verdict::kOk;
    seconds.push_back(ok ? record.rank() * 1e-9 : 0);
  }
};

double SessionParts::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

absl::Status SessionParts::Log(flight::Event event) const {
  if (!flight) return absl::OkStatus();
  event.set_at(Seconds());
  return flight->Write(event);
}

Session::Session(int id, const TuneTask& task, Strategy& strategy,
                 const SessionOptions& options, const SessionParts& parts)
    : id_(id),
      task_(task),
      strategy_(strategy),
      options_(options),
      parts_(parts),
      finalists_(options.finalists) {
  state_.id = id;
  state_.task = task.name;
  static_cast<TaskWork&>(state_) = task;
  state_.weight = task.weight;
  state_.peak_gflops = task.peak_gflops;
  state_.trials_total = options.trials;
}

void Session::Report(const TuningRecord* record) {
  state_.seconds = parts_.Seconds();
  if (options_.progress) options_.progress(state_, record);
}

// The same function may have been tuned under other names.
absl::Status Session::LearnNames() {
  Database& database = *parts_.database;
  KILN_RETURN_IF_ERROR(database.AddWorkload(task_.workload));
  KILN_ASSIGN_OR_RETURN(const Workload stored,
                        database.GetWorkload(task_.workload.key));
  to_stored_ = TraceRenamer(task_.workload, stored);
  from_stored_ = TraceRenamer(stored, task_.workload);
  return absl::OkStatus();
}

absl::Status Session::Resume() {
  Database& database = *parts_.database;
  KILN_RETURN_IF_ERROR(LearnNames());
  RecordFilter filter;
  filter.workload_key = task_.workload.key;
  filter.target = task_.target;
  Lesson earlier;
  KILN_RETURN_IF_ERROR(
      database.ForEachRecord(filter, [&](const TuningRecord& stored) {
        TuningRecord record = stored;
        record.trace = from_stored_(stored.trace);
        if (!record.program_hash.empty()) {
          strategy_.Exclude(record.program_hash);
        }
        flight::Event event;
        *event.mutable_earlier() = ToFlight(id_, record);
        event.mutable_earlier()->set_trace(ValidUtf8(record.trace));
        event.mutable_earlier()->set_decisions(record.decisions);
        Count(record);
        Remember(record, &earlier);
        return parts_.Log(std::move(event));
      }));
  state_.trials_resumed = state_.trials_done;
  state_.trials_in_vain = 0;
  if (state_.best) history_.push_back(state_.best->latency_min_ns);
  UpdateFinished();
  Report(nullptr);
  return Teach(earlier);
}

// An earlier trial that the space still holds, for the strategy and for the
// comparison of the best.
void Session::Remember(const TuningRecord& record, Lesson* lesson) {
  if (record.verdict == Verdict::kScheduleRefused) return;
  std::optional<Point> point = task_.space->Locate(record.trace);
  if (!point) return;
  absl::StatusOr<Candidate> candidate = task_.space->At(*point);
  if (!candidate.ok()) return;
  // Older records may know it by another hash.
  strategy_.Exclude(candidate->program_hash);
  if (record.verdict == Verdict::kOk) {
    finalists_.Keep({record, BuildResult(),
                     std::make_shared<const Function>(candidate->scheduled),
                     point->alternative});
  }
  lesson->Add(*std::move(candidate), record);
}

absl::Status Session::Teach(const Lesson& lesson) {
  if (lesson.candidates.empty()) return absl::OkStatus();
  return strategy_.Observe(lesson.candidates, lesson.seconds);
}

void Session::Count(const TuningRecord& record) {
  ++state_.counts[static_cast<int>(record.verdict)];
  if (record.verdict == Verdict::kScheduleRefused) return;
  ++state_.trials_done;
  ++state_.trials_in_vain;
  if (record.verdict != Verdict::kOk) return;
  if (!state_.best || record.rank() < state_.best->rank()) {
    state_.best = record;
    state_.trials_in_vain = 0;
  }
}

TuningRecord Session::NewRecord(uint64_t index) const {
  TuningRecord record;
  record.workload_key = task_.workload.key;
  record.target = task_.target;
  record.compiler_version = parts_.measurer->CompilerVersion();
  record.seed = options_.seed;
  record.trial = static_cast<int64_t>(index);
  return record;
}

TuningRecord Session::NewRecord(const Candidate& candidate,
                                uint64_t index) const {
  TuningRecord record = NewRecord(index);
  record.program_hash = candidate.program_hash;
  record.trace = task_.space->TraceText(candidate.point);
  record.decisions = task_.space->DecisionText(candidate.point);
  return record;
}

absl::Status Session::Commit(const TuningRecord& record) {
  TuningRecord stored = record;
  stored.trace = to_stored_(record.trace);
  absl::StatusOr<int64_t> id = parts_.database->CommitTrial(stored);
  if (absl::IsAlreadyExists(id.status())) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(id.status());
  Count(record);
  Report(&record);
  return absl::OkStatus();
}

absl::Status Session::CommitRefused(const SearchBatch& batch) {
  for (const RefusedSample& refused : batch.refused) {
    TuningRecord record = NewRecord(refused.index);
    record.verdict = Verdict::kScheduleRefused;
    record.reason = refused.reason;
    record.trace = refused.reason;
    KILN_RETURN_IF_ERROR(Commit(record));
  }
  return absl::OkStatus();
}

absl::Status Session::LogBatch(const SearchBatch& batch) {
  flight::Event event;
  flight::Batch& log = *event.mutable_batch();
  log.set_task(id_);
  log.set_exhausted(batch.exhausted);
  for (size_t i = 0; i < batch.candidates.size(); ++i) {
    flight::Proposal& proposal = *log.add_proposals();
    proposal.set_program(batch.candidates[i].program_hash);
    proposal.set_index(batch.indices[i]);
    proposal.set_decisions(
        task_.space->DecisionText(batch.candidates[i].point));
  }
  for (const RefusedSample& sample : batch.refused) {
    flight::Refused& refused = *log.add_refused();
    refused.set_index(sample.index);
    refused.set_reason(ValidUtf8(sample.reason));
  }
  return parts_.Log(std::move(event));
}

absl::Status Session::Prepare() {
  if (prepared_) return absl::OkStatus();
  const double start = parts_.Seconds();
  const absl::Status status = parts_.measurer->Prepare(task_);
  state_.check_seconds += parts_.Seconds() - start;
  prepared_ = status.ok();
  if (prepared_ || absl::IsCancelled(status)) return absl::OkStatus();
  state_.gave_up = std::string(status.message());
  state_.finished = true;
  flight::Event event;
  event.mutable_give_up()->set_task(id_);
  event.mutable_give_up()->set_reason(ValidUtf8(state_.gave_up));
  return parts_.Log(std::move(event));
}

bool Session::Stopped() const { return options_.stop && options_.stop(); }

// How many programs of `left` to measure at a time: of the first batch, a
// third.
int64_t Session::NextPart(int64_t left) const {
  const int64_t part = std::max<int64_t>(options_.batch / 3, 1);
  const bool is_first = state_.trials_done < options_.batch;
  return is_first && left >= 2 * part ? part : left;
}

absl::Status Session::Step(int64_t most) {
  KILN_RETURN_IF_ERROR(Prepare());
  if (!prepared_ && !state_.finished) return absl::OkStatus();  // interrupted
  int64_t left = std::min({state_.trials_total - state_.trials_done, most,
                           static_cast<int64_t>(options_.batch)});
  do {
    if (state_.finished) break;
    const int64_t part = NextPart(left);
    KILN_RETURN_IF_ERROR(StepPart(part));
    left -= part;
  } while (left > 0 && !Stopped());
  if (state_.best) history_.push_back(state_.best->latency_min_ns);
  return absl::OkStatus();
}

absl::Status Session::StepPart(int64_t count) {
  const SearchBatch batch = strategy_.Next(static_cast<int>(count));
  if (Stopped()) return absl::OkStatus();  // the batch may have been cut short
  state_.exhausted = batch.exhausted;
  if (options_.found) {
    state_.seconds = parts_.Seconds();
    options_.found(state_, batch, strategy_.Notes());
  }
  KILN_RETURN_IF_ERROR(LogBatch(batch));
  KILN_RETURN_IF_ERROR(CommitRefused(batch));
  Lesson lesson;
  KILN_RETURN_IF_ERROR(MeasureBatch(batch, &lesson));
  KILN_RETURN_IF_ERROR(Teach(lesson));
  UpdateFinished();
  return absl::OkStatus();
}

absl::Status Session::MeasureBatch(const SearchBatch& batch, Lesson* lesson) {
  absl::Status status;
  KILN_RETURN_IF_ERROR(parts_.measurer->Measure(
      task_, batch.candidates, MeasureNow(), [&](const Measured& measured) {
        const Candidate& candidate = batch.candidates[measured.index];
        TuningRecord record =
            NewRecord(candidate, batch.indices[measured.index]);
        Fill(measured.result, &record);
        flight::Event event;
        *event.mutable_result() = ToFlight(id_, record);
        status = parts_.Log(std::move(event));
        if (status.ok()) status = Commit(record);
        KeepKernel(record, measured.kernel);
        lesson->Add(candidate, record);
        if (record.verdict == Verdict::kOk) {
          finalists_.Keep({record,
                           measured.kernel ? *measured.kernel : BuildResult(),
                           nullptr, candidate.point.alternative});
        }
        return status.ok() && !Stopped();
      }));
  return status;
}

void Session::UpdateFinished() {
  const bool in_vain = options_.early_stopping > 0 &&
                       state_.trials_in_vain >= options_.early_stopping;
  state_.finished =
      state_.exhausted || in_vain || state_.trials_done >= state_.trials_total;
}

MeasureOptions Session::MeasureNow() const {
  MeasureOptions options = options_.measure;
  options.num_threads = task_.num_threads;
  if (state_.best) options.best_ns = state_.best->latency_min_ns;
  return options;
}

// Takes the result into the record, and its cost into the state.
void Session::Fill(const MeasureResult& result, TuningRecord* record) {
  state_.check_seconds += result.check_seconds;
  record->verdict = result.verdict;
  record->reason = result.reason;
  record->latency_min_ns = result.min_ns;
  record->latency_median_ns = result.median_ns;
  record->latency_spread_ns = result.spread_ns;
  record->samples = result.samples;
  record->paired_ratio = result.paired_ratio;
  record->ranked_ns = 0;
}

absl::Status Session::Finish() {
  std::vector<Finalist> finalists = finalists_.Take();
  if (prepared_ && finalists.size() >= 2) {
    KILN_RETURN_IF_ERROR(Compare(&finalists));
    KILN_RETURN_IF_ERROR(FindBest());
    state_.best_kernel.reset();
    for (const Finalist& f : finalists) KeepKernel(f.record, &f.build);
  }
  return Abandon();
}

absl::Status Session::Compare(std::vector<Finalist>* finalists) {
  std::vector<Measurer::Again> programs;
  for (Finalist& f : *finalists) {
    programs.push_back({f.record.program_hash, &f.build, f.to_build.get()});
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<MeasureResult> results,
                        parts_.measurer->MeasureAgain(
                            task_, programs, options_.turns, MeasureNow()));
  const int winner = WinnerOf(results);
  double winner_ns = 0;
  if (winner >= 0) {
    winner_ns = std::min((*finalists)[winner].record.latency_min_ns,
                         results[winner].min_ns);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool won = static_cast<int>(i) == winner;
    KILN_RETURN_IF_ERROR(
        Revise(&(*finalists)[i], results[i], won ? 0 : winner_ns));
  }
  return winner < 0 ? absl::OkStatus()
                    : RankBehind((*finalists)[winner].record);
}

absl::Status Session::Abandon() {
  finalists_.Take();
  parts_.measurer->Release(task_);
  KILN_RETURN_IF_ERROR(NameBest());
  Report(nullptr);
  return absl::OkStatus();
}

// What the comparison says counts, not the trial: of a loser, the time of the
// winner (0: this is it) times how much longer it took. The least time that was
// ever seen stays.
absl::Status Session::Revise(Finalist* finalist, const MeasureResult& result,
                             double winner_ns) {
  TuningRecord& record = finalist->record;
  const double first_ns = record.latency_min_ns;
  --state_.counts[static_cast<int>(record.verdict)];
  Fill(result, &record);
  ++state_.counts[static_cast<int>(record.verdict)];
  flight::Event event;
  *event.mutable_again() = ToFlight(id_, record);
  KILN_RETURN_IF_ERROR(parts_.Log(std::move(event)));
  if (record.verdict == Verdict::kOk) {
    record.latency_min_ns = std::min(record.latency_min_ns, first_ns);
    record.ranked_ns = record.paired_ratio > 0
                           ? winner_ns * record.paired_ratio
                           : (winner_ns > 0 ? result.min_ns : 0);
  }
  if (options_.revised) options_.revised(state_, record);
  return parts_.database->ReviseTrial(record);
}

// Trials that looked faster, but had no place in the comparison, do not beat
// its winner.
absl::Status Session::RankBehind(const TuningRecord& winner) {
  KILN_ASSIGN_OR_RETURN(const std::vector<TuningRecord> behind,
                        parts_.database->NameWinner(winner));
  for (TuningRecord record : behind) {
    record.trace = from_stored_(record.trace);
    if (options_.revised) options_.revised(state_, record);
  }
  return absl::OkStatus();
}

void Session::KeepKernel(const TuningRecord& record,
                         const BuildResult* kernel) {
  if (!state_.best || state_.best->program_hash != record.program_hash) return;
  state_.best_kernel.reset();
  if (!kernel || kernel->object.empty()) return;
  state_.best_kernel = std::make_shared<const BuildResult>(*kernel);
}

// The best of all, earlier runs included.
absl::Status Session::FindBest() {
  absl::StatusOr<TuningRecord> best =
      parts_.database->Best(task_.workload.key, task_.target);
  state_.best.reset();
  if (absl::IsNotFound(best.status())) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(state_.best, std::move(best));
  state_.best->trace = from_stored_(state_.best->trace);
  return absl::OkStatus();
}

absl::Status Session::NameBest() {
  if (!state_.best) return absl::OkStatus();
  flight::Event event;
  *event.mutable_best() = ToFlight(id_, *state_.best);
  return parts_.Log(std::move(event));
}

}  // namespace kiln
