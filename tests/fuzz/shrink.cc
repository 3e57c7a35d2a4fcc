#include "kiln/tests/fuzz/shrink.h"

#include <utility>

namespace kiln {

Trace Without(const Trace& trace, size_t index) {
  std::vector<bool> gone(trace.rvs.size());
  Trace result;
  result.rvs = trace.rvs;  // numbers stay; EliminateDeadCode makes them dense
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    const Instruction& instruction = trace.instructions[i];
    bool drop = i == index;
    for (const Arg& arg : instruction.args) {
      ForEachRv(arg, [&](const Rv& rv) { drop = drop || gone[rv.index]; });
    }
    if (!drop) {
      result.instructions.push_back(instruction);
      continue;
    }
    for (const Rv& rv : instruction.outputs) gone[rv.index] = true;
  }
  return result;
}

Trace Shrink(Trace trace, const State& start,
             FunctionRef<bool(const Trace&)> fails) {
  for (size_t i = trace.instructions.size(); i-- > 0;) {
    if (i >= trace.instructions.size()) continue;
    Trace shorter = Without(trace, i);
    if (!Replay(shorter, start).ok() || !fails(shorter)) continue;
    trace = std::move(shorter);
    i = trace.instructions.size();
  }
  Trace dense = EliminateDeadCode(trace);
  return fails(dense) ? dense : trace;
}

}  // namespace kiln
