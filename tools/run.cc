// Runs one function of a program on files, random numbers or zeros. The kernel
// runs in a worker process, so a fault is a message of this one. Where data
// decide what is accessed, a variant with checks runs first, and an access out
// of bounds is told with its place. Then
//
//   arguments → the kernel once → --output, --expect, --check → --time
//
//   run --module m.py --input @a.npy --expect @c.npy
//   C against @c.npy: all 160 elements agree
//
// The interpreter gets copies of the arguments from before the call (--check).
// A default schedule, whose result nobody has looked at, is compared with it on
// some elements in any case. --json collects all of that in one message,
// run_report.proto.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/file.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/access_check.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/contents.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/graph/interpreter.h"
#include "kiln/tools/graph/run_flags.h"
#include "kiln/tools/graph/run_graph.h"
#include "kiln/tools/run_report.pb.h"
#include "kiln/tools/support/arguments.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/execute.h"
#include "kiln/tools/support/flags.h"
#include "kiln/tools/support/input.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/support/prepare_flags.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/support/replay.h"
#include "kiln/tools/support/sample_check.h"
#include "kiln/tools/support/tolerances.h"
#include "kiln/tools/tuning/put_back.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/ndarray/npy.h"
#include "kiln/vm/packed/packed_function.h"

ABSL_FLAG(std::string, module, "",
          "A file with the program: TVMScript, or a serialized module; - is "
          "stdin.");
ABSL_FLAG(std::string, workload, "",
          "A named workload with its shape, such as gmm:1024,1024,1024.");
ABSL_FLAG(std::string, einsum, "",
          "A formula such as \"C[i,j] += A[i,k] * B[k,j]\", with --shape.");
ABSL_FLAG(std::string, shape, "",
          "The extents of the formula's indices: i=512,j=512,k=512.");
ABSL_FLAG(
    std::string, trace, "",
    "A file with a schedule function or a printed trace, to apply first.");
ABSL_FLAG(std::string, schedule, "",
          "default: apply the schedule that Kiln takes for the best without "
          "measuring.");
ABSL_FLAG(bool, auto, true,
          "False: loops get no vectors, register tiles, copies and prefetches "
          "but those that the schedule asks for.");
ABSL_FLAG(std::string, target, "llvm", "What to generate code for.");
ABSL_FLAG(bool, check, false,
          "Compares what was computed with the interpreter.");
ABSL_FLAG(double, deadline, 600,
          "Seconds after which a run of the function is given up.");
ABSL_FLAG(std::string, work_dir, "",
          "Of a module's graph functions: what they call gets the best "
          "schedules that tune left there.");
ABSL_FLAG(bool, json, false,
          "Prints one JSON object: what was compared, and the figures of "
          "--time.");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Compiles and runs a function:\n"
    "  run --module m.py --func main --input @a.npy --input "
    "random:1024x1024xf32 [--expect @c.npy] [--output @o.npy]\n"
    "  run --workload gmm:512,512,512 --schedule default --time\n"
    "  run model.kiln --func main --input @x.npy --params weights.npz "
    "--expect @y.npy [--library FUNCTIONS.so]\n"
    "--input (repeated) goes by the order of the parameters: one for each, or "
    "one for each that is only read; it is @FILE.npy,\n"
    "random:2x3xf32, zeros:2x3xf32, value:3 or (of models) shape:2x3. With "
    "none, random numbers are "
    "read; those that become indices stay inside of what they index. The "
    "function runs in a process of its own, and first of all with its accesses "
    "checked where they depend on data. What a default schedule computes is "
    "compared with the interpreter on some elements. --expect and --output "
    "(repeated) go by "
    "the parameters that are "
    "written.\n"
    "Exit status: 0; 1 for an error; 2 where what was computed is not what "
    "--expect or --check expects; 3 where a step of the trace is refused; 130 "
    "after Ctrl-C, 143 after SIGTERM.";

RepeatedRunFlags repeated;

