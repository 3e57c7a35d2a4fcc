#include "kiln/tools/rivals/match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/clock.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/tools/rivals/pinned_threads.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/profile/machine_constants.h"
#include "kiln/vm/profile/machine_peak.h"

namespace kiln::bench {
namespace {

// The slowest contender takes about this long at most, but for a few
// repetitions.
constexpr double kMostSeconds = 2;
constexpr double kSettleSeconds = 0.015;
constexpr int kFewRepetitions = 5;

double SecondsOf(const std::function<void()>& call) {
  const double start = MonotonicSeconds();
  call();
  return MonotonicSeconds() - start;
}

double RootMeanSquare(const NDArray& array) {
  double sum = 0;
  for (float value : array.elements<float>()) sum += double{value} * value;
  return std::sqrt(sum / static_cast<double>(array.num_elements()));
}

// Sums in other orders differ by a few roundings more the longer they are.
absl::Status CheckSame(const OpCase& op, const NDArray& expected,
                       const std::string& who, const std::string& than) {
  const double scale = RootMeanSquare(expected);
  if (!std::isfinite(scale)) {
    return absl::InternalError(
        absl::StrCat(than, " leaves elements of ", op.spec(), " unwritten"));
  }
  Tolerance tolerance;
  tolerance.rtol =
      1e-5 + 5e-7 * std::sqrt(static_cast<double>(ReductionLength(op)));
  tolerance.atol = tolerance.rtol * scale;
  KILN_ASSIGN_OR_RETURN(const CompareReport report,
                        Compare(op.output(), expected, tolerance));
  if (report.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      who, " and ", than, " compute different results of ", op.spec(), " on ",
      op.threads, " threads: ", report.ToString()));
}

int AffordableRepetitions(const std::function<void()>& call, int wanted) {
  const double seconds = std::min(SecondsOf(call), SecondsOf(call));
  const int affordable = static_cast<int>(kMostSeconds / seconds);
  return std::min(wanted, std::max(kFewRepetitions, affordable));
}

// What is timed against each other.
struct Prepared {
  std::vector<NamedCall> calls;
  std::vector<Score> scores;
  int repetitions;  // of each alike, or the fast ones had more chances
};

absl::StatusOr<Prepared> PrepareAll(const OpCase& op,
                                    const Contenders& contenders,
                                    int most_repetitions) {
  Prepared all{{}, {}, most_repetitions};
  NDArray expected;
  for (const std::unique_ptr<Contender>& contender : contenders) {
    KILN_ASSIGN_OR_RETURN(std::function<void()> call, contender->Prepare(op));
    if (!call) continue;
    std::fill_n(op.out(), op.output().num_elements(),
                std::numeric_limits<float>::quiet_NaN());
    call();
    if (expected.is_null()) {
      KILN_ASSIGN_OR_RETURN(expected, op.output().Clone());
    }
    all.repetitions =
        std::min(all.repetitions, AffordableRepetitions(call, all.repetitions));
    all.calls.push_back({contender->name(), std::move(call)});
    KILN_RETURN_IF_ERROR(
        CheckSame(op, expected, contender->name(), all.calls[0].name));
    all.scores.push_back(
        {contender->name(), contender->role(), contender->packs_ahead(), 0});
  }
  return all;
}

}  // namespace

absl::StatusOr<CaseScores> RunMatch(const OpCase& op,
                                    const Contenders& contenders,
                                    const Machine& machine, ThreadPool& pool,
                                    const RoundOptions& options) {
  KILN_ASSIGN_OR_RETURN(Prepared all,
                        PrepareAll(op, contenders, options.repetitions));
  CaseScores found{op.workload,     op.shape(),
                   op.threads,      op.work.needed_flop.value,
                   op.work.bytes(), PeakGflops(machine, op.threads)};
  found.flop_as_written = op.work.flop.value;
  const PeakOptions once = {.runs = 1,
                            .run_us = options.seconds * 1e6,
                            .vector_bytes = machine.vectors.bytes};
  all.calls.push_back(
      {"peak", [&] {
         found.peak_gflops = std::max(
             found.peak_gflops,
             MeasurePeakGflops(pool, op.threads, DType::Float(32), once));
       }});
  RoundOptions rounds = options;
  rounds.repetitions = all.repetitions;
  rounds.settle_seconds = op.threads > 1 ? kSettleSeconds : 0;
  // OpenBLAS ends its threads where a process is forked, as tuning does.
  for (const NamedCall& named : all.calls) named.call();
  const PinnedThreads pinned(op.threads);
  const std::vector<Timing> times = TimesOf(all.calls, rounds);
  for (size_t i = 0; i < all.scores.size(); ++i) {
    Score& score = all.scores[i];
    score.us = times[i].best_us;
    score.median_us = times[i].median_us;
    score.worst_us = times[i].worst_us;
    score.repetitions = times[i].repetitions;
  }
  found.roofline = RooflineOf(op, machine, found.peak_gflops);
  found.scores = std::move(all.scores);
  return found;
}

}  // namespace kiln::bench
