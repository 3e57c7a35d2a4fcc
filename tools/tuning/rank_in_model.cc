// Four compiled models, for functions f with four schedules and g with two:
//
//   model 0   f by its best, g by its best     run 1, run 5, ..
//   model 1   f by its 2nd,  g by its 2nd      run 2, run 6, ..
//   model 2   f by its 3rd,  g by its best     ..
//   model 3   f by its 4th,  g by its best
//
// A run gives the seconds of each call, and those of functions with one
// workload key are added up. What a schedule takes is the lower quartile over
// the runs that had it: another program on the machine lengthens a part of
// them, and no call is shorter than it can be.
#include "kiln/tools/tuning/rank_in_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/clock.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/database/lookup.h"
#include "kiln/tools/graph/arguments.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/tuning/call_counts.h"
#include "kiln/tools/tuning/record_target.h"
#include "kiln/vm/library/kernel_fault.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"

namespace kiln {
namespace {

// What took so much longer alone is no faster in the model.
constexpr double kMostRatioAlone = 1.25;
constexpr int kWarmUp = 2, kLeastRuns = 5, kMostRuns = 60;

// Of each function that the model calls, by name, the best first.
using Candidates = std::map<std::string, std::vector<BestProgram>>;

absl::StatusOr<Candidates> CandidatesOf(const Module& prepared,
                                        Database& database,
                                        const RankInModelRequest& request) {
  Candidates all;
  for (const auto& [name, calls] : CallCounts(prepared)) {
    KILN_ASSIGN_OR_RETURN(
        std::vector<BestProgram> programs,
        FindBestAndFirst(database, *prepared.Find(name),
                         RecordTarget(request.target), request.schedules - 1));
    if (programs.empty()) continue;
    const double most = programs[0].record.rank() * kMostRatioAlone;
    const auto too_slow = [&](const BestProgram& program) {
      return program.record.rank() > most;
    };
    programs.erase(std::remove_if(programs.begin(), programs.end(), too_slow),
                   programs.end());
    all.emplace(name, std::move(programs));
  }
  return all;
}

size_t MostCandidates(const Candidates& candidates) {
  size_t most = 0;
  for (const auto& [name, programs] : candidates) {
    most = std::max(most, programs.size());
  }
  return most;
}

// Which candidate a function has in a model.
size_t InModel(size_t model, const std::vector<BestProgram>& programs) {
  return model < programs.size() ? model : 0;
}

// The functions that have candidates keep the one for the model; the others are
// scheduled already.
Module ModelOf(const Module& scheduled, const Candidates& candidates,
               size_t model) {
  Module module = scheduled;
  for (const auto& [name, programs] : candidates) {
    *module.Find(name) = programs[InModel(model, programs)].scheduled;
  }
  return module;
}

// Functions without candidates by default schedules.
absl::StatusOr<Module> WithDefaults(const Module& prepared,
                                    const Candidates& candidates,
                                    const Target& target) {
  Module module = prepared;
  const Scheduler schedule = DefaultSchedules(target);
  for (const auto& [name, calls] : CallCounts(prepared)) {
    if (candidates.count(name) > 0) continue;
    Function* function = module.Find(name);
    KILN_ASSIGN_OR_RETURN(*function, schedule(prepared, *function));
  }
  return module;
}

// A function of the executable, with arguments.
struct Entry {
  std::string name;
  std::vector<vm::Value> args;
};

// An error where a function cannot be called with random arguments that tell
// its time.
absl::StatusOr<std::vector<Entry>> EntriesOf(const vm::Executable& executable) {
  std::vector<Entry> entries;
  for (const vm::Function& f : executable.functions) {
    if (f.is_private) continue;
    if (!f.dims.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("extents of ", f.name, " are open; --bind n=16"));
    }
    Entry entry{f.name, {}};
    KILN_ASSIGN_OR_RETURN(entry.args, GraphArguments(executable, f, {}));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// The seconds of a run, by callee.
using Seconds = std::map<std::string, double, std::less<>>;

// A compiled model that tells what its calls take.
class TimedModel {
 public:
  static absl::StatusOr<std::unique_ptr<TimedModel>> Create(
      vm::Executable executable, const KernelHost& host) {
    auto model = std::make_unique<TimedModel>();
    vm::MachineOptions options;
    options.observe = [model = model.get()](const vm::ObservedCall& call) {
      const auto place = model->now_.find(call.callee);
      if (place != model->now_.end()) {
        place->second += call.seconds;
      } else {
        model->now_.emplace(call.callee, call.seconds);
      }
    };
    KILN_ASSIGN_OR_RETURN(
        model->machine_,
        vm::Machine::Create(std::move(executable), {}, &host, options));
    return model;
  }

  absl::StatusOr<Seconds> Run(const std::vector<Entry>& entries) {
    now_.clear();
    for (const Entry& entry : entries) {
      KILN_RETURN_IF_ERROR(machine_->Call(entry.name, entry.args).status());
    }
    return std::move(now_);
  }

 private:
  Seconds now_;
  std::unique_ptr<vm::Machine> machine_;
};

// One for each number of a candidate, as many as there is time for.
struct Contest {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<KernelHost> host;
  std::vector<Entry> entries;
  std::vector<std::unique_ptr<TimedModel>> models;
};

class Clock {
 public:
  explicit Clock(const RankInModelRequest& request)
      : stop_(request.stop), end_(MonotonicSeconds() + request.seconds) {}

  bool Stopped() const { return stop_ && stop_(); }
  double Remaining() const { return end_ - MonotonicSeconds(); }

 private:
  const std::function<bool()>& stop_;
  const double end_;
};

// Compiles the next model, and the entries where it is the first.
absl::Status AddModel(const Module& module, const Target& target,
                      Contest* contest) {
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        CompileModel(module, target, KeepSchedules()));
  if (contest->models.empty()) {
    KILN_ASSIGN_OR_RETURN(contest->entries, EntriesOf(executable));
  }
  KILN_ASSIGN_OR_RETURN(
      std::unique_ptr<TimedModel> model,
      TimedModel::Create(std::move(executable), *contest->host));
  contest->models.push_back(std::move(model));
  return absl::OkStatus();
}

absl::StatusOr<Contest> MakeContest(const Module& scheduled,
                                    const Candidates& candidates,
                                    const Target& target, const Clock& clock) {
  Contest contest;
  contest.pool = std::make_unique<ThreadPool>();
  contest.host =
      std::make_unique<KernelHost>(contest.pool.get(), target.num_cores);
  for (size_t model = 0; model < MostCandidates(candidates); ++model) {
    const double start = MonotonicSeconds();
    KILN_RETURN_IF_ERROR(
        AddModel(ModelOf(scheduled, candidates, model), target, &contest));
    // As long again for the next one, and as long for runs.
    if (clock.Stopped() || clock.Remaining() < 2 * (MonotonicSeconds() - start))
      break;
  }
  return contest;
}

// The seconds of the runs, by model.
using Runs = std::vector<std::vector<Seconds>>;

// Too few to compare where there is no time for more, or on a stop.
absl::StatusOr<Runs> RunInTurns(Contest& contest, const Clock& clock) {
  Runs runs(contest.models.size());
  for (int turn = 0; turn < kWarmUp + kMostRuns && !clock.Stopped(); ++turn) {
    if (turn >= kWarmUp + kLeastRuns && clock.Remaining() < 0) break;
    const double start = MonotonicSeconds();
    for (size_t i = 0; i < contest.models.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(Seconds seconds,
                            contest.models[i]->Run(contest.entries));
      if (turn >= kWarmUp) runs[i].push_back(std::move(seconds));
    }
    const double least =
        (MonotonicSeconds() - start) * (kWarmUp + kLeastRuns - 1);
    if (turn == 0 && least > clock.Remaining()) break;
  }
  return runs;
}

// What one of the programs of a workload took.
struct Contender {
  TuningRecord record;
  std::vector<double> seconds;  // of each run

