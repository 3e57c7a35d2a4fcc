// A design begins as the program and goes through the rules in their order,
// each asked for every block of the root. Where a rule gives several schedules
// the design becomes as many, up to a limit; where none, it stays as it is.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/parallel_worth.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// What the rule makes of the design; the design itself where it does nothing.
std::vector<Design> Apply(const ScheduleRule& rule, const std::string& block,
                          const RuleContext& context, Design design) {
  std::vector<Design> made;
  const size_t first = design.schedule.trace().instructions.size();
  if (context.log) context.log->Enter(rule.name, block);
  for (Schedule& schedule : rule.apply(design.schedule, block, context)) {
    Design one{std::move(schedule), design.uses};
    const size_t last = one.schedule.trace().instructions.size();
    if (last > first) one.uses.push_back({rule.name, block, first, last});
    made.push_back(std::move(one));
  }
  if (made.empty()) made.push_back(std::move(design));
  return made;
}

// The same, for each block of the design in turn. Where that would be more
// than `limit` designs, each goes on with one way to do the next block: the
// first with the first way, the second with the second, and so on, so that
// functions of many like blocks get designs that treat them alike.
std::vector<Design> ApplyToAll(const ScheduleRule& rule,
                               const RuleContext& context, size_t limit,
                               Design design) {
  const std::vector<std::string> blocks =
      RootBlocks(FunctionOf(design.schedule, context));
  std::vector<Design> designs = {std::move(design)};
  for (const std::string& block : blocks) {
    if (context.stop && context.stop()) break;
    std::vector<std::vector<Design>> ways;
    size_t count = 0;
    for (Design& one : designs) {
      ways.push_back(Apply(rule, block, context, std::move(one)));
      count += ways.back().size();
    }
    designs.clear();
    for (size_t i = 0; i < ways.size(); ++i) {
      if (count > limit) ways[i] = {std::move(ways[i][i % ways[i].size()])};
      absl::c_move(ways[i], std::back_inserter(designs));
    }
  }
  return designs;
}

// The designs all of which run loops in parallel, or none.
std::vector<Design> MakeAlike(const Module& module,
                              const std::vector<ScheduleRule>& rules,
                              const RuleContext& context, size_t limit) {
  std::vector<Design> designs = {{Schedule(module), {}}};
  for (const ScheduleRule& rule : rules) {
    std::vector<Design> next;
    for (Design& design : designs) {
      for (Design& made : ApplyToAll(rule, context, limit, std::move(design))) {
        if (next.size() < limit) next.push_back(std::move(made));
      }
    }
    designs = std::move(next);
  }
  return designs;
}

}  // namespace

std::vector<Schedule> OnlyWay(absl::StatusOr<Schedule> made,
                              const RuleContext& context) {
  if (made.ok()) return {*std::move(made)};
  context.GaveUp("", made.status());
  return {};
}

absl::Status PrepareConstants(Schedule* sch, Rv block,
                              const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> makers, sch->GetProducers(block));
  for (const Rv maker : makers) {
    const Function& f = FunctionOf(*sch, context);
    const std::optional<Path> path = FindBlock(f, sch->Value(maker));
    const auto info = DescribeBlock(f, path->realize()->block->name);
    if (!info || info->reads.size() != 1 || !info->reads[0].layout_free) {
      continue;
    }
    KILN_RETURN_IF_ERROR(sch->Annotate(maker, kLayoutPreparation, true));
  }
  return absl::OkStatus();
}

absl::Status FinishInCopy(Schedule* sch, Rv copy, const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                        sch->GetConsumers(copy));
  if (consumers.size() == 1) {
    context.WentOn("the consumer in place of a copy",
                   sch->ReverseComputeInline(consumers[0]));
  }
  return absl::OkStatus();
}

const std::vector<ScheduleRule>& CpuRules() {
  static const auto* rules = [] {
    auto* all = new std::vector<ScheduleRule>();
    absl::c_copy_if(
        kScheduleRules, std::back_inserter(*all),
        [](const ScheduleRule& r) { return r.target == RuleTarget::kCpu; });
    return all;
  }();
  return *rules;
}

int DesignLimit(size_t blocks) {
  constexpr size_t kMost = 64, kOfBlocks = 8, kLeast = 2;
  if (blocks <= kOfBlocks) return kMost;
  const size_t ratio = blocks / kOfBlocks;
  return static_cast<int>(std::max(kMost / (ratio * ratio), kLeast));
}

int CountForBlocks(int count, size_t blocks, int least) {
  return std::max(count * DesignLimit(blocks) / DesignLimit(1),
                  std::min(count, least));
}

std::vector<Design> MakeDesigns(const Module& module,
                                const std::vector<ScheduleRule>& rules,
                                const RuleContext& context, int limit) {
  const Function& f = module.functions[context.function];
  if (limit <= 0) limit = DesignLimit(RootBlocks(f).size());
  const auto most = static_cast<size_t>(limit);
  if (context.parallel != ParallelLoops::kWhereWorth) {
    return MakeAlike(module, rules, context, most);
  }
  RuleContext parallel = context, serial = context;
  parallel.parallel = ParallelLoops::kAlways;
  serial.parallel = ParallelLoops::kNever;
  switch (ParallelWorthOf(f)) {
    case ParallelWorth::kAlways:
      return MakeAlike(module, rules, parallel, most);
    case ParallelWorth::kNever:
      return MakeAlike(module, rules, serial, most);
    case ParallelWorth::kOpen:
      break;
  }
  const size_t half = std::max<size_t>(most / 2, 1);
  std::vector<Design> designs = MakeAlike(module, rules, parallel, half);
  absl::c_move(MakeAlike(module, rules, serial, half),
               std::back_inserter(designs));
  return designs;
}

std::vector<Schedule> ApplyRules(const Module& module,
                                 const std::vector<ScheduleRule>& rules,
                                 const RuleContext& context, int limit) {
  std::vector<Schedule> schedules;
  for (Design& design : MakeDesigns(module, rules, context, limit)) {
    schedules.push_back(std::move(design.schedule));
  }
  return schedules;
}

}  // namespace kiln
