#include <algorithm>
#include <iterator>
#include <utility>

#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

// What the rule makes of the design; the design itself where it does nothing.
std::vector<Design> Apply(const ScheduleRule& rule, const std::string& block,
                          const RuleContext& context, Design design) {
  std::vector<Design> made;
  const size_t first = design.schedule.trace().instructions.size();
  for (Schedule& schedule : rule.apply(design.schedule, block, context)) {
    Design one{std::move(schedule), design.uses};
    const size_t last = one.schedule.trace().instructions.size();
    if (last > first) one.uses.push_back({rule.name, block, first, last});
    made.push_back(std::move(one));
  }
  if (made.empty()) made.push_back(std::move(design));
  return made;
}

// The same, for each block of the design in turn.
std::vector<Design> ApplyToAll(const ScheduleRule& rule,
                               const RuleContext& context, Design design) {
  const std::vector<std::string> blocks =
      RootBlocks(FunctionOf(design.schedule, context));
  std::vector<Design> designs = {std::move(design)};
  for (const std::string& block : blocks) {
    std::vector<Design> next;
    for (Design& one : designs) {
      std::vector<Design> made = Apply(rule, block, context, std::move(one));
      std::move(made.begin(), made.end(), std::back_inserter(next));
    }
    designs = std::move(next);
  }
  return designs;
}

}  // namespace

const std::vector<ScheduleRule>& CpuRules() {
  static const auto* rules = new std::vector<ScheduleRule>{
      {"auto-inline", AutoInline},
      {"fast-products", FastProducts},
      {"pad-columns", PadColumns},
      {"split-phases", SplitPhases},
      {"narrow-dots", NarrowDots},
      {"row-reductions", RowReductions},
      {"split-reduction", SplitReduction},
      {"tuple-reductions", TupleReductions},
      {"register-tiling", RegisterTiling},
      {"near-transposes", NearTransposes},
      {"parallelize-vectorize", ParallelizeVectorize},
  };
  return *rules;
}

std::vector<Design> MakeDesigns(const Module& module,
                                const std::vector<ScheduleRule>& rules,
                                const RuleContext& context, int limit) {
  std::vector<Design> designs = {{Schedule(module), {}}};
  for (const ScheduleRule& rule : rules) {
    std::vector<Design> next;
    for (Design& design : designs) {
      for (Design& made : ApplyToAll(rule, context, std::move(design))) {
        if (static_cast<int>(next.size()) < limit) {
          next.push_back(std::move(made));
        }
      }
    }
    designs = std::move(next);
  }
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