// What compile wrote.
std::vector<std::string> executables;

// What --json prints.
run::Report report;

ProgramFlags Program() {
  ProgramFlags flags;
  flags.module = absl::GetFlag(FLAGS_module);
  flags.workload = absl::GetFlag(FLAGS_workload);
  flags.einsum = absl::GetFlag(FLAGS_einsum);
  flags.shape = absl::GetFlag(FLAGS_shape);
  flags.func = absl::GetFlag(FLAGS_func);
  flags.is_auto = absl::GetFlag(FLAGS_auto);
  return flags;
}

// What the results of a function may differ by.
struct Errors {
  ErrorBound bound = ErrorBound::kComponentwise;
  int64_t terms = 1;  // of each sum
};

// With the tolerances that flags say.
Tolerance TolerancesFor(const NDArray& expected, const Errors& errors) {
  return ToleranceFor(expected, errors.bound, absl::GetFlag(FLAGS_rtol),
                      absl::GetFlag(FLAGS_atol), errors.terms);
}

struct Output {
  std::string name;
  NDArray array;
};

// What the kernel wrote, in the order of the parameters.
std::vector<Output> Outputs(const KernelSignature& signature,
                            const std::vector<PackedValue>& args) {
  std::vector<Output> written;
  for (size_t i = 0; i < args.size(); ++i) {
    const KernelParam& param = signature.params[i];
    if (param.kind != KernelParam::Kind::kBuffer) continue;
    const KernelBuffer& buffer = signature.buffers[param.index];
    if (!buffer.written) continue;
    written.push_back({buffer.name, std::get<NDArray>(args[i])});
  }
  return written;
}

absl::Status CheckCount(const char* flag, size_t given,
                        const std::vector<Output>& written) {
  if (given <= written.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(given, " ", flag, " are given, but the function writes ",
                   written.size(), " parameters"));
}

// Tells how `got` compares with `expected`; false on a mismatch.
absl::StatusOr<bool> Agrees(const std::string& output,
                            const std::string& against, const NDArray& got,
                            const NDArray& expected, const Errors& errors) {
  const std::string what = absl::StrCat(output, " against ", against);
  const Tolerance tolerance = TolerancesFor(expected, errors);
  const absl::StatusOr<CompareReport> compared =
      Compare(got, expected, tolerance);
  if (!compared.ok()) {
    return absl::Status(compared.status().code(),
                        absl::StrCat(what, ": ", compared.status().message()));
  }
  run::Comparison& entry = *report.add_comparisons();
  entry.set_output(output);
  entry.set_against(against);
  entry.set_agrees(compared->ok());
  entry.set_elements(compared->num_elements);
  entry.set_mismatches(compared->num_mismatches);
  entry.set_rtol(tolerance.rtol);
  entry.set_atol(tolerance.atol);
  entry.set_worst_absolute_error(compared->worst.absolute_error);
  entry.set_worst_relative_error(compared->worst.relative_error);
  entry.set_text(compared->ToString());
  if (!absl::GetFlag(FLAGS_json)) {
    std::printf("%s: %s\n", what.c_str(), entry.text().c_str());
  }
  return compared->ok();
}

absl::StatusOr<bool> MeetExpectations(const std::vector<Output>& written,
                                      const Errors& errors) {
  KILN_RETURN_IF_ERROR(
      CheckCount("--expect", repeated.expectations.size(), written));
  bool all = true;
  for (size_t i = 0; i < repeated.expectations.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(NDArray expected,
                          ReadTensor(repeated.expectations[i]));
    KILN_ASSIGN_OR_RETURN(bool agrees,
                          Agrees(written[i].name, repeated.expectations[i],
                                 written[i].array, expected, errors));
    all = all && agrees;
  }
  return all;
}

