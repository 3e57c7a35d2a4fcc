// Each check gives ok, or an error that begins with the name of the
// check, by which a shorter program is known to fail in the same way:
//
//   dce: field 1: 2 of 6 elements differ; ...
//   machine, not fused: main: v3: ...
#include "kiln/tests/graph_fuzz/check.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/graph/build_executable.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tests/graph_fuzz/shape_calls.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/support/tolerances.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/compare.h"

namespace kiln {
namespace {

using Args = std::vector<vm::Value>;

absl::Status Failed(const std::string& check, const std::string& what) {
  return absl::InternalError(absl::StrCat(check, ": ", what));
}

absl::Status Failed(const std::string& check, const absl::Status& status) {
  return Failed(check, std::string(status.message()));
}

// --- Round trips.

absl::Status CheckSame(const std::string& check,
                       const absl::StatusOr<Module>& got,
                       const Module& wanted) {
  if (!got.ok()) return Failed(check, got.status());
  if (StructurallyEqual(*got, wanted)) return absl::OkStatus();
  return Failed(check, absl::StrCat("reads back as\n", PrintModule(*got)));
}

enum class Struct { kAsWritten, kInferred };

// The result of an `if` has no annotation in the text, so that a module whose
// struct info is inferred reads back as one without.
absl::StatusOr<Module> ReadAgain(const std::string& text, Struct info) {
  KILN_ASSIGN_OR_RETURN(Module module, ParseModule("again.py", text));
  if (info == Struct::kAsWritten) return module;
  return InferModule(module);
}

absl::Status CheckRoundTrips(const std::string& stage, const Module& module,
                             Struct info) {
  for (const auto spelling :
       {PrintOptions::Spelling::kClassic, PrintOptions::Spelling::kNewest}) {
    PrintOptions options;
    options.spelling = spelling;
    options.max_constant_elements = int64_t{1} << 40;
    const std::string text = PrintModule(module, options);
    KILN_RETURN_IF_ERROR(
        CheckSame(stage + " text", ReadAgain(text, info), module));
  }
  return CheckSame(stage + " message",
                   ParseModuleBytes(SerializeModule(module)), module);
}

// --- Values.

// How exact a result of the type is after a few roundings.
double RelativeError(DType dtype) {
  if (dtype.bits() == 16) return 5e-2;
  return dtype.bits() == 32 ? 1e-3 : 1e-3;
}

std::string Difference(const vm::Value& got, const vm::Value& wanted) {
  const auto* tuple = std::get_if<vm::Tuple>(&got);
  const auto* other = std::get_if<vm::Tuple>(&wanted);
  if (tuple && other && (*tuple)->fields.size() == (*other)->fields.size()) {
    for (size_t i = 0; i < (*tuple)->fields.size(); ++i) {
      const std::string field =
          Difference((*tuple)->fields[i], (*other)->fields[i]);
      if (!field.empty()) return absl::StrCat("field ", i, ": ", field);
    }
    return "";
  }
  const auto* array = std::get_if<NDArray>(&got);
  const auto* expected = std::get_if<NDArray>(&wanted);
  if (!array || !expected) {
    return absl::StrCat(vm::Describe(got), " for ", vm::Describe(wanted));
  }
  Tolerance tolerance =
      ToleranceFor(*expected, ErrorBound::kComponentwise, -1, -1);
  if (expected->dtype().is_float()) {
    const double error = RelativeError(expected->dtype());
    tolerance.rtol = std::max(tolerance.rtol, error);
    tolerance.atol = std::max(tolerance.atol, error);
  }
  const absl::StatusOr<CompareReport> report =
      Compare(*array, *expected, tolerance);
  if (!report.ok()) return std::string(report.status().message());
  return report->ok() ? "" : report->ToString();
}

absl::Status CheckValue(const std::string& check,
                        const absl::StatusOr<vm::Value>& got,
                        const vm::Value& wanted) {
  if (!got.ok()) return Failed(check, got.status());
  const std::string difference = Difference(*got, wanted);
  return difference.empty() ? absl::OkStatus() : Failed(check, difference);
}

absl::StatusOr<vm::Value> Interpreted(const Module& module, const Args& args) {
  std::vector<graph::Value> values;
  for (const vm::Value& arg : args) {
    KILN_ASSIGN_OR_RETURN(graph::Value value, ToGraphValue(arg));
    values.push_back(std::move(value));
  }
  static const auto& packed =
      *new graph::PackedTable(ToPackedTable(vm::Builtins()));
  graph::GraphInterpOptions options;
  options.packed = &packed;
  KILN_ASSIGN_OR_RETURN(const graph::Value result,
                        graph::InterpretGraph(module, "main", values, options));
  return ToVmValue(result);
}

absl::StatusOr<vm::Value> OnMachine(const vm::Executable& executable,
                                    const Args& args) {
  ThreadPool::Options options;
  options.num_threads = 1;
  ThreadPool pool(options);
  const KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine,
                        vm::Machine::Create(executable, {}, &host));
  return machine->Call("main", args);
}

// --- Passes.

// Those that change what main takes, gives or is rounded to, that need options,
// or whose result is for the machine alone.
const char* const kOtherPasses[] = {"gradient",
                                    "lift_shared_transform_params",
                                    "lift_transform_params",
                                    "lower_call_tir",
                                    "mixed_precision",
                                    "mixed_precision_bfloat16",
                                    "plan_memory",
                                    "rewrite_by_rules",
                                    "round_late"};

std::vector<std::string> KeepingPasses() {
  std::vector<std::string> passes = GraphPassNames();
  std::erase_if(passes, [](const std::string& name) {
    return std::find(std::begin(kOtherPasses), std::end(kOtherPasses), name) !=
           std::end(kOtherPasses);
  });
  return passes;
}

absl::Status CheckPasses(const Module& module,
                         const std::vector<std::string>& passes,
                         const Args& args, const vm::Value& wanted) {
  const std::string names = absl::StrJoin(passes, ",");
  absl::StatusOr<Module> after = RunGraphPasses(module, passes);
  if (!after.ok()) return Failed(names, after.status());
  after = InferModule(*after);
  if (!after.ok()) return Failed(names + " infer", after.status());
  KILN_RETURN_IF_ERROR(CheckRoundTrips(names, *after, Struct::kInferred));
  absl::Status status = CheckValue(names, Interpreted(*after, args), wanted);
  if (status.ok()) return status;
  return Failed(absl::StrCat(std::string(status.message()), "\n"),
                PrintModule(*after));
}

absl::Status CheckRandomPasses(const Module& module, uint64_t seed,
                               const GraphCheckOptions& options,
                               const Args& args, const vm::Value& wanted) {
  static const auto& all = *new std::vector<std::string>(KeepingPasses());
  Random random(seed, 11);
  std::vector<std::string> sequence;
  for (int i = 0; i < options.passes; ++i) {
    const std::string& pass = all[random.Below(all.size())];
    KILN_RETURN_IF_ERROR(CheckPasses(module, {pass}, args, wanted));
  }
  for (int i = 0; i < options.sequence; ++i) {
    sequence.push_back(all[random.Below(all.size())]);
  }
  if (sequence.empty()) return absl::OkStatus();
  return CheckPasses(module, sequence, args, wanted);
}

// --- The virtual machine.

using Compile =
    absl::StatusOr<CompiledKernel> (KernelCache::*)(const Function& f);

absl::Status CheckMachine(const std::string& check,
                          const absl::StatusOr<Module>& prepared,
                          const Args& args, const vm::Value& wanted,
                          KernelCache& kernels,
                          Compile compile = &KernelCache::Compile) {
  if (!prepared.ok()) return Failed(check, prepared.status());
  const absl::StatusOr<vm::Executable> executable =
      BuildExecutable(*prepared, kernels.target().ToString(),
                      [&](const Function& f) { return (kernels.*compile)(f); });
  if (!executable.ok()) return Failed(check, executable.status());
  return CheckValue(check, OnMachine(*executable, args), wanted);
}

absl::Status CheckMachines(const Module& module, const Args& args,
                           const vm::Value& wanted, bool scheduled,
                           KernelCache& kernels) {
  absl::StatusOr<Module> prepared = PrepareModel(module);
  KILN_RETURN_IF_ERROR(
      CheckMachine("machine", prepared, args, wanted, kernels));
  if (scheduled) {
    KILN_RETURN_IF_ERROR(CheckMachine("machine, scheduled", prepared, args,
                                      wanted, kernels,
                                      &KernelCache::CompileScheduled));
  }
  KILN_RETURN_IF_ERROR(CheckMachine(
      "machine, not fused", PrepareModel(module, {.fusion = Fusion::kNone}),
      args, wanted, kernels));
  prepared = RunGraphPasses(*prepared, {"lower_call_tir", "plan_memory"});
  return CheckMachine("machine, memory planned", prepared, args, wanted,
                      kernels);
}

}  // namespace

