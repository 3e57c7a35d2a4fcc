// From a module to an executable, in two halves:
//
//   PrepareModel   graph passes, by name; ops become tensor functions, which
//                  tune takes from here
//   CompileModel   a schedule for each, weights laid out for it, memory
//                  planned, kernels and bytecode
#include "kiln/tools/support/model.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/graph/build_executable.h"
#include "kiln/codegen/host/flop.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/required_features.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/transform/graph/annotate_patterns.h"
#include "kiln/ir/transform/graph/constants/constant_params.h"
#include "kiln/ir/transform/graph/constants/prepare_constants.h"
#include "kiln/ir/transform/graph/in_place.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/plan_memory.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/execute.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

Scheduler KeepSchedules() {
  return [](const Module&, const Function& f) { return f; };
}

namespace {

// Known once it is asked for: where the constants of the machine cannot be
// stored, they are measured, which takes a second or two.
class MachineOnDemand {
 public:
  explicit MachineOnDemand(Target target) : target_(std::move(target)) {}
  const Machine& Get() {
    std::call_once(once_, [&] { machine_ = MeasuredMachine(target_); });
    return machine_;
  }

 private:
  const Target target_;
  std::once_flag once_;
  Machine machine_;
};

}  // namespace

Scheduler DefaultSchedules(const Target& target) {
  const auto machine = std::make_shared<MachineOnDemand>(target);
  return [target, machine](const Module& module,
                           const Function& f) -> absl::StatusOr<Function> {
    absl::StatusOr<DefaultSchedule> best =
        DefaultScheduleFor(module, f.name, target, machine->Get());
    if (absl::IsNotFound(best.status())) return f;
    if (!best.ok()) return best.status();
    return std::move(best->scheduled);
  };
}

namespace {

// "strict" is not handed on to what ops become, so that it would not hold.
absl::Status CheckNumerics(const graph::FunctionNode& f) {
  const auto found = f.attrs.find(kNumerics);
  if (found == f.attrs.end()) return absl::OkStatus();
  const std::string* mode = found->second.string();
  if (mode && (*mode == kTermwise || *mode == kNormwise)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      f.name, ": ", kNumerics, " of a graph function is \"", kTermwise,
      "\" or \"", kNormwise, "\"",
      mode && *mode == kStrict ? "; tensor functions may be strict" : ""));
}

// Graph functions that say nothing of errors allow normwise ones.
Module WithNormwiseErrors(Module module) {
  for (graph::GraphFunction& f : module.graph_functions) {
    graph::FunctionFields fields = f->fields();
    fields.attrs.emplace(kNumerics, Attr(std::string(kNormwise)));
    f = graph::GraphFunction(std::move(fields));
  }
  return module;
}

}  // namespace

absl::StatusOr<Module> PrepareModel(const Module& module,
                                    const PrepareOptions& options) {
  for (const graph::GraphFunction& f : module.graph_functions) {
    KILN_RETURN_IF_ERROR(CheckNumerics(*f));
  }
  std::vector<std::string> passes = {"inline_prim_values",
                                     "lambda_lift",
                                     "name_extents",
                                     "fold_constants",
                                     "fold_fixed_batchnorm_into_conv2d",
                                     "convert_to_dataflow",
                                     "channels_last",
                                     "cse",
                                     "fold_constants",
                                     "combine_attention",
                                     "expand_attention",
                                     "compose_permute_dims"};
  if (options.precision != DType::Float(32)) {
    const bool is_half = options.precision == DType::Float(16);
    passes.push_back(is_half ? "mixed_precision" : "mixed_precision_bfloat16");
    if (options.fusion == Fusion::kByPattern) {
      passes.insert(passes.end(), {"round_late", "dce"});
    }
    passes.push_back("fold_constants");
  }
  passes.insert(passes.end(), {"winograd", "legalize"});
  if (options.fusion == Fusion::kByPattern) {
    passes.insert(passes.end(), {"convert_to_dataflow", "canonicalize_bindings",
                                 "annotate_patterns", "fuse_ops", "fuse_tir"});
  }
  passes.insert(passes.end(), {"view_reshapes", "dce"});
  KILN_ASSIGN_OR_RETURN(
      Module prepared,
      RunGraphPasses(
          options.allows_normwise ? WithNormwiseErrors(module) : module,
          passes));
  // Records of equal functions are shared with models that are not fused.
  KILN_ASSIGN_OR_RETURN(
      prepared, MarkConstantParams(WithoutPatterns(std::move(prepared))));
  return MarkInPlace(std::move(prepared));
}

namespace {

// A share of what a second-level cache holds.
constexpr int64_t kLeastPlannedBytes = 64 << 10;

absl::StatusOr<Module> Scheduled(const Module& module,
                                 const Scheduler& schedule) {
  const std::set<std::string> called = CalledFunctions(module);
  Module out = module;
  for (Function& f : out.functions) {
    if (called.count(f.name) == 0) continue;
    absl::StatusOr<Function> scheduled = schedule(module, f);
    if (!scheduled.ok()) return InFunction(f.name, scheduled.status());
    f = *std::move(scheduled);
  }
  return out;
}

// Compiled code where the target's runs here, else the interpreter.
TensorFunctionRunner RunnerFor(const Target& target) {
  if (!CheckRunsHere(target).ok()) {
    return [](const Function& f, std::vector<Tensor>& args) {
      return Interpret(f, args);
    };
  }
  return [target](const Function& f, std::vector<Tensor>& args) {
    return RunCompiled(f, args, target);
  };
}

// Of the function as it was before it was scheduled. What is laid out ahead
// takes some arguments away, but never a scalar.
std::optional<vm::KernelFlop> FlopOf(const Module& module,
                                     const KernelSignature& signature) {
  for (const Function& f : module.functions) {
    if (f.name == signature.name) return kiln::FlopOf(f);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<vm::Executable> CompileModel(const Module& module,
                                            const Target& target,
                                            const Scheduler& schedule) {
  KILN_ASSIGN_OR_RETURN(Module ready, Scheduled(module, schedule));
  KILN_ASSIGN_OR_RETURN(ready, PrepareConstants(ready, RunnerFor(target)));
  KILN_ASSIGN_OR_RETURN(ready,
                        RunGraphPasses(ready, {"lower_call_tir", "infer"}));
  KILN_ASSIGN_OR_RETURN(ready,
                        PlanMemory(ready, {.least_bytes = kLeastPlannedBytes,
                                           .joins_storages = true}));
  const auto compile = [&](const Function& f) {
    return CompileKernel(f, target);
  };
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        BuildExecutable(ready, target.ToString(), compile));
  executable.cpu_features = RequiredFeatures(target);
  for (vm::Kernel& kernel : executable.kernels) {
    kernel.flop = FlopOf(module, kernel.signature);
  }
  return executable;
}

}  // namespace kiln
