// A function of known extents: points of the space that the rules make are
// drawn, and the analytic model's fastest is taken. One of symbolic extents is
// scheduled at some sizes, the best few schedules of each are carried over to
// all sizes, and the one is taken that comes closest to the best of each size:
//
//   C[n, 768] += A[n, 256] * B[256, 768]      scheduled at n = 1, 4, 17, 128
//   i in range(n): split [-1, 4]              from 128 rows: tiles of 4 rows
#include "kiln/search/task/default_schedule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/trace/carry_over.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/search/task/open_tails.h"
#include "kiln/search/task/size_samples.h"

namespace kiln {
namespace {

constexpr int kLeastDraws = 8;

struct Judged {
  absl::StatusOr<Candidate> candidate = absl::UnknownError("not drawn");
  TimeEstimate estimate;
};

std::vector<Judged> Draw(const Space& space, const Machine& machine,
                         int threads, ThreadPool* pool,
                         const DefaultScheduleOptions& options) {
  std::vector<Judged> drawn(options.draws);
  pool->ParallelFor(options.draws, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      drawn[i].candidate = space.Sample(options.seed, i);
      if (!drawn[i].candidate.ok()) continue;
      drawn[i].estimate = EstimateTime(Summarize(drawn[i].candidate->scheduled),
                                       machine, threads);
    }
    return 0;
  });
  return drawn;
}

// Programs that are sure to be slow come after all others.
bool IsFaster(const TimeEstimate& a, const TimeEstimate& b) {
  if (a.hopeless.empty() != b.hopeless.empty()) return a.hopeless.empty();
  return a.seconds < b.seconds;
}

DefaultSchedule Unchanged(const Function& f, const Machine& machine,
                          int threads) {
  return {f, "", EstimateTime(Summarize(f), machine, threads).seconds};
}

// Values of symbolic dimensions: schedules are searched for at some, a single
// row, a few, a batch, a short sequence, a long one. At those between them the
// schedules found are looked at: in tiles of 12 rows a matrix is read once for
// 5, and in tiles of 4 rows twice.
struct SampleSize {
  int64_t size;
  bool is_searched = false;
};
constexpr std::array<SampleSize, 10> kSampleSizes = {{{1, true},
                                                      {2},
                                                      {3},
                                                      {5, true},
                                                      {8},
                                                      {12, true},
                                                      {17, true},
                                                      {30},
                                                      {64},
                                                      {128, true}}};
// Where work grows with the square of the size, long sequences count. Their
// schedules round up to tiles, which these sizes make them do.
constexpr std::array<SampleSize, 7> kSquareSampleSizes = {
    {{1, true}, {4, true}, {8}, {17, true}, {50}, {131, true}, {387, true}}};
// A size that tiles divide may leave a step with fewer loops than an open one
// does, so that no schedule of that size carries over: one that is so much
// larger stands in for it.
constexpr int64_t kToOddSize = 3;

// Schedules of each that are tried at the others, among the best so many.
constexpr size_t kCarriedOver = 3;
constexpr size_t kLookedAt = 8;

// Whether a tensor inside has several open dimensions, as scores of attention
// have rows and columns.
bool HasOpenSquare(const Function& f) {
  const std::vector<Var> dims = SymbolicDims(f);
  const auto is_open = [&](const Expr& extent) {
    return absl::c_any_of(dims,
                          [&](const Var& dim) { return UsesVar(extent, dim); });
  };
  const auto* root = f.body.As<BlockRealizeNode>();
  return root &&
         absl::c_any_of(root->block->alloc_buffers, [&](const Buffer& buffer) {
           return absl::c_count_if(buffer->shape, is_open) > 1;
         });
}

// Whether each loop of known extent runs.
bool HasIterations(const Function& f) {
  bool all = true;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    const int64_t* extent = loop ? AsInt(loop->extent) : nullptr;
    all = all && (!extent || *extent > 0);
    return all;
  });
  return all;
}

// Schedules that are looked at again where something is unseen, at most.
constexpr size_t kLookedAtAgain = 16;

// The fastest `count` of different schedules, which come by their estimates, in
// order. What these do not see is added while it may still change the order.
class FewFastest {
 public:
  FewFastest(const DefaultScheduleOptions& options, size_t count)
      : options_(options), count_(count) {}

