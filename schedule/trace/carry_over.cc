#include "kiln/schedule/trace/carry_over.h"

#include <optional>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/trace/instruction.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

bool IsSymbolicLoop(const Arg& arg, const State& state) {
  const Rv* rv = arg.rv();
  if (!rv || rv->kind != RvKind::kLoop) return false;
  const RvValue& value = state.rvs[rv->index];
  const std::optional<Path> path =
      FindLoop(*state.functions[value.function], LoopId{value.value});
  return path && !AsInt(path->loop()->extent);
}

// The decision of the step for the loop that it finds in `state`.
Decision Carried(const Instruction& step, const State& state) {
  Decision decision = step.decision;
  if (step.kind->name == "sample_perfect_tile" && !decision.empty() &&
      IsSymbolicLoop(step.args[0], state)) {
    decision[0] = -1;
  }
  return decision;
}

}  // namespace

absl::StatusOr<CarriedOver> CarryOver(const Trace& trace, const State& start) {
  CarriedOver out{trace, start};
  Decisions decisions = GetDecisions(trace);
  for (size_t i = 0; i < decisions.size(); ++i) {
    decisions[i] = Carried(trace.instructions[i], out.state);
    KILN_RETURN_IF_ERROR(
        Replay(trace, i, i + 1, decisions, /*seed=*/0, &out.state));
  }
  out.trace = WithDecisions(std::move(out.trace), decisions);
  return out;
}

absl::StatusOr<CarriedOver> CarryOver(const std::string& trace,
                                      const Module& at_size,
                                      const Module& module) {
  Schedule schedule(at_size);
  KILN_RETURN_IF_ERROR(RunScript(python::Source("<trace>", trace), &schedule));
  return CarryOver(schedule.trace(), State(module));
}

}  // namespace kiln