KernelCache::KernelCache() : target_(*ParseTarget("llvm")) {}

absl::StatusOr<CompiledKernel> KernelCache::Compile(const Function& f) {
  std::string form = CanonicalForm(f);
  const auto known = kernels_.find(form);
  if (known != kernels_.end()) return known->second;
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(f, target_));
  return kernels_.emplace(std::move(form), std::move(kernel)).first->second;
}

absl::StatusOr<CompiledKernel> KernelCache::CompileScheduled(
    const Function& f) {
  std::string form = CanonicalForm(f);
  const auto known = scheduled_.find(form);
  if (known != scheduled_.end()) return known->second;
  Module module;
  module.functions.push_back(f);
  KILN_ASSIGN_OR_RETURN(const DefaultSchedule best,
                        ScheduleByDefault(module, 0, target_.machine,
                                          /*threads=*/2, &pool_, {.draws = 8}));
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(best.scheduled, target_));
  return scheduled_.emplace(std::move(form), std::move(kernel)).first->second;
}

absl::StatusOr<Args> RandomGraphArguments(const Module& module, uint64_t seed) {
  Random random(seed, 3);
  std::map<std::string, int64_t> dims;
  Args args;
  for (const graph::Var& param : module.FindGraph("main")->params) {
    const auto& tensor = *param->info.As<graph::TensorInfo>();
    std::vector<int64_t> shape;
    for (const Expr& extent : *tensor.extents()) {
      const auto* var = extent.As<VarNode>();
      if (var && !dims.count(var->name)) {
        dims[var->name] = random.Between(1, kMostExtent);
      }
      shape.push_back(var ? dims[var->name] : *AsInt(extent));
    }
    const DType dtype = tensor.dtype;
    ::kiln::Tensor value(dtype, std::move(shape));
    for (int64_t i = 0; i < value.size(); ++i) {
      const double element =
          dtype.is_float()  ? 0.25 * static_cast<double>(random.Between(-8, 8))
          : dtype.is_bool() ? static_cast<double>(random.Below(2))
          : dtype.is_uint() ? static_cast<double>(random.Below(3))
                            : static_cast<double>(random.Between(-2, 2));
      value.Set(i, element);
    }
    KILN_ASSIGN_OR_RETURN(vm::Value arg,
                          ToVmValue(graph::TensorOf(std::move(value))));
    args.push_back(std::move(arg));
  }
  return args;
}

