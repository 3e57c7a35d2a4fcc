#include "kiln/schedule/trace/trace.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

absl::Status AtStep(const absl::Status& status, size_t step) {
  return absl::Status(
      status.code(),
      absl::StrCat("step ", step + 1, ": ", std::string(status.message())));
}

absl::Status PlaceOutputs(const Instruction& instruction,
                          const std::vector<RvValue>& values, State* state) {
  if (instruction.outputs.size() != values.size()) {
    return Refusal(instruction.kind->name,
                   absl::StrCat("it gives ", values.size(), " results, and ",
                                instruction.outputs.size(), " are taken"));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t index = instruction.outputs[i].index;
    if (state->rvs.size() <= index) state->rvs.resize(index + 1);
    state->rvs[index] = values[i];
  }
  return absl::OkStatus();
}

absl::Status Apply(const Instruction& instruction, ApplyContext* context) {
  KILN_RETURN_IF_ERROR(instruction.kind->apply(*context));
  return context->order_status();
}

absl::Status Run(const Instruction& instruction, size_t step,
                 const Decision& decision, uint64_t seed, State* state,
                 Decision* made) {
  ApplyContext context(instruction, state, decision, seed, step);
  absl::Status status = Apply(instruction, &context);
  if (status.ok()) {
    status = PlaceOutputs(instruction, context.outputs(), state);
  }
  if (!status.ok()) return AtStep(status, step);
  if (made) *made = std::move(context.decision());
  return status;
}

bool IsPostproc(const Instruction& instruction) {
  return instruction.kind->name == "enter_postproc";
}

Arg Renumber(const Arg& arg, const std::vector<int>& numbers);

ArgList Renumber(const ArgList& list, const std::vector<int>& numbers) {
  ArgList result;
  for (const Arg& item : list) result.push_back(Renumber(item, numbers));
  return result;
}

Arg Renumber(const Arg& arg, const std::vector<int>& numbers) {
  if (arg.rv()) return Rv{arg.rv()->kind, numbers[arg.rv()->index]};
  if (arg.list()) return Renumber(*arg.list(), numbers);
  if (arg.dict()) {
    ArgDict dict = *arg.dict();
    for (auto& [key, item] : dict) item = Renumber(item, numbers);
    return dict;
  }
  if (const RvArithmetic* e = arg.arithmetic()) {
    return std::make_shared<const RvArithmetic>(
        RvArithmetic{e->op, Renumber(e->a, numbers), Renumber(e->b, numbers)});
  }
  if (arg.index_map() && !arg.index_map()->captured.empty()) {
    IndexMapArg map = *arg.index_map();
    for (auto& [var, rv] : map.captured) rv.index = numbers[rv.index];
    return std::make_shared<const IndexMapArg>(std::move(map));
  }
  return arg;
}

// Which instructions stay: those that change something, and those whose
// outputs such an instruction uses.
std::vector<bool> FindLive(const Trace& trace, size_t count) {
  std::vector<bool> live(trace.instructions.size());
  std::vector<bool> used(trace.rvs.size());
  for (size_t i = count; i-- > 0;) {
    const Instruction& instruction = trace.instructions[i];
    live[i] =
        !instruction.kind->is_pure ||
        std::any_of(instruction.outputs.begin(), instruction.outputs.end(),
                    [&](const Rv& rv) { return used[rv.index]; });
    if (!live[i]) continue;
    for (const Arg& arg : instruction.args) {
      ForEachRv(arg, [&](const Rv& rv) { used[rv.index] = true; });
    }
  }
  return live;
}

absl::Status ValidateUses(const Trace& trace, const Instruction& instruction,
                          const std::vector<bool>& made) {
  absl::Status status = CheckArgs(*instruction.kind, instruction.args);
  for (const Arg& arg : instruction.args) {
    ForEachRv(arg, [&](const Rv& rv) {
      const bool known = rv.index >= 0 &&
                         rv.index < static_cast<int>(trace.rvs.size()) &&
                         made[rv.index] && trace.rvs[rv.index] == rv.kind;
      if (status.ok() && !known) {
        status = BadArgument(instruction.kind->name,
                             "it uses a random variable that no earlier step "
                             "makes");
      }
    });
  }
  return status;
}

}  // namespace