  double Quartile() {
    const auto place =
        seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 4);
    std::nth_element(seconds.begin(), place, seconds.end());
    return *place;
  }
};

double SecondsOf(const std::string& name, const Seconds& run) {
  const auto found = run.find(name);
  return found == run.end() ? 0 : found->second;
}

// By workload and by record. Names of one workload have the same candidates in
// a model, and their seconds are added.
using Contenders = std::map<std::string, std::map<int64_t, Contender>>;

// Adds what the functions took in the runs of a model.
void AddRuns(const Candidates& candidates, size_t model,
             const std::vector<Seconds>& runs, Contenders* contenders) {
  std::map<std::string, Contender*> of_key;
  for (const auto& [name, programs] : candidates) {
    const TuningRecord& record = programs[InModel(model, programs)].record;
    Contender& contender = (*contenders)[record.workload_key][record.id];
    const bool is_new = of_key.emplace(record.workload_key, &contender).second;
    if (is_new) {
      contender.record = record;
      contender.seconds.resize(contender.seconds.size() + runs.size());
    }
    const size_t start = contender.seconds.size() - runs.size();
    for (size_t i = 0; i < runs.size(); ++i) {
      contender.seconds[start + i] += SecondsOf(name, runs[i]);
    }
  }
}

// The winner's rank is its own time, the others' the winner's times the ratio
// to it, as in a comparison of kernels alone.
absl::Status Rank(std::map<int64_t, Contender>& contenders,
                  const std::map<int64_t, double>& seconds, int64_t winner,
                  Database& database) {
  const double winner_ns = contenders.at(winner).record.latency_min_ns;
  for (auto& [id, contender] : contenders) {
    const bool won = id == winner;
    const double ratio = seconds.at(id) / seconds.at(winner);
    contender.record.paired_ratio =
        won ? 1 : std::max(ratio, std::nextafter(1.0, 2.0));
    contender.record.ranked_ns =
        won ? 0 : winner_ns * contender.record.paired_ratio;
    KILN_RETURN_IF_ERROR(database.ReviseTrial(contender.record));
  }
  return database.NameWinner(contenders.at(winner).record).status();
}

// Of a workload whose best was `before`.
absl::Status RankOne(std::map<int64_t, Contender> contenders, int64_t before,
                     Database& database, RankedInModel* result) {
  std::map<int64_t, double> seconds;
  for (auto& [id, contender] : contenders) seconds[id] = contender.Quartile();
  const auto winner = std::min_element(
      seconds.begin(), seconds.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  // Alone, or of a function that these arguments do not reach.
  if (seconds.size() < 2 || !(winner->second > 0)) return absl::OkStatus();
  ++result->functions;
  result->changed += winner->first != before;
  result->before_s += seconds.at(before);
  result->after_s += winner->second;
  return Rank(contenders, seconds, winner->first, database);
}

absl::StatusOr<RankedInModel> RankAll(const Candidates& candidates,
                                      const Runs& runs, Database& database) {
  Contenders contenders;
  for (size_t model = 0; model < runs.size(); ++model) {
    AddRuns(candidates, model, runs[model], &contenders);
  }
  std::map<std::string, int64_t> best;  // by workload
  for (const auto& [name, programs] : candidates) {
    best[programs[0].record.workload_key] = programs[0].record.id;
  }
  RankedInModel result;
  for (auto& [key, of_workload] : contenders) {
    KILN_RETURN_IF_ERROR(
        RankOne(std::move(of_workload), best.at(key), database, &result));
  }
  return result;
}

RankedInModel Skipped(std::string why) {
  RankedInModel result;
  result.skipped = std::move(why);
  return result;
}

// What can be compiled and run elsewhere may not be here, as with packed
// functions of a library: no reason to lose a run.
RankedInModel Skipped(const absl::Status& why) {
  return Skipped(std::string(why.message()));
}

}  // namespace

absl::StatusOr<RankedInModel> RankInModel(const Module& prepared,
                                          Database& database,
                                          const RankInModelRequest& request) {
  const Clock clock(request);
  KILN_ASSIGN_OR_RETURN(const Candidates candidates,
                        CandidatesOf(prepared, database, request));
  if (MostCandidates(candidates) < 2) {
    return Skipped("no function has two schedules of nearly one time");
  }
  KILN_ASSIGN_OR_RETURN(const Module scheduled,
                        WithDefaults(prepared, candidates, request.target));
  const KernelFaultGuard faults_are_errors;
  absl::StatusOr<Contest> contest =
      MakeContest(scheduled, candidates, request.target, clock);
  if (!contest.ok()) return Skipped(contest.status());
  if (contest->models.size() < 2) return Skipped("there is no time for it");
  const absl::StatusOr<Runs> runs = RunInTurns(*contest, clock);
  if (!runs.ok()) return Skipped(runs.status());
  if (runs->front().size() < kLeastRuns) {
    return Skipped("it was stopped, or runs take too long for the time");
  }
  return RankAll(candidates, *runs, database);
}

}  // namespace kiln
