// Schedule rules: what to do with a block, for any program.
#ifndef KILN_SEARCH_SPACE_RULE_RULE_H_
#define KILN_SEARCH_SPACE_RULE_RULE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/register_tiles.h"

namespace kiln {

// What rules know of the target and the task.
struct RuleContext {
  VectorRegisters registers = kAvx512Registers;
  int function = 0;  // the one to schedule, in the module
  // Asked before each block; where it says so, designs stay as they are.
  std::function<bool()> stop = nullptr;
};

inline const Function& FunctionOf(const Schedule& sch, const RuleContext& c) {
  return *sch.state().functions[c.function];
}

// The schedules that a rule makes of one, looking at the block called `block`;
// none where it does not apply. Choices inside a schedule are sampled steps of
// its trace; choices between schedules are several results.
using RuleFunction = std::vector<Schedule> (*)(const Schedule& sch,
                                               const std::string& block,
                                               const RuleContext& context);

struct ScheduleRule {
  std::string_view name;
  RuleFunction apply;
};

// In the order in which they are asked. One file each.
//
// Elementwise blocks go into their consumers. Padding, which costs something at
// each use, may also stay; transposes of what is summed up do.
std::vector<Schedule> AutoInline(const Schedule& sch, const std::string& block,
                                 const RuleContext& context);
// Large products of matrices by fewer operations, where errors may be normwise.
std::vector<Schedule> FastProducts(const Schedule& sch,
                                   const std::string& block,
                                   const RuleContext& context);
// Sums over outputs with too few contiguous elements for a vector get more.
std::vector<Schedule> PadColumns(const Schedule& sch, const std::string& block,
                                 const RuleContext& context);
// Sums of elements that stand apart by zeros, as transposed convolutions have
// them: outputs and taps by their remainders, so that zeros cost nothing.
std::vector<Schedule> SplitPhases(const Schedule& sch, const std::string& block,
                                  const RuleContext& context);
// Sums of products for outputs too narrow for vectors: vectors run along what
// is summed up.
std::vector<Schedule> NarrowDots(const Schedule& sch, const std::string& block,
                                 const RuleContext& context);
// Rows that are summed up, and what is computed for them before and after:
// everything for a row at once, the sums in vectors, rows in parallel.
std::vector<Schedule> RowReductions(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context);
// Long reductions to few results: parts of them in parallel, in vectors.
std::vector<Schedule> SplitReduction(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context);
// Reductions to several values at once, such as the index and the value of the
// largest element: rows or parts of them in parallel, in vectors.
std::vector<Schedule> TupleReductions(const Schedule& sch,
                                      const std::string& block,
                                      const RuleContext& context);
// Reductions over an output with a contiguous axis: a register tile inside
// cache blocks, an operand packed or not, the consumer done on the tile.
std::vector<Schedule> RegisterTiling(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context);
// Operands that are transposed for each of many products may be so just before
// each.
std::vector<Schedule> NearTransposes(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context);
// What is left at the root: spatial loops in parallel, the last in vectors.
std::vector<Schedule> ParallelizeVectorize(const Schedule& sch,
                                           const std::string& block,
                                           const RuleContext& context);

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
// program order. At most `limit`; 0: as many as DesignLimit.
std::vector<Design> MakeDesigns(const Module& module,
                                const std::vector<ScheduleRule>& rules,
                                const RuleContext& context, int limit = 0);
// The schedules alone.
std::vector<Schedule> ApplyRules(const Module& module,
                                 const std::vector<ScheduleRule>& rules,
                                 const RuleContext& context, int limit = 0);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RULE_H_
