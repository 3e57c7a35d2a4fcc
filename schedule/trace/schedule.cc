#include "kiln/schedule/trace/schedule.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/fragment.h"

namespace kiln {
namespace {

ArgList ToArgs(const std::vector<Rv>& rvs) {
  return ArgList(rvs.begin(), rvs.end());
}

Arg ToArg(const IndexMap& map) {
  return Arg(std::make_shared<const IndexMapArg>(IndexMapArg{map, {}}));
}

ArgList BufferRef(Schedule::Side side, int64_t index) {
  return {side == Schedule::Side::kWrite ? "write" : "read", index};
}

absl::Status FillDefaults(const InstructionKind& kind, std::vector<Arg>* args) {
  for (size_t i = args->size(); i < kind.params.size(); ++i) {
    const ParamInfo& param = kind.params[i];
    if (!param.default_value) {
      return BadArgument(
          kind.name,
          absl::StrCat("argument `", std::string(param.name), "` is missing"));
    }
    args->push_back(*param.default_value);
  }
  return absl::OkStatus();
}

// What `rv` stood for in `state`, as messages name it: "loop j"; empty when it
// stands for nothing there.
std::string NameIn(const State& state, const Rv& rv) {
  const RvValue& value = state.rvs[rv.index];
  const Function& f = *state.functions[value.function];
  if (rv.kind == RvKind::kLoop) {
    const auto path = FindLoop(f, value.value);
    return path ? "loop " + path->loop()->var.name() : "";
  }
  const auto path = FindBlock(f, value.value);
  return path ? "block " + path->realize()->block->name : "";
}

std::string_view PastTense(std::string_view primitive) {
  if (primitive == "split") return "split";
  if (primitive == "fuse") return "fused";
  if (primitive == "compute_inline" || primitive == "reverse_compute_inline") {
    return "inlined";
  }
  if (primitive == "compute_at" || primitive == "reverse_compute_at") {
    return "moved away";
  }
  return "replaced";
}

bool IsStale(const State& state, const Rv& rv) {
  return rv.kind != RvKind::kInt && state.rvs[rv.index].value >= 0 &&
         NameIn(state, rv).empty();
}

// "loop j was split by step 4": replays to find the step after which `rv`
// stands for nothing.
std::string WhyStale(const Trace& trace, const State& start, const Rv& rv) {
  State state = start;
  const Decisions decisions = GetDecisions(trace);
  std::string name;
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    if (!Replay(trace, i, i + 1, decisions, 0, &state).ok()) return "";
    if (static_cast<size_t>(rv.index) >= state.rvs.size()) continue;
    const std::string now = NameIn(state, rv);
    if (now.empty() && !name.empty()) {
      return absl::StrCat(
          name, " was ",
          std::string(PastTense(trace.instructions[i].kind->name)), " by step ",
          i + 1);
    }
    if (!now.empty()) name = now;
  }
  return "";
}

}  // namespace

Schedule::Schedule(Module module, ScheduleOptions options)
    : module_(std::make_shared<const Module>(std::move(module))),
      start_(*module_),
      state_(start_),
      seed_(options.seed) {}

absl::StatusOr<std::vector<Rv>> Schedule::Apply(std::string_view name,
                                                std::vector<Arg> args,
                                                Decision decision) {
  const InstructionKind* kind = FindInstruction(name);
  if (!kind) return BadArgument(name, "there is no such primitive");
  KILN_RETURN_IF_ERROR(FillDefaults(*kind, &args));
  KILN_RETURN_IF_ERROR(CheckArgs(*kind, args));
  Instruction instruction;
  instruction.kind = kind;
  instruction.args = std::move(args);
  instruction.fixed = !decision.empty();
  instruction.decision = std::move(decision);
  const absl::Status status = Execute(&instruction, trace_.instructions.size(),
                                      seed_, &trace_, &state_);
  if (!status.ok()) return Explain(status, instruction);
  trace_.instructions.push_back(instruction);
  return instruction.outputs;
}

