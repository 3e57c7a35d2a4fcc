// A check takes a trace, not a scheduled program: it replays the trace itself,
// so a shrunken trace can be given to the same check. Each begins its message
// with its own name, by which failures count as the same:
//
//   compiled: C element ..               interpreted: ..        verify: ..
//   trace text: another program: ..      snapshot: ..           module text: ..
//
// CheckSnapshot replays half of a trace, keeps the state, and goes on from it
// twice: a step that changes shared nodes in place would show in the second. To
// add a check, write it here and name it in AllChecks (pair.cc).
#include "kiln/tests/fuzz/check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/scalar_args.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/schedule/trace/serial.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tests/fuzz/layouts.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

absl::Status In(const char* check, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat(check, ": ", std::string(status.message())));
}

// What a CPU kernel cannot be made of: threads of a device, and parallel loops
// inside one another.
bool NotForCpu(const Stmt& s, bool in_parallel = false) {
  bool found = false;
  if (const auto* loop = s.As<ForNode>()) {
    if (loop->for_kind == ForKind::kThreadBinding) return true;
    if (loop->for_kind == ForKind::kParallel) {
      if (in_parallel) return true;
      in_parallel = true;
    }
  }
  ForEachChild(s, [&](const Stmt& child) {
    found = found || NotForCpu(child, in_parallel);
  });
  return found;
}

// ScalarsOf finds symbolic extents in shapes of arguments, not in n // 4 and
// n % 4, which a kernel could.
bool HasCompoundExtent(const Function& f) {
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    for (const Expr& e : param.buffer->shape) {
      if (!AsInt(e) && !e.As<VarNode>()) return true;
    }
  }
  return false;
}

Tolerance ToleranceFor(const Tensor& expected) {
  Tolerance tolerance = DefaultTolerance(expected.dtype);
  if (!expected.dtype.is_float()) return tolerance;
  double largest = 1;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double value = std::fabs(expected.GetReal(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  tolerance.atol = std::max(tolerance.atol, tolerance.rtol) * largest;
  return tolerance;
}

absl::StatusOr<State> Scheduled(const Case& c, const Trace& trace) {
  return Replay(trace, c.start);
}

absl::Status Compare(const Case& c, const ArgumentLayout& layout,
                     const std::vector<Tensor>& results) {
  return CompareOutputs(FromNewLayout(layout, results, c.expected), c.expected,
                        *c.start.functions[0]);
}

// The values of the signature's scalars: parameters and extents of tensors.
std::vector<int64_t> ScalarsOf(const KernelSignature& signature,
                               const std::vector<Tensor>& args) {
  std::vector<int64_t> scalars(signature.scalars.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const KernelParam& param = signature.params[i];
    if (param.kind == KernelParam::Kind::kScalar) {
      scalars[param.index] = ScalarBits(args[i]);
      continue;
    }
    const KernelBuffer& buffer = signature.buffers[param.index];
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      if (!buffer.shape[d].is_symbolic()) continue;
      scalars[buffer.shape[d].scalar()] = args[i].shape[d];
    }
  }
  return scalars;
}

absl::Status RunCompiled(const Function& f, LoopOrder order,
                         std::vector<Tensor>* args) {
  static const auto* target = new Target(HostTarget());
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(f, *target));
  KILN_ASSIGN_OR_RETURN(auto object, LoadedObject::Load(kernel.object));
  KILN_ASSIGN_OR_RETURN(KilnKernel entry, object->Kernel(kernel.symbol));
  const std::vector<int64_t> scalars = ScalarsOf(kernel.signature, *args);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < args->size(); ++i) {
    if (f.params[i].buffer) tensors.push_back((*args)[i]);
  }
  KILN_RETURN_IF_ERROR(RunInSandbox(entry, order, scalars, &tensors));
  for (size_t i = args->size(); i-- > 0;) {
    if (!f.params[i].buffer) continue;
    (*args)[i] = std::move(tensors.back());
    tensors.pop_back();
  }
  return absl::OkStatus();
}

// The program that both have come to, up to ids and names.
absl::Status SameProgram(const char* check, const State& a, const State& b) {
  if (StructurallyEqual(*a.functions[0], *b.functions[0])) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(check, ": another program:\n",
                   PrintFunction(*b.functions[0], {.header = false})));
}

absl::Status SameModule(const char* check, const Module& module,
                        const absl::StatusOr<Module>& read) {
  KILN_RETURN_IF_ERROR(In(check, read.status()));
  if (StructurallyEqual(module, *read)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(check, ": another module:\n", PrintModule(*read)));
}

absl::Status CheckTextReplay(const Case& c, const Trace& trace,
                             const State& state) {
  Module module;
  module.functions.push_back(*c.start.functions[0]);
  Schedule schedule(module);
  const std::string text = ToText(trace);
  KILN_RETURN_IF_ERROR(
      In("trace text", RunScript({"trace.py", text}, &schedule)));
  KILN_RETURN_IF_ERROR(SameProgram("trace text", state, schedule.state()));
  if (ToText(schedule.trace()) == text) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("trace text: printed again it is\n",
                                          ToText(schedule.trace())));
}

absl::Status CheckMessageReplay(const Case& c, const Trace& trace,
                                const State& state) {
  absl::StatusOr<Trace> read = FromProto(ToProto(trace));
  KILN_RETURN_IF_ERROR(In("trace message", read.status()));
  absl::StatusOr<State> again = Replay(*read, c.start);
  KILN_RETURN_IF_ERROR(In("trace message", again.status()));
  return SameProgram("trace message", state, *again);
}