absl::Status WriteOutputs(const std::vector<Output>& written) {
  KILN_RETURN_IF_ERROR(
      CheckCount("--output", repeated.outputs.size(), written));
  for (size_t i = 0; i < repeated.outputs.size(); ++i) {
    if (repeated.outputs[i].empty() || repeated.outputs[i][0] != '@') {
      return absl::InvalidArgumentError(
          absl::StrCat("--output ", repeated.outputs[i],
                       ": a file is written as @FILE.npy"));
    }
    KILN_RETURN_IF_ERROR(
        WriteNpy(written[i].array, CallerPath(repeated.outputs[i].substr(1))));
  }
  return absl::OkStatus();
}

// Runs the interpreter on `args` as they were before the call.
absl::StatusOr<std::vector<PackedValue>> Interpreted(
    const Function& f, const std::vector<PackedValue>& args) {
  std::vector<Tensor> tensors;
  std::vector<Argument> arguments;
  tensors.reserve(args.size());
  for (const PackedValue& value : args) {
    if (const NDArray* array = std::get_if<NDArray>(&value)) {
      tensors.push_back(ToTensor(*array));
      arguments.push_back(&tensors.back());
    } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
      arguments.push_back(*integer);
    } else {
      arguments.push_back(std::get<double>(value));
    }
  }
  KILN_ASSIGN_OR_RETURN(Interpreter interpreter, Interpreter::Create(f));
  KILN_RETURN_IF_ERROR(interpreter.Run(arguments));
  std::vector<PackedValue> results = args;
  size_t next = 0;
  for (PackedValue& value : results) {
    if (!std::holds_alternative<NDArray>(value)) continue;
    KILN_ASSIGN_OR_RETURN(value, ToNDArray(tensors[next++]));
  }
  return results;
}

absl::StatusOr<bool> CheckOutputs(const KernelSignature& signature,
                                  const Errors& errors,
                                  const std::vector<PackedValue>& expected,
                                  const std::vector<PackedValue>& got) {
  const std::vector<Output> want = Outputs(signature, expected);
  const std::vector<Output> have = Outputs(signature, got);
  bool all = true;
  for (size_t i = 0; i < want.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(bool agrees,
                          Agrees(have[i].name, "the interpreter", have[i].array,
                                 want[i].array, errors));
    all = all && agrees;
  }
  return all;
}

// A verdict other than ok, as an error.
absl::Status ToStatus(const std::string& function, Verdict verdict,
                      const std::string& reason) {
  if (verdict == Verdict::kOk) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      function, ": ", std::string(VerdictName(verdict)), ": ", reason));
}

// What a run stands on; workers are forked before there are threads.
struct Bench {
  std::unique_ptr<LocalRunner> runner;
  std::unique_ptr<LlvmBuilder> builder;
  MeasureOptions options;
};

absl::StatusOr<Bench> MakeBench(const Target& target) {
  const double deadline_s = absl::GetFlag(FLAGS_deadline);
  if (!(deadline_s > 0)) {
    return absl::InvalidArgumentError("--deadline is a number of seconds");
  }
  Bench bench;
  KILN_ASSIGN_OR_RETURN(bench.runner,
                        LocalRunner::Create({.memory_limit_bytes = 0}));
  bench.builder = std::make_unique<LlvmBuilder>(target);
  bench.options.num_threads = target.num_cores;
  bench.options.check = false;
  bench.options.budget_ms = 200;
  bench.options.max_samples = 200;
  bench.options.deadline_s = deadline_s;
  return bench;
}

// Calls the kernel away from this process; `args` then hold what it wrote.
absl::Status RunOnce(const BuildResult& kernel, const MeasureTask& task,
                     Bench& bench, const std::vector<PackedValue>& args) {
  KILN_ASSIGN_OR_RETURN(const RunResult run,
                        bench.runner->Run(task, kernel, bench.options));
  KILN_RETURN_IF_ERROR(
      ToStatus(kernel.signature.name, run.verdict, run.reason));
  size_t next = 0;
  for (const Output& output : Outputs(kernel.signature, args)) {
    const std::string& bytes = run.outputs[next++];
    std::copy(bytes.begin(), bytes.end(),
              static_cast<char*>(output.array.data()));
  }
  return absl::OkStatus();
}

