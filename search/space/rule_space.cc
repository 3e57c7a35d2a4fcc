#include "kiln/search/space/rule_space.h"

namespace kiln {

void AddRuleSchedules(const std::vector<ScheduleRule>& rules,
                      const RuleContext& context, TraceSpace* space) {
  for (const Schedule& design : ApplyRules(space->module(), rules, context)) {
    space->Add(design.trace());
  }
}

}  // namespace kiln