  // Whether none that comes later can be among them.
  bool IsComplete(const TimeEstimate& next) const {
    if (best_.size() < count_) return false;
    return !options_.unseen_seconds || looked_ >= kLookedAtAgain ||
           !next.hopeless.empty() || next.seconds >= best_.back().seconds;
  }

  void Add(DefaultSchedule schedule, bool is_hopeless) {
    if (!traces_.insert(schedule.trace).second) return;
    ++looked_;
    if (options_.unseen_seconds && !is_hopeless) {
      schedule.seconds += options_.unseen_seconds(schedule.scheduled);
    }
    const auto place =
        is_hopeless ? best_.end()
                    : std::ranges::upper_bound(best_, schedule.seconds, {},
                                               &DefaultSchedule::seconds);
    best_.insert(place, std::move(schedule));
    if (best_.size() > count_) best_.pop_back();
  }

  std::vector<DefaultSchedule> Take() { return std::move(best_); }

 private:
  const DefaultScheduleOptions& options_;
  const size_t count_;
  size_t looked_ = 0;
  std::set<std::string> traces_;
  std::vector<DefaultSchedule> best_;  // the fastest first
};

// The fastest of those drawn by the analytic model, the best first, all
// different, at most `count`.
absl::StatusOr<std::vector<DefaultSchedule>> FewBest(
    const Space& space, const Machine& machine, int threads, ThreadPool* pool,
    const DefaultScheduleOptions& options, size_t count) {
  std::vector<Judged> drawn = Draw(space, machine, threads, pool, options);
  std::vector<Judged*> good;
  absl::Status refusal = absl::NotFoundError("no point was drawn");
  for (Judged& judged : drawn) {
    if (judged.candidate.ok()) {
      good.push_back(&judged);
    } else {
      refusal = judged.candidate.status();
    }
  }
  if (good.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no schedule applies; the last of ", options.draws,
                     " was refused: ", std::string(refusal.message())));
  }
  std::ranges::stable_sort(good, [](const Judged* a, const Judged* b) {
    return IsFaster(a->estimate, b->estimate);
  });
  FewFastest fastest(options, count);
  for (Judged* judged : good) {
    if (fastest.IsComplete(judged->estimate)) break;
    fastest.Add(
        {std::move(judged->candidate->scheduled),
         space.TraceText(judged->candidate->point), judged->estimate.seconds},
        !judged->estimate.hopeless.empty());
  }
  return fastest.Take();
}

}  // namespace

absl::StatusOr<DefaultSchedule> BestEstimated(
    const Space& space, const Machine& machine, int threads, ThreadPool* pool,
    const DefaultScheduleOptions& options) {
  KILN_ASSIGN_OR_RETURN(
      std::vector<DefaultSchedule> best,
      FewBest(space, machine, threads, pool, options, /*count=*/1));
  return std::move(best.front());
}