// Of all tensors, each once.
double BytesOf(const std::vector<PackedValue>& args) {
  double bytes = 0;
  for (const PackedValue& value : args) {
    const NDArray* array = std::get_if<NDArray>(&value);
    if (array) bytes += static_cast<double>(array->bytes());
  }
  return bytes;
}

void PrintTime(const run::Time& time, const TaskWork& work) {
  std::printf("min %.2f us, median %.2f us, spread %.1f %%, %d samples",
              time.min_us(), time.median_us(),
              100 * time.spread_us() / std::max(time.median_us(), 1e-6),
              static_cast<int>(time.samples()));
  const std::string rates = RatesText(work, time.min_us() * 1e3);
  std::printf("%s%s\n", rates.empty() ? "" : ", ", rates.c_str());
  const std::string notes = WorkNotes(work);
  if (!notes.empty()) std::printf("(%s)\n", notes.c_str());
}

// Times what runs in every call. `bytes` count where the program's own cannot
// be counted.
absl::Status MeasureTime(const Function& f, const BuildResult& kernel,
                         const MeasureTask& task, double bytes, Bench& bench) {
  KILN_ASSIGN_OR_RETURN(const MeasureResult result,
                        bench.runner->Measure(task, kernel, bench.options));
  KILN_RETURN_IF_ERROR(ToStatus(f.name, result.verdict, result.reason));
  run::Time& time = *report.mutable_time();
  time.set_min_us(result.min_ns * 1e-3);
  time.set_median_us(result.median_ns * 1e-3);
  time.set_spread_us(result.spread_ns * 1e-3);
  time.set_samples(result.samples);
  TaskWork work = TaskWorkOf(f);
  if (work.bytes == 0) work.bytes = bytes;
  time.set_flop(work.flop);
  time.set_flop_as_written(work.flop_as_written);
  time.set_gflops(work.Gflops(result.min_ns));
  time.set_bytes(work.bytes);
  time.set_gb_per_s(work.Gbs(result.min_ns));
  time.set_normwise(work.normwise);
  if (absl::GetFlag(FLAGS_json)) return absl::OkStatus();
  PrintTime(time, work);
  if (kernel.preparation) {
    std::printf(
        "(without the preparation of constant arguments, which runs once)\n");
  }
  return absl::OkStatus();
}