Rv Trace::NewRv(RvKind kind) {
  rvs.push_back(kind);
  return {kind, static_cast<int>(rvs.size()) - 1};
}

Decisions GetDecisions(const Trace& trace) {
  Decisions decisions;
  for (const Instruction& i : trace.instructions) {
    decisions.push_back(i.decision);
  }
  return decisions;
}

Decisions OpenDecisions(const Trace& trace) {
  Decisions decisions;
  for (const Instruction& i : trace.instructions) {
    decisions.push_back(i.fixed ? i.decision : Decision());
  }
  return decisions;
}

Trace WithDecisions(Trace trace, const Decisions& decisions) {
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    trace.instructions[i].decision = decisions[i];
  }
  return trace;
}

absl::Status Replay(const Trace& trace, size_t first, size_t last,
                    const Decisions& decisions, uint64_t seed, State* state,
                    Decisions* made) {
  if (made) made->resize(trace.instructions.size());
  state->rvs.reserve(trace.rvs.size());
  for (size_t i = first; i < last; ++i) {
    KILN_RETURN_IF_ERROR(Run(trace.instructions[i], i, decisions[i], seed,
                             state, made ? &(*made)[i] : nullptr));
  }
  return absl::OkStatus();
}

absl::StatusOr<State> Replay(const Trace& trace, const State& start,
                             uint64_t seed) {
  State state = start;
  KILN_RETURN_IF_ERROR(Replay(trace, 0, trace.instructions.size(),
                              GetDecisions(trace), seed, &state));
  return state;
}

absl::Status Execute(Instruction* instruction, size_t step, uint64_t seed,
                     Trace* trace, State* state) {
  State before = *state;
  ApplyContext context(*instruction, state, instruction->decision, seed, step);
  const absl::Status status = Apply(*instruction, &context);
  if (!status.ok()) {
    *state = std::move(before);
    return AtStep(status, step);
  }
  for (size_t i = 0; i < context.outputs().size(); ++i) {
    instruction->outputs.push_back(
        trace->NewRv(instruction->kind->output_kind));
  }
  instruction->decision = std::move(context.decision());
  return PlaceOutputs(*instruction, context.outputs(), state);
}

Trace EliminateDeadCode(const Trace& trace, EliminateOptions options) {
  size_t count = trace.instructions.size();
  if (options.remove_postproc) {
    count = std::find_if(trace.instructions.begin(), trace.instructions.end(),
                         IsPostproc) -
            trace.instructions.begin();
  }
  const std::vector<bool> live = FindLive(trace, count);
  Trace result;
  std::vector<int> numbers(trace.rvs.size(), -1);
  for (size_t i = 0; i < count; ++i) {
    if (!live[i]) continue;
    Instruction copy = trace.instructions[i];
    copy.args = Renumber(copy.args, numbers);
    for (Rv& rv : copy.outputs) {
      const int old = rv.index;
      rv = result.NewRv(rv.kind);
      numbers[old] = rv.index;
    }
    result.instructions.push_back(std::move(copy));
  }
  return result;
}

absl::Status Validate(const Trace& trace) {
  std::vector<bool> made(trace.rvs.size());
  for (const Instruction& instruction : trace.instructions) {
    if (!instruction.kind) {
      return absl::InvalidArgumentError("an instruction has no kind");
    }
    KILN_RETURN_IF_ERROR(ValidateUses(trace, instruction, made));
    for (const Rv& rv : instruction.outputs) {
      if (rv.index < 0 || rv.index >= static_cast<int>(made.size()) ||
          made[rv.index] || rv.kind != instruction.kind->output_kind ||
          trace.rvs[rv.index] != rv.kind) {
        return BadArgument(instruction.kind->name, "its outputs are malformed");
      }
      made[rv.index] = true;
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
