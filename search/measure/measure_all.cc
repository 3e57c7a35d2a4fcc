// Two different questions. MeasureAll asks of many candidates which are worth a
// second look: threads build ahead in order, each candidate is timed once, and
// the best time so far shortens what a slow one may take. MeasureInTurns asks
// which of a few is the best, although the pace of the machine changes by more
// than they differ. They take turns, and only times of one round are compared:
//
//   round        1     2     3
//   a           10    14    10      b / a = 1.1, 1.1, 1.2: median 1.1
//   b           11   15.4   12
//
// The slower half retires after each stage, so 16 finalists take 16, 8, 4 and 2
// places in four stages. A ratio of medians over all rounds would say less: it
// mixes rounds at different paces.
#include "kiln/search/measure/measure_all.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

// Builds candidates in their order on threads of its own; Take waits for one.
class BuildQueue {
 public:
  BuildQueue(Builder& builder, absl::Span<const Function> functions,
             int num_threads)
      : builder_(builder), functions_(functions), built_(functions.size()) {
    for (int i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
  }

  ~BuildQueue() {
    next_ = static_cast<int64_t>(functions_.size());
    WaitForAll();
  }

  // Waits until nothing is left to build.
  void WaitForAll() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  absl::StatusOr<BuildResult> Take(int64_t index) {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [&] { return built_[index].has_value(); });
    return *std::exchange(built_[index], std::nullopt);
  }

 private:
  void Work() {
    const auto count = static_cast<int64_t>(functions_.size());
    for (int64_t i = next_++; i < count; i = next_++) {
      absl::StatusOr<BuildResult> result = builder_.Build(functions_[i]);
      std::lock_guard<std::mutex> lock(mutex_);
      built_[i] = std::move(result);
      ready_.notify_all();
    }
  }

  Builder& builder_;
  absl::Span<const Function> functions_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::optional<absl::StatusOr<BuildResult>>> built_;
  std::vector<std::thread> threads_;
};

void Narrow(const MeasureResult& result, double deadline_factor,
            double longest_s, MeasureOptions& options) {
  if (result.verdict != Verdict::kOk) return;
  if (options.best_ns > 0 && options.best_ns <= result.min_ns) return;
  options.best_ns = result.min_ns;
  if (deadline_factor <= 0) return;
  const double deadline_s =
      std::max(1.0, result.min_ns * 1e-9 * deadline_factor);
  options.deadline_s =
      longest_s > 0 ? std::min(deadline_s, longest_s) : deadline_s;
}

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] +
         (at - static_cast<double>(low)) * (values[high] - values[low]);
}

// Rounds of one kernel, put together.
struct Rounds {
  MeasureResult total;
  std::vector<double> mins, medians;

  void Add(const MeasureResult& round) {
    if (total.verdict != Verdict::kOk) return;
    if (round.verdict != Verdict::kOk) {
      total = round;
      return;
    }
    const bool first = medians.empty();
    total.min_ns = first ? round.min_ns : std::min(total.min_ns, round.min_ns);
    mins.push_back(round.min_ns);
    medians.push_back(round.median_ns);
    total.samples += round.samples;
    total.check_seconds += round.check_seconds;
    total.seconds += round.seconds;
  }

  MeasureResult Finish() && {
    if (total.verdict == Verdict::kOk && !medians.empty()) {
      total.median_ns = Quantile(medians, 0.5);
      total.spread_ns = Quantile(medians, 0.75) - Quantile(medians, 0.25);
    }
    return std::move(total);
  }
};

// How many times longer than `other` it took, in the rounds that both had: the
// median, since a moment of luck says as little as one of noise.
double TimesAsLong(const Rounds& one, const Rounds& other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(one.mins.size(), other.mins.size()); ++i) {
    ratios.push_back(one.mins[i] / other.mins[i]);
  }
  return ratios.empty() ? 1 : Quantile(std::move(ratios), 0.5);
}

// The kernels that are still compared, and what came of all.
class Turns {
 public:
  Turns(Runner& runner, const MeasureTask& task,
        absl::Span<const BuildResult* const> kernels, const TurnsOptions& turns,
        const MeasureOptions& options)
      : runner_(runner),
        task_(task),
        kernels_(kernels),
        turns_(turns),
        options_(options),
        rounds_(kernels.size()) {
    options_.best_ns = 0;
    options_.check_elements = 0;
    options_.budget_ms = turns.turn_ms;
    options_.min_samples = 1;
    for (size_t i = 0; i < kernels.size(); ++i) left_.push_back(i);
  }