absl::Status PrintReport() {
  KILN_ASSIGN_OR_RETURN(const std::string line,
                        ToJson(report, JsonDefaults::kWritten));
  std::printf("%s\n", line.c_str());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PackedValue>> Copies(
    const std::vector<PackedValue>& args) {
  std::vector<PackedValue> copies = args;
  for (PackedValue& value : copies) {
    if (NDArray* array = std::get_if<NDArray>(&value)) {
      KILN_ASSIGN_OR_RETURN(*array, array->Clone());
    }
  }
  return copies;
}

absl::StatusOr<Target> ChosenTarget() {
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_RETURN_IF_ERROR(CheckRunsHere(target));
  const int threads = absl::GetFlag(FLAGS_threads);
  if (threads > 0) target.num_cores = threads;
  return target;
}

// Everything that is asked for of `args` after a call of `f`; with --check they
// have to agree with `expected`.
absl::StatusOr<bool> Judge(const Function& f, const KernelSignature& signature,
                           const std::vector<PackedValue>& expected,
                           const std::vector<PackedValue>& args) {
  const std::vector<Output> written = Outputs(signature, args);
  KILN_RETURN_IF_ERROR(WriteOutputs(written));
  Errors errors;
  if (AllowsNormwise(f)) errors.bound = ErrorBound::kNormwise;
  errors.terms = ReductionLength(f);
  KILN_ASSIGN_OR_RETURN(bool ok, MeetExpectations(written, errors));
  if (!absl::GetFlag(FLAGS_check)) return ok;
  const bool exact = IsStrict(f) && !CallsRoundedMath(f);
  if (exact) errors.bound = ErrorBound::kExact;
  KILN_ASSIGN_OR_RETURN(bool agrees,
                        CheckOutputs(signature, errors, expected, args));
  return ok && agrees;
}

// `unmeasured`: nobody has looked at what `f` computes.
absl::StatusOr<int> RunFunction(const Function& original, const Function& f,
                                Bench& bench, bool unmeasured = false) {
  KILN_ASSIGN_OR_RETURN(const BuildResult kernel, bench.builder->Build(f));
  const KernelSignature& signature = kernel.signature;
  KILN_ASSIGN_OR_RETURN(std::vector<PackedValue> args,
                        ArgumentsFor(original, signature, repeated.inputs,
                                     absl::GetFlag(FLAGS_seed)));
  KILN_ASSIGN_OR_RETURN(CallContents contents, ToContents(signature, args));
  KILN_RETURN_IF_ERROR(CheckAccesses(original, contents, *bench.builder,
                                     *bench.runner, bench.options.deadline_s));
  std::vector<PackedValue> expected, before;
  const bool on_samples = unmeasured && !absl::GetFlag(FLAGS_check);
  if (absl::GetFlag(FLAGS_check) || on_samples) {
    KILN_ASSIGN_OR_RETURN(before, Copies(args));
  }
  if (absl::GetFlag(FLAGS_check)) {
    KILN_ASSIGN_OR_RETURN(expected, Interpreted(original, before));
  }
  KILN_ASSIGN_OR_RETURN(
      const auto task,
      MakeRunTask(signature, WithoutOutputs(original, std::move(contents))));
  KILN_RETURN_IF_ERROR(RunOnce(kernel, *task, bench, args));
  if (on_samples) {
    KILN_RETURN_IF_ERROR(CheckOnSamples(original, signature, before, args));
  }
  KILN_ASSIGN_OR_RETURN(const bool ok,
                        Judge(original, signature, expected, args));
  if (absl::GetFlag(FLAGS_time)) {
    KILN_RETURN_IF_ERROR(
        MeasureTime(original, kernel, *task, BytesOf(args), bench));
  }
  report.set_function(original.name);
  report.set_agrees(ok);
  if (absl::GetFlag(FLAGS_json)) KILN_RETURN_IF_ERROR(PrintReport());
  return ok ? kExitOk : kExitMismatch;
}

absl::StatusOr<int> RunByDefault(const Module& module, const Function& f,
                                 const Target& target, Bench& bench) {
  KILN_ASSIGN_OR_RETURN(const DefaultSchedule best,
                        DefaultScheduleFor(module, f.name, target));
  return RunFunction(f, best.scheduled, bench, /*unmeasured=*/true);
}

// Flags that say how a program is compiled say nothing of a compiled model.
absl::Status RefuseCompilation() {
  const std::string given =
      FirstGiven({"auto", "bind", "bind-params", "check", "einsum", "fuse",
                  "json", "numerics", "precision", "schedule", "shape",
                  "target", "trace", "work-dir", "workload"});
  if (given.empty()) return absl::OkStatus();
  const bool sizes = given == "bind" || given == "shape";
  return absl::InvalidArgumentError(absl::StrCat(
      "--", given, " is for a program, and ", executables[0],
      " is a compiled model: ",
      sizes ? "its open dimensions are those of --input random:2x3xf32"
            : absl::StrCat("give --", given, " to compile, or use --module")));
}

absl::StatusOr<int> RunExecutable() {
  if (executables.size() > 1 || !absl::GetFlag(FLAGS_module).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", executables.back(),
                     "\" stands beside another program; flags begin with two "
                     "dashes, and --help lists them"));
  }
  KILN_RETURN_IF_ERROR(RefuseCompilation());
  KILN_ASSIGN_OR_RETURN(const auto loaded,
                        vm::LoadedExecutable::Open(CallerPath(executables[0])));
  return RunGraph(loaded, GraphRequestOfFlags(repeated));
}

