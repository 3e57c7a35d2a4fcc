// bazel run //tools:compile -- model.py -o model.kiln
//
// From a module with graph functions to an executable: ops become tensor
// functions, tensor functions kernels with the best schedules that `tune` found
// (--work-dir) or default ones, graph functions bytecode. `run` runs what comes
// out, with no compiler, and so do programs in C (vm/capi/kiln.h).
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/export/shared_model.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/tools/graph/cpp_header.h"
#include "kiln/tools/graph/tensor_functions.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/support/prepare_flags.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/tuning/put_back.h"
#include "kiln/tools/tuning/tune_model.h"
#include "kiln/tools/tuning/view.h"
#include "kiln/vm/executable/file.h"

ABSL_FLAG(std::string, output, "", "The executable to write; also -o.");
ABSL_FLAG(std::string, schedule, "default",
          "default: the schedules that Kiln takes for the best without "
          "measuring; none: functions as they are written.");
ABSL_FLAG(std::string, work_dir, "",
          "What tune left: functions get the schedules of their best records "
          "there; those without a record are scheduled as --schedule says.");
ABSL_FLAG(double, minutes, 0,
          "Tunes for so long first, and goes on where an earlier run left off; "
          "records are kept in --work-dir, by default kiln_work.");
ABSL_FLAG(std::string, target, "llvm", "What to generate code for.");
ABSL_FLAG(std::string, func, "",
          "The function that --bind-params and --bind are about; by default "
          "main, or the only one.");
ABSL_FLAG(std::string, symbol, "",
          "A second name of the model in a shared object, for programs that "
          "are linked to several; a name in C.");
ABSL_FLAG(std::string, header, "",
          "A C++ header to write, with a typed function for each of the "
          "model's, for programs that are linked to a shared object with a "
          "--symbol.");
ABSL_FLAG(bool, tensor_functions, false,
          "Tensor functions that are not private can be called as well; where "
          "there are no graph functions they can in any case.");
ABSL_FLAG(bool, verbose, false, "Prints the bytecode.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Compiles the graph functions of a module:\n"
    "  compile model.py -o model.kiln [--work-dir DIR] [--bind n=16]\n"
    "  compile model.py -o model.so --minutes 5\n"
    "  compile model.py -o model.so --bind-params weights.npz   # one shared "
    "object, for programs in "
    "C (vm/capi/kiln.h) as well\n"
    "The module is TVMScript or a serialized one. run model.kiln runs it.\n"
    "Exit status: 0; 1 for an error; 130 after Ctrl-C and 143 after SIGTERM "
    "while it tunes, with a model of what was found until then.";

std::vector<std::string> modules;

absl::StatusOr<Scheduler> ChosenScheduler(const Target& target) {
  const std::string name = absl::GetFlag(FLAGS_schedule);
  if (name == "default") return DefaultSchedules(target);
  if (name == "none") return KeepSchedules();
  return absl::InvalidArgumentError(absl::StrCat(
      "--schedule ", name, " is unknown; there are default and none"));
}

std::string Names(const std::map<std::string, std::string>& functions) {
  return absl::StrJoin(functions, ", ", [](std::string* out, const auto& f) {
    out->append(f.first);
  });
}

// What was found of the model's functions, and of which nothing.
void PrintPutBack(const TunedModule& best) {
  if (best.tuned.empty() && best.why.empty()) return;
  std::printf("%zu of %zu functions are tuned, with schedules from %s\n",
              best.tuned.size(), best.tuned.size() + best.why.size(),
              absl::GetFlag(FLAGS_work_dir).c_str());
  if (best.why.empty()) return;
  std::printf("without a record, scheduled by %s: %s\n",
              absl::GetFlag(FLAGS_schedule).c_str(), Names(best.why).c_str());
  if (!best.tuned.empty() && !absl::GetFlag(FLAGS_verbose)) return;
  for (const auto& [name, why] : best.why) std::printf("%s\n", why.c_str());
}

// Null where there is no work directory, or tuning ended before its first
// trial.
absl::StatusOr<std::unique_ptr<Database>> Records() {
  const std::string work_dir = absl::GetFlag(FLAGS_work_dir);
  if (work_dir.empty()) return std::unique_ptr<Database>();
  absl::StatusOr<std::unique_ptr<Database>> records =
      OpenTuned(CallerPath(work_dir));
  if (absl::IsNotFound(records.status()) && absl::GetFlag(FLAGS_minutes) > 0) {
    return std::unique_ptr<Database>();
  }
  return records;
}

// Several sizes of a dimension are where its functions are timed.
Bindings ModelBindings() {
  Bindings bindings = BindingsOfFlags();
  bindings.function = absl::GetFlag(FLAGS_func);
  bindings.samples = absl::GetFlag(FLAGS_minutes) > 0 ||
                     !absl::GetFlag(FLAGS_work_dir).empty();
  return bindings;
}

// As long as --minutes says.
absl::Status Tune(const Module& prepared, const Target& target) {
  const double minutes = absl::GetFlag(FLAGS_minutes);
  if (!(minutes >= 0)) {
    return absl::InvalidArgumentError("--minutes has to be a number from 0 on");
  }
  if (minutes == 0) return absl::OkStatus();
  if (absl::GetFlag(FLAGS_work_dir).empty()) {
    absl::SetFlag(&FLAGS_work_dir, "kiln_work");
  }
  FinishOnInterrupt("compile",
                    "writes the model with what was found until now");
  const std::unique_ptr<TuneView> view = TextView(isatty(STDOUT_FILENO));
  TuneModelRequest request = {
      .target = target,
      .seconds = minutes * 60,
      .work_dir = CallerPath(absl::GetFlag(FLAGS_work_dir)),
      .stop = Interrupted};
  KILN_ASSIGN_OR_RETURN(request.samples,
                        SampledSizes(prepared, ModelBindings()));
  if (!request.samples.empty()) {
    KILN_ASSIGN_OR_RETURN(request.sampled,
                          BoundFunction(prepared, ModelBindings()));
  }
  return TuneModel(prepared, request, view.get());
}

// What graph functions call, put back as it was tuned; then the tensor
// functions of `module` that can be called themselves.
absl::StatusOr<vm::Executable> CompileTuned(const Module& module,
                                            const Target& target,
                                            const Scheduler& schedule) {
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareByFlags(module));
  KILN_RETURN_IF_ERROR(Tune(prepared, target));
  std::unique_ptr<Database> records;
  KILN_ASSIGN_OR_RETURN(records, Records());
  TunedModule best{prepared, {}, {}};
  if (records) {
    KILN_ASSIGN_OR_RETURN(best, PutBackBest(prepared, *records, target));
    PrintPutBack(best);
  }
  KILN_ASSIGN_OR_RETURN(
      vm::Executable executable,
      CompileModel(best.module, target, KeepTuned(best.tuned, schedule)));
  if (absl::GetFlag(FLAGS_tensor_functions) || module.graph_functions.empty()) {
    KILN_RETURN_IF_ERROR(AddTensorFunctions(
        module, target,
        records ? ScheduleFromRecords(records.get(), target, schedule)
                : schedule,
        &executable));
  }
  return executable;
}

