// A space that schedule rules make, for any function.
#ifndef KILN_SEARCH_SPACE_RULE_SPACE_H_
#define KILN_SEARCH_SPACE_RULE_SPACE_H_

#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {

// Adds the schedules that the rules make of the space's function.
void AddRuleSchedules(const std::vector<ScheduleRule>& rules,
                      const RuleContext& context, TraceSpace* space);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_SPACE_H_