absl::Status Schedule::Explain(const absl::Status& status,
                               const Instruction& instruction) const {
  std::string why;
  for (const Arg& arg : instruction.args) {
    ForEachRv(arg, [&](const Rv& rv) {
      if (why.empty() && IsStale(state_, rv))
        why = WhyStale(trace_, start_, rv);
    });
  }
  if (why.empty()) {
    return absl::Status(status.code(),
                        absl::StrCat(std::string(status.message()),
                                     Fragment(instruction, state_)));
  }
  return Refusal(instruction.kind->name, why,
                 "use what that step gave, or look it up again");
}

absl::StatusOr<Rv> Schedule::One(std::string_view name, std::vector<Arg> args,
                                 Decision decision) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rvs,
                        Apply(name, std::move(args), std::move(decision)));
  return rvs[0];
}

absl::Status Schedule::None(std::string_view name, std::vector<Arg> args) {
  return Apply(name, std::move(args)).status();
}

absl::StatusOr<Rv> Schedule::GetBlock(std::string name, std::string func_name) {
  return One("get_block", {std::move(name), std::move(func_name)});
}
absl::StatusOr<std::vector<Rv>> Schedule::GetLoops(Rv block) {
  return Apply("get_loops", {block});
}
absl::StatusOr<std::vector<Rv>> Schedule::GetChildBlocks(Rv block_or_loop) {
  return Apply("get_child_blocks", {block_or_loop});
}
absl::StatusOr<std::vector<Rv>> Schedule::GetProducers(Rv block) {
  return Apply("get_producers", {block});
}
absl::StatusOr<std::vector<Rv>> Schedule::GetConsumers(Rv block) {
  return Apply("get_consumers", {block});
}
absl::StatusOr<std::vector<Rv>> Schedule::GetOutputBlocks(Rv scope_block) {
  return Apply("get_output_blocks", {scope_block});
}

absl::StatusOr<std::vector<Rv>> Schedule::SamplePerfectTile(
    Rv loop, int64_t n, int64_t max_innermost, Decision decision) {
  return Apply("sample_perfect_tile", {loop, n, max_innermost},
               std::move(decision));
}
absl::StatusOr<Rv> Schedule::SampleCategorical(std::vector<int64_t> candidates,
                                               std::vector<double> probs,
                                               Decision decision) {
  return One("sample_categorical",
             {ArgList(candidates.begin(), candidates.end()),
              ArgList(probs.begin(), probs.end())},
             std::move(decision));
}
absl::StatusOr<std::vector<Rv>> Schedule::SampleTuple(
    const std::vector<std::vector<int64_t>>& candidates,
    const std::vector<double>& probs, Decision decision) {
  ArgList tuples;
  for (const std::vector<int64_t>& tuple : candidates) {
    tuples.push_back(ArgList(tuple.begin(), tuple.end()));
  }
  return Apply("sample_tuple",
               {std::move(tuples), ArgList(probs.begin(), probs.end())},
               std::move(decision));
}
absl::StatusOr<Rv> Schedule::SampleComputeLocation(Rv block,
                                                   Decision decision) {
  return One("sample_compute_location", {block}, std::move(decision));
}

absl::StatusOr<std::vector<Rv>> Schedule::Split(Rv loop, ArgList factors,
                                                bool preserve_unit_iters) {
  return Apply("split", {loop, std::move(factors), preserve_unit_iters});
}
absl::StatusOr<Rv> Schedule::Fuse(const std::vector<Rv>& loops,
                                  bool preserve_unit_iters) {
  return One("fuse", {Arg(ToArgs(loops)), preserve_unit_iters});
}
absl::Status Schedule::Reorder(const std::vector<Rv>& loops) {
  return None("reorder", {Arg(ToArgs(loops))});
}
absl::StatusOr<Rv> Schedule::AddUnitLoop(Rv block_or_loop) {
  return One("add_unit_loop", {block_or_loop});
}
absl::Status Schedule::Parallel(Rv loop) { return None("parallel", {loop}); }
absl::Status Schedule::Vectorize(Rv loop) { return None("vectorize", {loop}); }
absl::Status Schedule::Unroll(Rv loop) { return None("unroll", {loop}); }
absl::Status Schedule::Bind(Rv loop, std::string thread_axis) {
  return None("bind", {loop, std::move(thread_axis)});
}
absl::StatusOr<Rv> Schedule::DecomposeReduction(Rv block, Rv loop) {
  return One("decompose_reduction", {block, loop});
}
absl::StatusOr<Rv> Schedule::Rfactor(Rv loop, int64_t factor_axis) {
  return One("rfactor", {loop, factor_axis});
}

