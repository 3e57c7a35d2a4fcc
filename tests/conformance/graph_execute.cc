// Four runs of each function: both modules by the interpreter and by the
// machine. One that cannot be run (an op without lowering, a packed function
// that nobody has, constants whose bytes the text leaves out, too many steps)
// takes no part; the others have to agree with each other.
#include "kiln/tests/conformance/graph_execute.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/tools/graph/arguments.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/support/tolerances.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/compare.h"

namespace kiln {
namespace {

constexpr int64_t kMostSteps = 2000000;

struct Machines {
  absl::StatusOr<vm::Executable> executable;
  absl::StatusOr<Module> inferred;
};

Machines Prepare(const Module& module) {
  Machines machines{absl::UnknownError(""), InferModule(module)};
  machines.executable = [&]() -> absl::StatusOr<vm::Executable> {
    KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
    KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
    return CompileModel(prepared, target, KeepSchedules());
  }();
  return machines;
}

// Arguments are not shared between runs: some programs write in place.
absl::StatusOr<vm::Value> Copy(const vm::Value& value) {
  KILN_ASSIGN_OR_RETURN(const graph::Value copy, ToGraphValue(value));
  return ToVmValue(copy);
}

absl::StatusOr<std::vector<vm::Value>> Copies(
    const std::vector<vm::Value>& values) {
  std::vector<vm::Value> copies;
  for (const vm::Value& value : values) {
    KILN_ASSIGN_OR_RETURN(vm::Value copy, Copy(value));
    copies.push_back(std::move(copy));
  }
  return copies;
}

absl::StatusOr<vm::Value> RunMachine(const vm::Executable& executable,
                                     const std::string& function,
                                     const std::vector<vm::Value>& args) {
  ThreadPool::Options options;
  options.num_threads = 1;
  ThreadPool pool(options);
  const KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine,
                        vm::Machine::Create(executable, {}, &host));
  KILN_ASSIGN_OR_RETURN(const std::vector<vm::Value> own, Copies(args));
  KILN_ASSIGN_OR_RETURN(const vm::Value result, machine->Call(function, own));
  return Copy(result);
}

absl::StatusOr<vm::Value> RunInterpreter(const Module& module,
                                         const std::string& function,
                                         const std::vector<vm::Value>& args) {
  std::vector<graph::Value> values;
  for (const vm::Value& arg : args) {
    KILN_ASSIGN_OR_RETURN(graph::Value value, ToGraphValue(arg));
    values.push_back(std::move(value));
  }
  graph::GraphInterpOptions options;
  options.tensor.max_steps = kMostSteps;
  const graph::PackedTable packed = ToPackedTable(vm::Builtins());
  options.packed = &packed;
  KILN_ASSIGN_OR_RETURN(
      const graph::Value result,
      graph::InterpretGraph(module, function, values, options));
  return ToVmValue(result);
}

// Where two results differ; "" where they do not.
std::string Difference(const vm::Value& a, const vm::Value& b,
                       double relative) {
  const auto* tuple = std::get_if<vm::Tuple>(&a);
  const auto* other = std::get_if<vm::Tuple>(&b);
  if (tuple && other && (*tuple)->fields.size() == (*other)->fields.size()) {
    for (size_t i = 0; i < (*tuple)->fields.size(); ++i) {
      const std::string field =
          Difference((*tuple)->fields[i], (*other)->fields[i], relative);
      if (!field.empty()) return absl::StrCat("field ", i, ": ", field);
    }
    return "";
  }
  const auto* array = std::get_if<NDArray>(&a);
  const auto* expected = std::get_if<NDArray>(&b);
  if (!array || !expected) {
    return vm::Describe(a) == vm::Describe(b)
               ? ""
               : absl::StrCat(vm::Describe(a), " and ", vm::Describe(b));
  }
  Tolerance tolerance =
      ToleranceFor(*expected, ErrorBound::kComponentwise, -1, -1);
  if (expected->dtype().is_float()) {
    tolerance.rtol = std::max(tolerance.rtol, relative);
    tolerance.atol = std::max(tolerance.atol, relative);
  }
  const absl::StatusOr<CompareReport> report =
      Compare(*array, *expected, tolerance);
  if (!report.ok()) return std::string(report.status().message());
  return report->ok() ? "" : report->ToString();
}

struct NamedRun {
  const char* name;
  absl::StatusOr<vm::Value> value;
};

// Compares runs with the first that gave something.
Execution Judge(const std::string& function, const std::vector<NamedRun>& runs,
                double relative) {
  Execution execution;
  const NamedRun* first = nullptr;
  int agreeing = 0;
  for (const NamedRun& run : runs) {
    if (!run.value.ok()) {
      absl::StrAppend(&execution.detail, run.name, ": ",
                      std::string(run.value.status().message()), "\n");
      continue;
    }
    if (!first) first = &run;
    const std::string difference =
        Difference(*run.value, *first->value, relative);
    if (!difference.empty()) {
      return {Execution::Outcome::kDifferent,
              absl::StrCat(function, ": ", run.name, " and ", first->name,
                           " differ: ", difference)};
    }
    ++agreeing;
  }
  if (agreeing >= 2) execution.outcome = Execution::Outcome::kSame;
  return execution;
}

bool SameParams(const graph::FunctionNode& a, const graph::FunctionNode& b) {
  if (a.params.size() != b.params.size()) return false;
  for (size_t i = 0; i < a.params.size(); ++i) {
    if (PrintStructInfo(a.params[i]->info) !=
        PrintStructInfo(b.params[i]->info)) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<vm::Value> OnMachine(const Machines& machines,
                                    const std::string& function,
                                    const std::vector<vm::Value>& args) {
  if (!machines.executable.ok()) return machines.executable.status();
  return RunMachine(*machines.executable, function, args);
}

absl::StatusOr<vm::Value> OnInterpreter(const Machines& machines,
                                        const std::string& function,
                                        const std::vector<vm::Value>& args) {
  if (!machines.inferred.ok()) return machines.inferred.status();
  return RunInterpreter(*machines.inferred, function, args);
}

Execution ExecuteFunction(const Machines& before, const Machines& after,
                          const std::string& function, uint64_t seed,
                          double relative) {
  const Machines& known = before.executable.ok() ? before : after;
  if (!known.executable.ok()) {
    return {Execution::Outcome::kIncomplete,
            std::string(known.executable.status().message())};
  }
  GraphInputs inputs;
  inputs.seed = seed;
  const absl::StatusOr<std::vector<vm::Value>> args = GraphArguments(
      *known.executable, *known.executable->Find(function), inputs);
  if (!args.ok()) {
    return {Execution::Outcome::kIncomplete,
            std::string(args.status().message())};
  }
  std::vector<NamedRun> runs;
  runs.push_back(
      {"interpreter before", OnInterpreter(before, function, *args)});
  runs.push_back({"interpreter after", OnInterpreter(after, function, *args)});
  // An index out of bounds is told by the interpreter, and must not be run.
  const auto told = [](const NamedRun& run) {
    return run.value.ok() || !absl::IsOutOfRange(run.value.status());
  };
  if (!std::all_of(runs.begin(), runs.end(), told)) {
    return Judge(function, runs, relative);
  }
  runs.push_back({"machine before", OnMachine(before, function, *args)});
  runs.push_back({"machine after", OnMachine(after, function, *args)});
  return Judge(function, runs, relative);
}

// Whether a function of `after` prepares the parameters of `f`, which then mean
// something else.
bool PreparesParams(const Module& before, const Module& after,
                    const graph::FunctionNode& f) {
  for (const std::string& name : {absl::StrCat(f.name, "_transform_params"),
                                  std::string("transform_params")}) {
    if (after.FindGraph(name) && !before.FindGraph(name)) return true;
  }
  return false;
}

}  // namespace

Execution ExecuteModules(const Module& before, const Module& after,
                         uint64_t seed, double relative) {
  const Machines first = Prepare(before), second = Prepare(after);
  std::optional<Execution> all;
  for (const graph::GraphFunction& f : before.graph_functions) {
    const graph::FunctionNode* other = after.FindGraph(f->name);
    if (f->is_private || !other || !SameParams(*f, *other)) continue;
    if (PreparesParams(before, after, *f)) continue;
    Execution one = ExecuteFunction(first, second, f->name, seed, relative);
    if (one.outcome == Execution::Outcome::kDifferent) return one;
    if (!all || one.outcome == Execution::Outcome::kIncomplete) {
      all = std::move(one);
    }
  }
  if (all) return *all;
  return {Execution::Outcome::kIncomplete,
          "no function takes the same arguments before and after"};
}

}  // namespace kiln