// The module that is named, with its weights.
absl::StatusOr<Module> LoadModel() {
  KILN_ASSIGN_OR_RETURN(Module module, LoadModuleFile(modules[0]));
  return Bound(std::move(module), ModelBindings());
}

absl::Status Write(const vm::Executable& executable,
                   const std::string& output) {
  const std::string symbol = absl::GetFlag(FLAGS_symbol);
  if (absl::EndsWith(output, ".so")) {
    return WriteSharedModel(executable, CallerPath(output), {symbol});
  }
  if (symbol.empty())
    return vm::WriteExecutable(executable, CallerPath(output));
  return absl::InvalidArgumentError(
      "--symbol is for shared objects: -o model.so");
}

// The header's namespace is its own name.
absl::Status WriteHeader(const vm::Executable& executable) {
  const std::string header = absl::GetFlag(FLAGS_header);
  if (header.empty()) return absl::OkStatus();
  const std::string name = std::filesystem::path(header).stem().string();
  KILN_ASSIGN_OR_RETURN(
      const std::string text,
      CppHeader(executable, name, absl::GetFlag(FLAGS_symbol)));
  return WriteFileAtomically(CallerPath(header), text);
}

absl::StatusOr<int> Compile() {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("one module is compiled at a time, not ", modules.size(),
                     ": compile model.py -o model.kiln"));
  }
  if (output.empty()) {
    return absl::InvalidArgumentError(
        "-o has to say what to write: compile model.py -o model.kiln");
  }
  KILN_ASSIGN_OR_RETURN(const Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_ASSIGN_OR_RETURN(const Scheduler schedule, ChosenScheduler(target));
  KILN_ASSIGN_OR_RETURN(const Module module, LoadModel());
  KILN_ASSIGN_OR_RETURN(const vm::Executable executable,
                        CompileTuned(module, target, schedule));
  if (absl::GetFlag(FLAGS_verbose)) {
    std::printf("%s", vm::ToString(executable).c_str());
  }
  KILN_RETURN_IF_ERROR(WriteHeader(executable));
  KILN_RETURN_IF_ERROR(Write(executable, output));
  std::printf("%s: %zu functions, %zu kernels\n", output.c_str(),
              executable.functions.size(), executable.kernels.size());
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  const std::vector<std::string> outputs =
      kiln::TakeRepeatedFlag(&argc, argv, "o");
  if (!outputs.empty()) absl::SetFlag(&FLAGS_output, outputs.back());
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Compile, &kiln::modules);
}