  absl::Status RunStage() {
    double seconds = 0;
    for (int round = 0; round < turns_.max_rounds; ++round) {
      if (round >= turns_.min_rounds && seconds >= turns_.stage_seconds) break;
      KILN_RETURN_IF_ERROR(RunRound(&seconds));
    }
    return absl::OkStatus();
  }

  // False where there is nobody to retire.
  bool RetireSlowerHalf() {
    if (left_.size() <= 2) return false;
    SortLeft();
    left_.resize((left_.size() + 1) / 2);
    return true;
  }

  std::vector<MeasureResult> Finish() && {
    SortLeft();
    if (!left_.empty()) CompareWith(left_[0]);
    std::vector<MeasureResult> results;
    for (Rounds& one : rounds_) results.push_back(std::move(one).Finish());
    return results;
  }

 private:
  absl::Status RunRound(double* seconds) {
    for (size_t i : left_) {
      KILN_ASSIGN_OR_RETURN(const MeasureResult result,
                            runner_.Measure(task_, *kernels_[i], options_));
      rounds_[i].Add(result);
      *seconds += result.seconds - result.check_seconds;
    }
    left_.erase(
        std::remove_if(
            left_.begin(), left_.end(),
            [&](size_t i) { return rounds_[i].total.verdict != Verdict::kOk; }),
        left_.end());
    options_.check = false;
    options_.guarded = false;
    return absl::OkStatus();
  }

  // The fastest first.
  void SortLeft() {
    if (left_.empty()) return;
    const Rounds reference = rounds_[left_[0]];
    std::sort(left_.begin(), left_.end(), [&](size_t a, size_t b) {
      return TimesAsLong(rounds_[a], reference) <
             TimesAsLong(rounds_[b], reference);
    });
  }

  // No other ratio is as small as that of `best`, though in the rounds that
  // another had it may have been ahead.
  void CompareWith(size_t best) {
    const double next = std::nextafter(1.0, 2.0);
    for (size_t i = 0; i < rounds_.size(); ++i) {
      MeasureResult& total = rounds_[i].total;
      if (total.verdict != Verdict::kOk) continue;
      const double times = TimesAsLong(rounds_[i], rounds_[best]);
      total.paired_ratio = i == best ? 1 : std::max(next, times);
    }
  }

  Runner& runner_;
  const MeasureTask& task_;
  const absl::Span<const BuildResult* const> kernels_;
  const TurnsOptions turns_;
  MeasureOptions options_;
  std::vector<Rounds> rounds_;
  std::vector<size_t> left_;  // that take turns still
};

}  // namespace

absl::Status MeasureAll(Builder& builder, Runner& runner,
                        const MeasureTask& task,
                        absl::Span<const Function> candidates,
                        const MeasureAllOptions& options,
                        const OnMeasured& on_measured) {
  MeasureOptions measure = options.measure;
  const int spare_cpus = options.num_cpus - measure.num_threads;
  const bool overlap =
      options.overlap == Overlap::kSingleThread && spare_cpus > 0;
  BuildQueue queue(builder, candidates,
                   std::max(1, overlap ? spare_cpus : options.num_cpus));
  if (!overlap) queue.WaitForAll();
  for (int64_t i = 0; i < static_cast<int64_t>(candidates.size()); ++i) {
    const absl::StatusOr<BuildResult> kernel = queue.Take(i);
    Measured measured;
    measured.index = i;
    if (kernel.ok()) {
      measured.kernel = &*kernel;
      KILN_ASSIGN_OR_RETURN(measured.result,
                            runner.Measure(task, *kernel, measure));
    } else {
      measured.result.verdict = Verdict::kBuildError;
      measured.result.reason = std::string(kernel.status().message());
    }
    Narrow(measured.result, options.deadline_factor, options.measure.deadline_s,
           measure);
    if (!on_measured(measured)) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MeasureResult>> MeasureInTurns(
    Runner& runner, const MeasureTask& task,
    absl::Span<const BuildResult* const> kernels, const TurnsOptions& turns,
    const MeasureOptions& options) {
  Turns all(runner, task, kernels, turns, options);
  do {
    KILN_RETURN_IF_ERROR(all.RunStage());
  } while (all.RetireSlowerHalf());
  return std::move(all).Finish();
}

}  // namespace kiln
