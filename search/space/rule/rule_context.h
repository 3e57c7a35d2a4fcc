// What schedule rules are given besides a schedule.
#ifndef KILN_SEARCH_SPACE_RULE_RULE_CONTEXT_H_
#define KILN_SEARCH_SPACE_RULE_RULE_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/machine.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/rule_log.h"

namespace kiln {

// Which loops run in parallel.
enum class ParallelLoops : uint8_t {
  kWhereWorth,  // those of calls that are worth it (parallel_worth.h)
  kAlways,      // calls may be longer than the function tells
  kNever,
};

// What rules know of the target and the task.
struct RuleContext {
  VectorRegisters registers = kAvx512Registers;
  // Of operands, what may wait in the second-level cache.
  int64_t near_bytes = 1 << 20;
  int64_t l2_bytes = 1 << 20;  // of each core
  int cores = 1;
  int function = 0;  // the one to schedule, in the module
  ParallelLoops parallel = ParallelLoops::kWhereWorth;
  // Stands for extents that are open, and others may be as large; 0: none is.
  int64_t open_size = 0;
  // Asked before each block; where it says so, designs stay as they are.
  std::function<bool()> stop = nullptr;
  RuleLog* log = nullptr;  // gets what steps refuse; null: nobody asks

  // Tells that a step was refused and what for; nothing where `why` is OK.
  // After the first, the schedule is given up; after the second it goes on
  // without the step.
  void GaveUp(std::string_view attempt, const absl::Status& why) const {
    if (log) log->GaveUp(attempt, why);
  }
  void WentOn(std::string_view attempt, const absl::Status& why) const {
    if (log) log->WentOn(attempt, why);
  }
};

// For tiles in the machine's registers and caches.
inline RuleContext RuleContextFor(const Machine& machine, int function) {
  return {.registers = machine.vectors,
          .near_bytes = UsableBytes(machine, MemoryLevelId::kL2),
          .l2_bytes = machine.level(MemoryLevelId::kL2).bytes,
          .cores = machine.cores,
          .function = function};
}

inline bool RunsInParallel(const RuleContext& c) {
  return c.parallel != ParallelLoops::kNever;
}

// Where loops run in parallel at all.
inline absl::Status Parallel(Schedule* sch, Rv loop, const RuleContext& c) {
  return RunsInParallel(c) ? sch->Parallel(loop) : absl::OkStatus();
}

inline const Function& FunctionOf(const Schedule& sch, const RuleContext& c) {
  return *sch.state().functions[c.function];
}

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RULE_CONTEXT_H_