// Compiles the graph functions of the module first.
absl::StatusOr<int> RunModule(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const Target target, ChosenTarget());
  KILN_ASSIGN_OR_RETURN(Module prepared, PrepareByFlags(module));
  const bool by_default = absl::GetFlag(FLAGS_schedule) == "default";
  Scheduler schedule = by_default ? DefaultSchedules(target) : KeepSchedules();
  const std::string work_dir = absl::GetFlag(FLAGS_work_dir);
  if (!work_dir.empty()) {
    KILN_ASSIGN_OR_RETURN(const auto database, OpenTuned(CallerPath(work_dir)));
    KILN_ASSIGN_OR_RETURN(TunedModule best,
                          PutBackBest(prepared, *database, target));
    prepared = std::move(best.module);
    schedule = KeepTuned(std::move(best.tuned), std::move(schedule));
  }
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        CompileModel(prepared, target, schedule));
  GraphRunRequest request = GraphRequestOfFlags(repeated);
  for (const graph::GraphFunction& f : prepared.graph_functions) {
    if (AllowsNormwise(f->attrs)) request.bound = ErrorBound::kNormwise;
  }
  if (absl::GetFlag(FLAGS_check)) request.interpreter = InterpreterOf(module);
  KILN_ASSIGN_OR_RETURN(const auto loaded,
                        vm::LoadedExecutable::Load(std::move(executable)));
  return RunGraph(loaded, request);
}

// Whether --func names a graph function, or none and there are some.
bool IsGraphRun(const Module& module) {
  const std::string func = absl::GetFlag(FLAGS_func);
  if (!func.empty()) return module.FindGraph(func) != nullptr;
  return !module.graph_functions.empty();
}

absl::StatusOr<int> Run() {
  KILN_RETURN_IF_ERROR(CheckRunFlags());
  if (!executables.empty()) return RunExecutable();
  KILN_ASSIGN_OR_RETURN(Module module, LoadProgram(Program()));
  KILN_ASSIGN_OR_RETURN(module, Bound(std::move(module), BindingsOfFlags()));
  if (IsGraphRun(module)) return RunModule(module);
  if (!absl::GetFlag(FLAGS_work_dir).empty()) {
    return absl::InvalidArgumentError(
        "--work-dir is for graph functions; the best of a tensor function is "
        "run --module WORK_DIR/TASK/best.py");
  }
  KILN_ASSIGN_OR_RETURN(const Function* original,
                        ChooseFunction(module, absl::GetFlag(FLAGS_func)));
  KILN_ASSIGN_OR_RETURN(const Target target, ChosenTarget());
  KILN_ASSIGN_OR_RETURN(Bench bench, MakeBench(target));
  const std::string trace = absl::GetFlag(FLAGS_trace);
  KILN_ASSIGN_OR_RETURN(
      const bool by_default,
      WantsDefaultSchedule(absl::GetFlag(FLAGS_schedule), trace));
  if (by_default) return RunByDefault(module, *original, target, bench);
  if (trace.empty()) return RunFunction(*original, *original, bench);
  absl::StatusOr<Module> scheduled =
      ApplyTraceFile(module, trace, absl::GetFlag(FLAGS_seed));
  if (IsRefusedStep(scheduled.status())) {
    std::fprintf(stderr, "refused: %s\n",
                 std::string(scheduled.status().message()).c_str());
    return kExitRefused;
  }
  KILN_RETURN_IF_ERROR(scheduled.status());
  return RunFunction(*original, *scheduled->Find(original->name), bench);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::repeated = kiln::TakeRepeatedRunFlags(&argc, argv);
  return kiln::RunTool(argc, argv, kiln::kUsage + kiln::WorkloadHelp(),
                       kiln::Run, &kiln::executables);
}
