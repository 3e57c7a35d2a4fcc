// For tests of schedule rules.
#ifndef KILN_SEARCH_SPACE_RULE_TESTING_H_
#define KILN_SEARCH_SPACE_RULE_TESTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {

// The module of a text with the one function `main`.
Module ParseProgram(const std::string& text);

// The rules of CpuRules() that have these names, in its order.
std::vector<ScheduleRule> RulesNamed(const std::vector<std::string>& names);

// What a rule makes of `main`, asked for `block`.
std::vector<Schedule> ApplyRule(RuleFunction* rule, const Module& module,
                                const std::string& block,
                                const RuleContext& context = {});

// Interprets both on the same random numbers and compares every parameter, up
// to what another order of sums changes.
absl::Status CheckCloseResults(const Function& before, const Function& after,
                               uint64_t seed);

// Draws programs of each schedule, its choices open, and expects that some are
// not refused and that all compute what the module computes. Gives them.
std::vector<Function> ExpectSameMeaning(const Module& module,
                                        const std::vector<Schedule>& made,
                                        int draws = 4);

// The loops that stand directly in the root block.
int CountRootLoops(const Function& f);
// The loops of one kind, anywhere.
int CountLoops(const Function& f, ForKind kind);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_TESTING_H_
