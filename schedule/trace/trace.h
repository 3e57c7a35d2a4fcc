// Traces: what was done to a module, to be done again.
//
// A trace is a list of instructions over random variables. The choices of
// those that sample are decisions, kept beside them; a trace without decisions
// is a space of schedules. Replaying is a pure function of the state it starts
// from, the trace, the decisions and the seed: any number of threads may
// replay one trace at the same time.
#ifndef KILN_SCHEDULE_TRACE_TRACE_H_
#define KILN_SCHEDULE_TRACE_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/schedule/trace/instruction.h"
#include "kiln/schedule/trace/state.h"

namespace kiln {

struct Trace {
  std::vector<Instruction> instructions;
  std::vector<RvKind> rvs;  // all random variables, by number

  Rv NewRv(RvKind kind);
};

// One decision for each instruction of a trace; empty where it samples not, or
// where it is open.
using Decisions = std::vector<Decision>;
Decisions GetDecisions(const Trace& trace);
// The same trace with other decisions.
Trace WithDecisions(Trace trace, const Decisions& decisions);
// The space of a trace: decisions that were not given by its author are open.
Decisions OpenDecisions(const Trace& trace);

// Carries out instructions [first, last) of the trace on the state, which has
// to be the state after the first `first` ones. Open decisions are sampled:
// the choice of instruction i depends on the seed and i alone. `made`, unless
// nullptr, takes the decisions of all instructions that ran. A refusal names
// the step (counted from 1); the state is then that before the step.
absl::Status Replay(const Trace& trace, size_t first, size_t last,
                    const Decisions& decisions, uint64_t seed, State* state,
                    Decisions* made = nullptr);

// The whole trace with its own decisions.
absl::StatusOr<State> Replay(const Trace& trace, const State& start,
                             uint64_t seed = 0);

// Carries out one instruction; its outputs have numbers already, or not yet:
// then they get the next ones of `trace`.
absl::Status Execute(Instruction* instruction, size_t step, uint64_t seed,
                     Trace* trace, State* state);

// Without the instructions that change nothing and whose outputs nobody uses;
// random variables are numbered anew.
struct EliminateOptions {
  bool remove_postproc = false;  // and without what follows enter_postproc
};
Trace EliminateDeadCode(const Trace& trace, EliminateOptions options = {});

// OK when every instruction's arguments fit its kind, every random variable
// is made before it is used, once, and with the kind that its uses have.
absl::Status Validate(const Trace& trace);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_TRACE_H_
