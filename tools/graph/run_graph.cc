// Arguments first, then the machine, then what was asked for:
//
//   arguments → interpreter (--check) → machine → --output, --expect, --check →
//   --profile → --time
//
// The interpreter runs ahead, so that an index out of bounds is told by it and
// is no fault of the machine. What a function gives is looked at tensor by
// tensor: (y, (z,)) has result[0] and result[1][0].
#include "kiln/tools/graph/run_graph.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/tools/graph/arguments.h"
#include "kiln/tools/graph/measure_profile.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/tools/support/input.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/library/kernel_fault.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/machine/packed_library.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/ndarray/npy.h"
#include "kiln/vm/ndarray/npz.h"
#include "kiln/vm/profile/time_evaluator.h"

namespace kiln {
namespace {

struct Result {
  std::string name;
  NDArray array;
};

// The tensors in a value, named as "result", "result[1]".
void Flatten(const std::string& name, const vm::Value& value,
             std::vector<Result>* results) {
  if (const auto* array = std::get_if<NDArray>(&value)) {
    results->push_back({name, *array});
  }
  const auto* tuple = std::get_if<vm::Tuple>(&value);
  if (!tuple) return;
  for (size_t i = 0; i < (*tuple)->fields.size(); ++i) {
    Flatten(absl::StrCat(name, "[", i, "]"), (*tuple)->fields[i], results);
  }
}

std::vector<Result> ResultsOf(const vm::Value& value) {
  std::vector<Result> results;
  Flatten("result", value, &results);
  return results;
}

absl::StatusOr<const vm::Function*> ChooseFunction(
    const vm::Executable& executable, const std::string& name) {
  std::vector<const vm::Function*> open;
  std::vector<std::string> names;
  for (const vm::Function& f : executable.functions) {
    if (f.is_private) continue;
    open.push_back(&f);
    names.push_back(f.name);
    if (f.name == (name.empty() ? "main" : name)) return &f;
  }
  if (name.empty() && open.size() == 1) return open[0];
  return absl::InvalidArgumentError(absl::StrCat(
      name.empty() ? "--func has to say which function"
                   : absl::StrCat("no function is called ", name),
      "; there are ", names.empty() ? "none" : absl::StrJoin(names, ", ")));
}

absl::StatusOr<bool> Agrees(const Result& got, const std::string& against,
                            const NDArray& expected,
                            const GraphRunRequest& request) {
  const std::string what = absl::StrCat(got.name, " against ", against);
  const absl::StatusOr<CompareReport> report = Compare(
      got.array, expected,
      ToleranceFor(expected, request.bound, request.rtol, request.atol));
  if (!report.ok()) {
    return absl::Status(
        report.status().code(),
        absl::StrCat(what, ": ", std::string(report.status().message())));
  }
  std::printf("%s: %s\n", what.c_str(), report->ToString().c_str());
  return report->ok();
}

absl::Status CheckCount(const char* flag, size_t given,
                        const std::vector<Result>& results) {
  if (given <= results.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(given, " ", flag, " are given, but the function gives ",
                   results.size(), " tensors"));
}

absl::StatusOr<bool> MeetExpectations(const std::vector<Result>& results,
                                      const GraphRunRequest& request) {
  KILN_RETURN_IF_ERROR(
      CheckCount("--expect", request.expectations.size(), results));
  bool all = true;
  for (size_t i = 0; i < request.expectations.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const NDArray expected,
                          ReadTensor(request.expectations[i]));
    KILN_ASSIGN_OR_RETURN(
        const bool agrees,
        Agrees(results[i], request.expectations[i], expected, request));
    all = all && agrees;
  }
  return all;
}

absl::Status WriteOutputs(const std::vector<Result>& results,
                          const GraphRunRequest& request) {
  KILN_RETURN_IF_ERROR(CheckCount("--output", request.outputs.size(), results));
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const std::string& output = request.outputs[i];
    if (output.empty() || output[0] != '@') {
      return absl::InvalidArgumentError(absl::StrCat(
          "--output ", output, ": a file is written as @FILE.npy"));
    }
    KILN_RETURN_IF_ERROR(
        WriteNpy(results[i].array, CallerPath(output.substr(1))));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MeetInterpreter(const std::vector<Result>& results,
                                     const vm::Value& expected,
                                     const GraphRunRequest& request) {
  const std::vector<Result> wanted = ResultsOf(expected);
  if (wanted.size() != results.size()) {
    return absl::InternalError(
        absl::StrCat("the interpreter gives ", wanted.size(),
                     " tensors and the machine ", results.size()));
  }
  bool all = true;
  for (size_t i = 0; i < results.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(
        const bool agrees,
        Agrees(results[i], "the interpreter", wanted[i].array, request));
    all = all && agrees;
  }
  return all;
}

absl::Status PrintTime(vm::Machine& machine, const std::string& function,
                       const std::vector<vm::Value>& args) {
  TimeOptions options;
  options.total_us = 200000;
  KILN_ASSIGN_OR_RETURN(
      const TimeResult time,
      MeasureTime([&] { return machine.Call(function, args).status(); },
                  options));
  std::printf("%s: %.3f us (median %.3f us, spread %.1f %%, %d samples)\n",
              function.c_str(), time.min_us, time.median_us, 100 * time.spread,
              time.samples);
  return absl::OkStatus();
}

void PrintResults(const std::vector<Result>& results,
                  const GraphRunRequest& request) {
  const bool is_looked_at =
      request.interpreter || !request.expectations.empty() ||
      !request.outputs.empty() || request.time || !request.profile.empty();
  if (is_looked_at) return;
  for (const Result& result : results) {
    std::printf("%s: %s\n", result.name.c_str(),
                result.array.TypeString().c_str());
  }
}

// What is built in, and what libraries bring; the first one that has a name.
absl::StatusOr<vm::FunctionTable> Functions(
    const std::vector<std::string>& libraries) {
  vm::FunctionTable functions = vm::Builtins();
  for (const std::string& path : libraries) {
    KILN_ASSIGN_OR_RETURN(const vm::FunctionTable opened,
                          vm::OpenPackedLibrary(CallerPath(path)));
    functions.AddAll(opened);
  }
  return functions;
}

absl::StatusOr<std::unique_ptr<vm::Machine>> MakeMachine(
    const std::shared_ptr<const vm::LoadedExecutable>& loaded,
    const vm::FunctionTable& functions, const KernelHost* host) {
  auto machine = vm::Machine::Create(loaded, functions, host);
  if (!absl::IsNotFound(machine.status())) return machine;
  return absl::NotFoundError(
      absl::StrCat(machine.status().message(),
                   "; --library FUNCTIONS.so brings those of a library"));
}

}  // namespace

absl::StatusOr<int> RunGraph(
    const std::shared_ptr<const vm::LoadedExecutable>& loaded,
    const GraphRunRequest& request) {
  const vm::Executable& executable = loaded->executable();
  KILN_ASSIGN_OR_RETURN(const vm::Function* f,
                        ChooseFunction(executable, request.func));
  const std::string function = f->name;
  GraphInputs inputs;
  inputs.by_position = request.inputs;
  inputs.seed = request.seed;
  if (!request.params.empty()) {
    KILN_ASSIGN_OR_RETURN(inputs.by_name, ReadNpz(CallerPath(request.params)));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<vm::Value> args,
                        GraphArguments(executable, *f, inputs));
  KILN_ASSIGN_OR_RETURN(const std::optional<ProfileForm> profile,
                        ParseProfileForm(request.profile));
  KILN_ASSIGN_OR_RETURN(const vm::FunctionTable functions,
                        Functions(request.libraries));
  ThreadPool pool;
  const KernelHost host(&pool, request.threads);
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Machine> machine,
                        MakeMachine(loaded, functions, &host));
  vm::Value expected;
  if (request.interpreter) {
    KILN_ASSIGN_OR_RETURN(expected,
                          request.interpreter(function, args, functions));
  }
  const KernelFaultGuard faults_are_errors;
  KILN_ASSIGN_OR_RETURN(const vm::Value value, machine->Call(function, args));
  const std::vector<Result> results = ResultsOf(value);
  KILN_RETURN_IF_ERROR(WriteOutputs(results, request));
  KILN_ASSIGN_OR_RETURN(bool ok, MeetExpectations(results, request));
  if (request.interpreter) {
    KILN_ASSIGN_OR_RETURN(const bool agrees,
                          MeetInterpreter(results, expected, request));
    ok = ok && agrees;
  }
  PrintResults(results, request);
  if (profile) {
    KILN_ASSIGN_OR_RETURN(
        const Profile measured,
        MeasureProfile(loaded, functions, host, function, args));
    std::printf("%s", ProfileText(measured, *profile).c_str());
  }
  if (request.time) KILN_RETURN_IF_ERROR(PrintTime(*machine, function, args));
  return ok ? kExitOk : kExitMismatch;
}

}  // namespace kiln
