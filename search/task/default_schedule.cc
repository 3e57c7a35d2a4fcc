#include "kiln/search/task/default_schedule.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/feature/summary.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"

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

}  // namespace

absl::StatusOr<DefaultSchedule> BestEstimated(
    const Space& space, const Machine& machine, int threads, ThreadPool* pool,
    const DefaultScheduleOptions& options) {
  std::vector<Judged> drawn = Draw(space, machine, threads, pool, options);
  Judged* best = nullptr;
  absl::Status refusal = absl::NotFoundError("no point was drawn");
  for (Judged& judged : drawn) {
    if (!judged.candidate.ok()) {
      refusal = judged.candidate.status();
    } else if (!best || IsFaster(judged.estimate, best->estimate)) {
      best = &judged;
    }
  }
  if (!best) {
    return absl::NotFoundError(
        absl::StrCat("no schedule applies; the last of ", options.draws,
                     " was refused: ", std::string(refusal.message())));
  }
  DefaultSchedule result;
  result.trace = space.TraceText(best->candidate->point);
  result.seconds = best->estimate.seconds;
  result.scheduled = std::move(best->candidate->scheduled);
  return result;
}

absl::StatusOr<DefaultSchedule> ScheduleByDefault(
    const Module& module, int function, const Machine& machine, int threads,
    ThreadPool* pool, const DefaultScheduleOptions& options) {
  TraceSpace space(module, function);
  AddRuleSchedules(CpuRules(), RuleContextFor(machine, function), &space);
  if (space.size() == 0) {
    return Unchanged(module.functions[function], machine, threads);
  }
  // A draw, too, costs as much as the function is long.
  const size_t blocks = RootBlocks(module.functions[function]).size();
  DefaultScheduleOptions fewer = options;
  fewer.draws = CountForBlocks(options.draws, blocks, kLeastDraws);
  absl::StatusOr<DefaultSchedule> best =
      BestEstimated(space, machine, threads, pool, fewer);
  if (absl::IsNotFound(best.status())) {
    return Unchanged(module.functions[function], machine, threads);
  }
  return best;
}

}  // namespace kiln