absl::Status CheckGraphProgram(const std::string& text, uint64_t seed,
                               const GraphCheckOptions& options,
                               KernelCache& kernels) {
  const absl::StatusOr<Module> read = ParseModule("random.py", text);
  if (!read.ok()) return Failed("read", read.status());
  KILN_RETURN_IF_ERROR(
      CheckRoundTrips("as written", *read, Struct::kAsWritten));
  const absl::StatusOr<Module> module = InferModule(*read);
  if (!module.ok()) return Failed("infer", module.status());
  KILN_RETURN_IF_ERROR(CheckRoundTrips("inferred", *module, Struct::kInferred));
  KILN_ASSIGN_OR_RETURN(const Args args, RandomGraphArguments(*module, seed));
  const absl::StatusOr<vm::Value> wanted = Interpreted(*module, args);
  // Extents that do not meet for these arguments.
  if (absl::IsInvalidArgument(wanted.status())) return absl::OkStatus();
  if (!wanted.ok()) return Failed("interpreter", wanted.status());
  KILN_RETURN_IF_ERROR(
      CheckRandomPasses(*module, seed, options, args, *wanted));
  if (!options.machine) return absl::OkStatus();
  const bool scheduled = options.scheduled > 0 && seed % options.scheduled == 0;
  return CheckMachines(*module, args, *wanted, scheduled, kernels);
}

}  // namespace kiln
