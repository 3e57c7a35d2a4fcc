// Schedule rules: what to do with a block, for any program.
#ifndef KILN_SEARCH_SPACE_RULE_RULE_H_
#define KILN_SEARCH_SPACE_RULE_RULE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// The schedules that a rule makes of one, looking at the block called `block`;
// none where it does not apply. Choices inside a schedule are sampled steps of
// its trace; choices between schedules are several results. Where a step was
// refused, the context is told.
using RuleFunction = std::vector<Schedule>(const Schedule& sch,
                                           const std::string& block,
                                           const RuleContext& context);

// `made`, if that is a schedule; else none, and the context is told.
std::vector<Schedule> OnlyWay(absl::StatusOr<Schedule> made,
                              const RuleContext& context);

// Of the blocks that make what `block` reads, those that make it of one
// constant get the mark kLayoutPreparation (ir/tensor/layout_free.h).
absl::Status PrepareConstants(Schedule* sch, Rv block,
                              const RuleContext& context);

// The only consumer's work is done as what `copy` copies goes to its place, if
// it can be.
absl::Status FinishInCopy(Schedule* sch, Rv copy, const RuleContext& context);

enum class RuleTarget : uint8_t { kCpu };

struct ScheduleRule {
  std::string_view name;
  RuleTarget target;
  RuleFunction* apply;
};

// The rules for CPUs of the list in rules.h.
const std::vector<ScheduleRule>& CpuRules();

// What one rule did to one block: steps [first, last) of the trace.
struct RuleUse {
  std::string_view rule;
  std::string block;
  size_t first = 0, last = 0;
};

// A schedule and how it came to be.
struct Design {
  Schedule schedule;
  std::vector<RuleUse> uses;
};

// How many designs are made of a function with so many blocks in its root
// scope, where each costs as much as the function is long: 64 of up to 8
// blocks, and fewer of more.
int DesignLimit(size_t blocks);
// Of `count` programs to try, as many as of so many blocks take as long as all
// of a short function; `least` or all at least.
int CountForBlocks(int count, size_t blocks, int least);

// The schedules that the rules make of a module: one rule after the other,
// asked for each block that the rules before it left in the root scope, in
// program order. At most `limit`; 0: as many as DesignLimit. Where it is open
// whether threads are worth their launch, half of them run on one thread. The
// context's log gets what steps refused.
std::vector<Design> MakeDesigns(const Module& module,
                                const std::vector<ScheduleRule>& rules,
                                const RuleContext& context, int limit = 0);
// The schedules alone.
std::vector<Schedule> ApplyRules(const Module& module,
                                 const std::vector<ScheduleRule>& rules,
                                 const RuleContext& context, int limit = 0);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RULE_H_
