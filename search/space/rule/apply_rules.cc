#include <deque>
#include <utility>

#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {

const std::vector<ScheduleRule>& CpuRules() {
  static const auto* rules = new std::vector<ScheduleRule>{
      {"auto-inline", AutoInline},
      {"register-tiling", RegisterTiling},
      {"parallelize-vectorize", ParallelizeVectorize},
  };
  return *rules;
}

std::vector<Schedule> ApplyRules(const Module& module,
                                 const std::vector<ScheduleRule>& rules,
                                 const RuleContext& context, int limit) {
  std::vector<Schedule> designs = {Schedule(module)};
  const std::vector<std::string> blocks =
      RootBlocks(FunctionOf(designs[0], context));
  for (const ScheduleRule& rule : rules) {
    for (const std::string& block : blocks) {
      std::vector<Schedule> next;
      for (Schedule& design : designs) {
        std::vector<Schedule> made = rule.apply(design, block, context);
        if (made.empty()) made.push_back(std::move(design));
        for (Schedule& one : made) {
          if (static_cast<int>(next.size()) < limit) {
            next.push_back(std::move(one));
          }
        }
      }
      designs = std::move(next);
    }
  }
  return designs;
}

}  // namespace kiln
