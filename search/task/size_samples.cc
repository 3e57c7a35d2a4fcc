// With times of calls at four sizes, in us, and the best of each:
//
//   size             1     4    17    128
//   A                1     5    80   6000
//   B               20    22    45    680
//   best             1     4    21    525
//
// B has less loss than A, most of it at size 1, and A up to 4 with B from 17 on
// hardly any: two branches, if that is worth the code.
#include "kiln/search/task/size_samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/transform/dispatch_by_size.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/task/open_tails.h"

namespace kiln {
namespace {

// Times far below that of what a call and its neighbours cost are equal.
constexpr double kCallSeconds = 2e-6;

// Iterations of fused parallel loops find their place by divisions by symbolic
// extents, and ask where the borders are. A product of 6 x 24 elements with 64
// terms each would take 180 ns of a Zen 3 at full rate, and took 350 (one of
// attention over 384 tokens, by `run --profile`).
constexpr double kOpenIterationSeconds = 1e-7;

// What tiles that ask for each vector whether it is inside take longer, times
// those that do not. Scores of 17 rows and columns in tiles of 44 x 144, all of
// them cut short, took 295 us where the estimate was 38, of 128 5.0 ms where it
// was 0.67 (Zen 3).
constexpr double kAskingCost = 7;

// A size at which calls take 1.2 times as long as they could is worse than two
// at which they take 1.1 times as long. Products of BERT-base with tiles of 18
// rows, which are the best for 17, took 1.14 times as long at 128; others took
// 1.07 and 1.01 (Xeon with AVX-512).
constexpr double kUneven = 4;

// Of calls that take `ratio` times as long as the best.
double Loss(double ratio) {
  const double loss = std::max(0.0, std::log(ratio));
  return loss + kUneven * loss * loss;
}

// Two schedules have twice the code: they are to gain as much as where calls of
// one size in four take 1.1 times as long.
const double kWorthTwo = Loss(1.1) / 4;

// Of parallel loops with open extents in `f`, at the size.
double OpenIterations(const Function& f, int64_t size) {
  VarMap sizes;
  for (const Var& dim : SymbolicDims(f)) {
    sizes[dim.get()] = Int(size, dim.dtype());
  }
  double count = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (!loop || loop->for_kind != ForKind::kParallel) return true;
    if (AsInt(loop->extent)) return false;
    const Expr extent = Analyzer().Simplify(Substitute(loop->extent, sizes));
    if (AsInt(extent)) count += static_cast<double>(*AsInt(extent));
    return false;
  });
  return count;
}

double Sum(const std::vector<double>& losses, size_t first, size_t end) {
  return std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(first),
                         losses.begin() + static_cast<std::ptrdiff_t>(end),
                         0.0);
}

// Of the product of the dimensions, up to where a call counts as of size `a`.
int64_t Between(int64_t a, int64_t b, size_t dims) {
  const double size =
      std::sqrt(static_cast<double>(a) * static_cast<double>(b));
  return static_cast<int64_t>(std::pow(size, static_cast<double>(dims)));
}

}  // namespace

Function AtSize(const Function& f, int64_t size) {
  return AtSize(f, DimSize(SymbolicDims(f).size(), size));
}

void SizeSamples::AddSchedule(CarriedSchedule schedule) {
  if (schedule.is_clumsy && has_good_) return;
  if (!schedule.is_clumsy && !has_good_) schedules_.clear();
  has_good_ |= !schedule.is_clumsy;
  schedules_.push_back(std::move(schedule));
}

std::optional<CarriedSchedule> SizeSamples::Best() const {
  if (schedules_.empty()) return std::nullopt;
  const std::vector<std::vector<double>> losses = Losses();
  const Choice one = BestOne(losses);
  std::optional<CarriedSchedule> best;
  const std::optional<Choice> two = BestTwo(losses);
  const double gain = two ? one.loss - two->loss : 0;
  if (gain > kWorthTwo * static_cast<double>(sizes_.size())) {
    best = Dispatched(*two);
  }
  if (!best) best = schedules_[one.large];
  best->seconds = Seconds(best->scheduled, sizes_.back().size);
  return best;
}

// Loops of symbolic extent get no vectors and tiles but those of the schedule
// when they are lowered.
double SizeSamples::Seconds(const Function& f, int64_t size) const {
  Function at_size = AtSize(f, size);
  SetAuto(&at_size, false);
  return EstimateTime(Summarize(at_size), machine_, threads_).seconds *
             (1 + kAskingCost * UncopiedShare(f, size)) +
         OpenIterations(f, size) / threads_ * kOpenIterationSeconds;
}

std::vector<std::vector<double>> SizeSamples::Losses() const {
  std::vector<std::vector<double>> losses(schedules_.size());
  std::vector<double> seconds(schedules_.size());
  for (const Size& s : sizes_) {
    for (size_t i = 0; i < seconds.size(); ++i) {
      seconds[i] = Seconds(schedules_[i].scheduled, s.size);
    }
    const double best = s.best_seconds.value_or(*absl::c_min_element(seconds));
    for (size_t i = 0; i < seconds.size(); ++i) {
      losses[i].push_back(
          Loss((seconds[i] + kCallSeconds) / (best + kCallSeconds)));
    }
  }
  return losses;
}

SizeSamples::Choice SizeSamples::BestOne(
    const std::vector<std::vector<double>>& losses) const {
  Choice best{.loss = Sum(losses[0], 0, sizes_.size())};
  for (size_t i = 1; i < losses.size(); ++i) {
    const double loss = Sum(losses[i], 0, sizes_.size());
    if (loss < best.loss) best = {i, i, 0, loss};
  }
  return best;
}

// Constants that both prepare in the same way alone are prepared once.
std::optional<SizeSamples::Choice> SizeSamples::BestTwo(
    const std::vector<std::vector<double>>& losses) const {
  std::vector<std::string> prepared;
  for (const CarriedSchedule& schedule : schedules_) {
    prepared.push_back(PreparationText(schedule.scheduled));
  }
  std::optional<Choice> best;
  for (size_t first = 1; first < sizes_.size(); ++first) {
    for (size_t i = 0; i < losses.size(); ++i) {
      for (size_t j = 0; j < losses.size(); ++j) {
        if (prepared[i] != prepared[j]) continue;
        const double loss =
            Sum(losses[i], 0, first) + Sum(losses[j], first, sizes_.size());
        if (!best || loss < best->loss) best = {i, j, first, loss};
      }
    }
  }
  return best;
}

std::optional<CarriedSchedule> SizeSamples::Dispatched(
    const Choice& choice) const {
  const Function& small = schedules_[choice.small].scheduled;
  CarriedSchedule both = schedules_[choice.large];
  const size_t k = choice.first_large;
  absl::StatusOr<Function> dispatched =
      DispatchBySize({{small, Between(sizes_[k - 1].size, sizes_[k].size,
                                      SymbolicDims(small).size())},
                      {both.scheduled}});
  if (!dispatched.ok()) return std::nullopt;
  both.scheduled = *std::move(dispatched);
  return both;
}

}  // namespace kiln