absl::Status CheckSnapshot(const Case& c, const Trace& trace,
                           const State& state) {
  const size_t n = trace.instructions.size(), middle = n / 2;
  const Decisions decisions = GetDecisions(trace);
  State at = c.start;
  KILN_RETURN_IF_ERROR(
      In("snapshot", Replay(trace, 0, middle, decisions, 0, &at)));
  const State snapshot = at;
  for (int i = 0; i < 2; ++i) {  // the first must not disturb the second
    State rest = snapshot;
    KILN_RETURN_IF_ERROR(
        In("snapshot", Replay(trace, middle, n, decisions, 0, &rest)));
    KILN_RETURN_IF_ERROR(SameProgram("snapshot", state, rest));
  }
  return absl::OkStatus();
}

absl::Status CheckEliminated(const Case& c, const Trace& trace,
                             const State& state) {
  absl::StatusOr<State> again = Replay(EliminateDeadCode(trace), c.start);
  KILN_RETURN_IF_ERROR(In("dead code", again.status()));
  return SameProgram("dead code", state, *again);
}

}  // namespace

absl::Status CompareOutputs(const std::vector<Tensor>& actual,
                            const std::vector<Tensor>& expected,
                            const Function& f) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!f.params[i].buffer) continue;
    const absl::Status status =
        CompareTensors(actual[i], expected[i], ToleranceFor(expected[i]));
    if (!status.ok()) {
      return absl::InternalError(absl::StrCat(f.params[i].buffer->name, " ",
                                              std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCompiled(const Case& c, const Trace& trace, LoopOrder order,
                           Checked* checked) {
  KILN_ASSIGN_OR_RETURN(const State state, Scheduled(c, trace));
  const Function& f = *state.functions[0];
  KILN_RETURN_IF_ERROR(In("verify", VerifyFunction(f)));
  *checked = Checked::kNotForCpu;
  if (NotForCpu(f.body) || HasCompoundExtent(f)) return absl::OkStatus();
  *checked = Checked::kCompiled;
  KILN_ASSIGN_OR_RETURN(const ArgumentLayout layout,
                        FollowLayouts(c.start, trace, c.inputs));
  std::vector<Tensor> args = ToNewLayout(layout, c.inputs);
  KILN_RETURN_IF_ERROR(In("compiled", RunCompiled(f, order, &args)));
  return In("compiled", Compare(c, layout, args));
}

absl::Status CheckDefault(const Case& c, uint64_t seed, LoopOrder order) {
  static auto* pool = new ThreadPool({.num_threads = 1});
  Module module;
  module.functions.push_back(*c.start.functions[0]);
  KILN_ASSIGN_OR_RETURN(
      const DefaultSchedule schedule,
      ScheduleByDefault(module, 0, Machine{.vectors = kAvx512Registers},
                        /*threads=*/2, pool, {.draws = 4, .seed = seed}));
  const std::string what =
      absl::StrCat("default schedule", schedule.trace.empty() ? "" : " of\n",
                   schedule.trace);
  KILN_RETURN_IF_ERROR(In(what.c_str(), VerifyFunction(schedule.scheduled)));
  std::vector<Tensor> args = c.inputs;
  KILN_RETURN_IF_ERROR(
      In(what.c_str(), RunCompiled(schedule.scheduled, order, &args)));
  return In(what.c_str(),
            CompareOutputs(args, c.expected, *c.start.functions[0]));
}

absl::Status CheckInterpreted(const Case& c, const Trace& trace, bool reverse) {
  KILN_ASSIGN_OR_RETURN(const State state, Scheduled(c, trace));
  KILN_ASSIGN_OR_RETURN(const ArgumentLayout layout,
                        FollowLayouts(c.start, trace, c.inputs));
  std::vector<Tensor> args = ToNewLayout(layout, c.inputs);
  InterpOptions options;
  options.reverse_parallel = reverse;
  // Copies move padding that nobody wrote, where the schedule says so.
  for (const Instruction& step : trace.instructions) {
    if (step.kind->name == "transform_layout" && *step.args[4].boolean()) {
      options.check_uninitialized = false;
    }
  }
  KILN_RETURN_IF_ERROR(In(
      "interpreted", InterpretWithScalars(*state.functions[0], args, options)));
  return In("interpreted", Compare(c, layout, args));
}

absl::Status CheckReplays(const Case& c, const Trace& trace) {
  KILN_ASSIGN_OR_RETURN(const State state, Scheduled(c, trace));
  KILN_RETURN_IF_ERROR(In("trace", Validate(trace)));
  KILN_RETURN_IF_ERROR(CheckTextReplay(c, trace, state));
  KILN_RETURN_IF_ERROR(CheckMessageReplay(c, trace, state));
  KILN_RETURN_IF_ERROR(CheckSnapshot(c, trace, state));
  return CheckEliminated(c, trace, state);
}

absl::Status CheckRoundTrips(const Case& c, const Trace& trace) {
  KILN_ASSIGN_OR_RETURN(const State state, Scheduled(c, trace));
  Module module;
  module.functions.push_back(*state.functions[0]);
  KILN_RETURN_IF_ERROR(SameModule(
      "module text", module, ParseModule("scheduled.py", PrintModule(module))));
  return SameModule("module message", module,
                    ParseModuleBytes(SerializeModule(module)));
}

}  // namespace kiln