absl::StatusOr<Rv> Schedule::CacheRead(Rv block, int64_t index,
                                       std::string scope,
                                       const std::vector<Rv>& consumers) {
  if (consumers.empty()) {
    return One("cache_read", {block, index, std::move(scope)});
  }
  return One("cache_read", {block, index, std::move(scope),
                            ArgList(consumers.begin(), consumers.end())});
}
absl::StatusOr<Rv> Schedule::CacheWrite(Rv block, int64_t index,
                                        std::string scope) {
  return One("cache_write", {block, index, std::move(scope)});
}
absl::Status Schedule::ComputeAt(Rv block, Rv loop, bool preserve_unit_loops,
                                 int64_t index) {
  return None("compute_at", {block, loop, preserve_unit_loops, index});
}
absl::Status Schedule::ReverseComputeAt(Rv block, Rv loop,
                                        bool preserve_unit_loops,
                                        int64_t index) {
  return None("reverse_compute_at", {block, loop, preserve_unit_loops, index});
}
absl::Status Schedule::ComputeInline(Rv block) {
  return None("compute_inline", {block});
}
absl::Status Schedule::ReverseComputeInline(Rv block) {
  return None("reverse_compute_inline", {block});
}

absl::Status Schedule::TransformLayout(Rv block, Side side, int64_t index,
                                       const IndexMap& map, Arg pad_value) {
  return None("transform_layout", {block, BufferRef(side, index), ToArg(map),
                                   std::move(pad_value)});
}
absl::Status Schedule::TransformBlockLayout(Rv block, const IndexMap& map) {
  return None("transform_block_layout", {block, ToArg(map)});
}
absl::StatusOr<Rv> Schedule::Reindex(Rv block, Side side, int64_t index) {
  return One("reindex", {block, BufferRef(side, index)});
}
absl::Status Schedule::PadDomain(Rv block,
                                 const std::vector<int64_t>& padding) {
  return None("pad_domain", {block, ArgList(padding.begin(), padding.end())});
}
absl::Status Schedule::PadEinsum(Rv block,
                                 const std::vector<int64_t>& padding) {
  return None("pad_einsum", {block, ArgList(padding.begin(), padding.end())});
}
absl::Status Schedule::OffsetOperand(Rv block, int64_t read_index) {
  return None("offset_operand", {block, read_index});
}
absl::Status Schedule::Strassen(Rv block, const std::vector<int64_t>& axes) {
  return None("strassen", {block, ArgList(axes.begin(), axes.end())});
}
absl::Status Schedule::SetScope(Rv block, int64_t buffer_index,
                                std::string scope) {
  return None("set_scope", {block, buffer_index, std::move(scope)});
}
absl::Status Schedule::HoistCast(Rv block, int64_t buffer_index) {
  return None("hoist_cast", {block, buffer_index});
}
absl::Status Schedule::Annotate(Rv block_or_loop, std::string key, Arg value) {
  return None("annotate", {block_or_loop, std::move(key), std::move(value)});
}
absl::Status Schedule::Unannotate(Rv block_or_loop, std::string key) {
  return None("unannotate", {block_or_loop, std::move(key)});
}
absl::Status Schedule::EnterPostproc() { return None("enter_postproc", {}); }

}  // namespace kiln