namespace {

// `open_size` (RuleContext): schedules are to be carried over to other sizes.
absl::StatusOr<std::vector<DefaultSchedule>> ScheduleKnown(
    const Module& module, int function, const Machine& machine, int threads,
    ThreadPool* pool, const DefaultScheduleOptions& options, size_t count,
    int64_t open_size = 0) {
  TraceSpace space(module, function);
  RuleContext context = RuleContextFor(machine, function);
  if (open_size > 0) context.parallel = ParallelLoops::kAlways;
  context.open_size = open_size;
  AddRuleSchedules(CpuRules(), context, &space);
  const auto unchanged = [&] {
    return std::vector<DefaultSchedule>{
        Unchanged(module.functions[function], machine, threads)};
  };
  if (space.size() == 0) return unchanged();
  // A draw, too, costs as much as the function is long.
  const size_t blocks = RootBlocks(module.functions[function]).size();
  DefaultScheduleOptions fewer = options;
  // Borders of an open size are others than those at this one.
  if (open_size > 0) fewer.unseen_seconds = nullptr;
  fewer.draws = CountForBlocks(options.draws, blocks, kLeastDraws);
  auto best = FewBest(space, machine, threads, pool, fewer, count);
  if (absl::IsNotFound(best.status())) return unchanged();
  return best;
}

// Of the schedules of one size, the best few that are good at borders, and as
// many that are not. Whether there is any.
bool CarryOverBest(const Module& module, int function, const Module& at_size,
                   const std::vector<DefaultSchedule>& best,
                   SizeSamples* samples) {
  size_t good = 0, clumsy = 0;
  for (const DefaultSchedule& one : best) {
    if (good == kCarriedOver) break;
    const absl::StatusOr<CarriedOver> over =
        CarryOver(one.trace, at_size, module);
    if (!over.ok()) continue;
    CarriedSchedule carried = {*over->state.functions[function],
                               ToText(over->trace)};
    carried.is_clumsy =
        HasTooManyTails(carried.scheduled) || MergesOpenAxes(carried.scheduled);
    size_t& count = carried.is_clumsy ? clumsy : good;
    if (++count <= kCarriedOver) samples->AddSchedule(std::move(carried));
  }
  return good + clumsy > 0;
}

// Schedules a function of symbolic extents by those of some sizes.
class SymbolicScheduler {
 public:
  SymbolicScheduler(const Module& module, int function, const Machine& machine,
                    int threads, ThreadPool* pool,
                    const DefaultScheduleOptions& options)
      : module_(module),
        function_(function),
        machine_(machine),
        threads_(threads),
        pool_(pool),
        options_(options),
        samples_(machine, threads) {}

  absl::StatusOr<DefaultSchedule> Run() {
    const Function& f = module_.functions[function_];
    const absl::Span<const SampleSize> sizes =
        HasOpenSquare(f) ? absl::MakeConstSpan(kSquareSampleSizes)
                         : absl::MakeConstSpan(kSampleSizes);
    for (const SampleSize& sample : sizes) {
      KILN_RETURN_IF_ERROR(AddSize(sample));
    }
    if (auto best = samples_.Best()) {
      return DefaultSchedule{std::move(best->scheduled), std::move(best->trace),
                             best->seconds};
    }
    return Unchanged(f, machine_, threads_);
  }

 private:
  absl::Status AddSize(const SampleSize& sample) {
    const int64_t size = sample.size;
    const Module at_size = At(size);
    if (!HasIterations(at_size.functions[function_])) return absl::OkStatus();
    if (!sample.is_searched) {
      samples_.AddSize(size, std::nullopt);
      return absl::OkStatus();
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<DefaultSchedule> best,
                          BestAt(at_size, size));
    samples_.AddSize(size, best.front().seconds);
    if (CarryOverBest(module_, function_, at_size, best, &samples_)) {
      return absl::OkStatus();
    }
    const Module odd = At(size + kToOddSize);
    KILN_ASSIGN_OR_RETURN(const std::vector<DefaultSchedule> others,
                          BestAt(odd, size + kToOddSize));
    CarryOverBest(module_, function_, odd, others, &samples_);
    return absl::OkStatus();
  }
  Module At(int64_t size) const {
    Module at_size = module_;
    at_size.functions[function_] = AtSize(module_.functions[function_], size);
    return at_size;
  }
  absl::StatusOr<std::vector<DefaultSchedule>> BestAt(const Module& at_size,
                                                      int64_t size) const {
    return ScheduleKnown(at_size, function_, machine_, threads_, pool_,
                         options_, kLookedAt, size);
  }

  const Module& module_;
  const int function_;
  const Machine& machine_;
  const int threads_;
  ThreadPool* const pool_;
  const DefaultScheduleOptions& options_;
  SizeSamples samples_;
};

}  // namespace

absl::StatusOr<DefaultSchedule> ScheduleByDefault(
    const Module& module, int function, const Machine& machine, int threads,
    ThreadPool* pool, const DefaultScheduleOptions& options) {
  if (!SymbolicDims(module.functions[function]).empty()) {
    return SymbolicScheduler(module, function, machine, threads, pool, options)
        .Run();
  }
  KILN_ASSIGN_OR_RETURN(
      std::vector<DefaultSchedule> best,
      ScheduleKnown(module, function, machine, threads, pool, options, 1));
  return std::move(best.front());
}

}  // namespace kiln
