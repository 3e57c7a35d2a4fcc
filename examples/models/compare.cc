// bazel run //examples/models:compare -- resnet50 --threads 1,2
//
// Compiles a model in this process, runs it and the same over oneDNN on the
// same inputs, compares the results, and times both in turns:
//
//   unet on 1 thread, Kiln: prepared in 0.9 s, compiled in 3.3 s, 28 kernels
//   differs from oneDNN by 4.1e-06 at most, 6.0e-07 on average
//     contender      ms   median  GFLOP/s  of peak  over oneDNN
//     Kiln        99.87   100.42     81.9    0.734         1.04
//     oneDNN     103.60   104.11     78.9    0.708         1.00
//
// A model that is tuned, or whose sizes are open, runs beside the same untuned
// and with fixed sizes as well. Errors are relative to the root mean square of
// each output. The peak is what multiply-adds in registers reach, measured in
// turns with all.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/examples/models/catalog.h"
#include "kiln/examples/models/compare_rows.pb.h"
#include "kiln/examples/models/comparison.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/model_flags.h"
#include "kiln/examples/models/network.h"
#include "kiln/examples/models/onednn_program.h"
#include "kiln/examples/models/weights.h"
#include "kiln/tools/rivals/environment.h"
#include "kiln/tools/rivals/pinned_threads.h"
#include "kiln/tools/rivals/rounds.h"
#include "kiln/tools/support/json_line.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/prepare_flags.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/profile/machine_peak.h"

ABSL_FLAG(std::vector<std::string>, threads, {"1"},
          "How many threads, one run for each, such as 1,2.");
ABSL_FLAG(std::string, work_dir, "",
          "What tune left: functions get the schedules of their best records "
          "there, others default ones.");
ABSL_FLAG(std::string, target, "llvm", "What Kiln generates code for.");
ABSL_FLAG(std::vector<std::string>, passes, {},
          "Passes of graph functions to run ahead of those that every model "
          "goes through, by name (opt --passes).");
ABSL_FLAG(int, repetitions, 15, "Of each measurement, in random turns.");
ABSL_FLAG(double, tolerance, 1e-4,
          "The largest error, relative to the root mean square of an output, "
          "that is no mismatch.");
ABSL_FLAG(bool, verbose, false,
          "Prints each kernel of Kiln and each step of oneDNN, in order, with "
          "its time.");
ABSL_FLAG(bool, json, false, "Prints one JSON object a line.");

namespace kiln::models {
namespace {

const char kUsage[] =
    "Checks and times a model in Kiln beside the same over oneDNN:\n"
    "  compare resnet50 [--threads 1,2] [--work-dir DIR] [--json]\n"
    "  compare bert-base --tokens t=17      the length left open, run with 17\n"
    "Exit status: 0; 1 for an error; 2 where results differ by more than\n"
    "--tolerance, which are not timed.\n";

constexpr double kSettleSeconds = 0.015;

std::vector<std::string> names;

absl::StatusOr<std::vector<int>> ReadThreads() {
  std::vector<int> threads;
  for (const std::string& text : absl::GetFlag(FLAGS_threads)) {
    int count = 0;
    if (!absl::SimpleAtoi(text, &count) || count < 1 ||
        count > ThreadPool::NumAvailableCpus()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--threads: \"", text, "\" is no number from 1 to ",
          ThreadPool::NumAvailableCpus(), ", the CPUs that there are"));
    }
    threads.push_back(count);
  }
  return threads;
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_repetitions) < 1) {
    return absl::InvalidArgumentError("--repetitions has to be at least 1");
  }
  if (!(absl::GetFlag(FLAGS_tolerance) >= 0)) {
    return absl::InvalidArgumentError("--tolerance has to be at least 0");
  }
  return absl::OkStatus();
}

struct Step {
  std::string what;
  double ms;
};

// The model as Kiln compiles it in one way.
struct Compilation {
  rows::Model row;
  std::unique_ptr<vm::Machine> machine;
  std::shared_ptr<std::vector<Step>> steps;  // where they are wanted
};

// All, ready to run on the same inputs.
struct Match {
  int threads;
  std::unique_ptr<KernelHost> host;
  std::vector<Compilation> compilations;
  std::vector<vm::Value> args;
  std::unique_ptr<OneDnnProgram> onednn;

  absl::StatusOr<vm::Value> Run(const Compilation& one) {
    return one.machine->Call("main", args);
  }
};

// What is compiled, and whether by the records of --work-dir.
struct Way {
  std::string name;
  Module module;
  bool is_tuned;
};

absl::StatusOr<CompiledModel> Compiled(const Way& way, int threads) {
  CompileRequest request;
  KILN_ASSIGN_OR_RETURN(request.target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  request.target.num_cores = threads;
  request.passes = absl::GetFlag(FLAGS_passes);
  KILN_ASSIGN_OR_RETURN(request.prepare, PrepareOptionsOfFlags());
  if (way.is_tuned) request.work_dir = absl::GetFlag(FLAGS_work_dir);
  return CompileForRun(way.module, request);
}

rows::Model RowOf(const Network& net, const Way& way,
                  const CompiledModel& compiled, int threads) {
  rows::Model row;
  row.set_model(names[0]);
  row.set_contender(way.name);
  row.set_threads(threads);
  row.set_gflop(Rounded(net.Flop() * 1e-9, 4));
  row.set_prepare_s(Rounded(compiled.prepare_s, 2));
  row.set_compile_s(Rounded(compiled.compile_s, 2));
  row.set_kernels(static_cast<int>(compiled.executable.kernels.size()));
  row.set_tuned(compiled.tuned);
  return row;
}

absl::Status MakeMachine(CompiledModel compiled, KernelHost* host,
                         Compilation* one) {
  vm::MachineOptions options;
  if (absl::GetFlag(FLAGS_verbose)) {
    one->steps = std::make_shared<std::vector<Step>>();
    options.observe = [steps = one->steps](const vm::ObservedCall& call) {
      steps->push_back({absl::StrCat(std::string(call.label), "  ",
                                     std::string(call.callee)),
                        call.seconds * 1e3});
    };
  }
  KILN_ASSIGN_OR_RETURN(
      one->machine,
      vm::Machine::Create(std::move(compiled.executable), {}, host, options));
  return absl::OkStatus();
}

absl::StatusOr<Match> Prepare(const ModelOfFlags& model,
                              const std::vector<Way>& ways, Weights& weights,
                              ThreadPool& pool, int threads) {
  Match match;
  match.threads = threads;
  match.host = std::make_unique<KernelHost>(&pool, threads);
  for (const Way& way : ways) {
    KILN_ASSIGN_OR_RETURN(CompiledModel compiled, Compiled(way, threads));
    Compilation& one = match.compilations.emplace_back();
    one.row = RowOf(model.net, way, compiled, threads);
    KILN_RETURN_IF_ERROR(
        MakeMachine(std::move(compiled), match.host.get(), &one));
  }
  KILN_ASSIGN_OR_RETURN(match.onednn,
                        OneDnnProgram::Create(model.net, weights, threads));
  KILN_ASSIGN_OR_RETURN(const std::vector<NDArray> inputs,
                        DrawInputs(model.net, model.seed));
  for (size_t i = 0; i < inputs.size(); ++i) {
    match.args.push_back(inputs[i]);
    KILN_RETURN_IF_ERROR(match.onednn->inputs()[i].CopyFrom(inputs[i]));
  }
  return match;
}

// Whether results are as near to oneDNN's as --tolerance says.
absl::StatusOr<bool> Check(Match& match) {
  KILN_RETURN_IF_ERROR(match.onednn->Run());
  bool is_near = true;
  for (Compilation& one : match.compilations) {
    KILN_ASSIGN_OR_RETURN(const vm::Value result, match.Run(one));
    KILN_ASSIGN_OR_RETURN(const Errors errors,
                          ErrorsOf(result, match.onednn->outputs()));
    one.row.set_largest_error(errors.largest);
    one.row.set_rms_error(errors.rms);
    is_near = is_near && errors.largest <= absl::GetFlag(FLAGS_tolerance);
  }
  return is_near;
}

constexpr int kRunsOfSteps = 5;

// The best of some runs of each kernel, where they stand in order.
absl::StatusOr<std::vector<Step>> StepsOf(Match& match,
                                          const Compilation& one) {
  std::vector<Step> best;
  for (int run = 0; run < kRunsOfSteps; ++run) {
    one.steps->clear();
    KILN_RETURN_IF_ERROR(match.Run(one).status());
    if (run == 0) best = *one.steps;
    for (size_t i = 0; i < best.size(); ++i) {
      best[i].ms = std::min(best[i].ms, (*one.steps)[i].ms);
    }
  }
  return best;
}

absl::StatusOr<std::vector<Step>> StepsOfOneDnn(Match& match) {
  KILN_ASSIGN_OR_RETURN(const std::vector<double> times,
                        match.onednn->StepTimes(kRunsOfSteps));
  std::vector<Step> steps;
  for (size_t i = 0; i < times.size(); ++i) {
    steps.push_back({match.onednn->steps()[i], times[i]});
  }
  return steps;
}

void PrintSteps(const std::string& name, const std::vector<Step>& steps) {
  std::printf("%s, ms of each:\n", name.c_str());
  for (const Step& step : steps) {
    std::printf("  %9.3f  %s\n", step.ms, step.what.c_str());
  }
}

absl::Status PrintAllSteps(Match& match) {
  for (const Compilation& one : match.compilations) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Step> steps, StepsOf(match, one));
    PrintSteps(one.row.contender(), steps);
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Step> steps, StepsOfOneDnn(match));
  PrintSteps("oneDNN", steps);
  return absl::OkStatus();
}

struct Times {
  std::vector<bench::Timing> of;  // each compilation, oneDNN
  double peak_gflops = 0;
};

Times TimeAll(Match& match, ThreadPool& pool) {
  Times times;
  // What failed here would have failed in Check.
  std::vector<bench::NamedCall> calls;
  for (const Compilation& one : match.compilations) {
    calls.push_back(
        {one.row.contender(), [&] { static_cast<void>(match.Run(one).ok()); }});
  }
  calls.push_back(
      {"oneDNN", [&] { static_cast<void>(match.onednn->Run().ok()); }});
  const PeakOptions once = {.runs = 1, .run_us = 4000};
  calls.push_back({"peak", [&] {
                     const double gflops = MeasurePeakGflops(
                         pool, match.threads, DType::Float(32), once);
                     times.peak_gflops = std::max(times.peak_gflops, gflops);
                   }});
  for (const bench::NamedCall& named : calls) named.call();
  const bench::PinnedThreads pinned(match.threads);
  times.of = bench::TimesOf(calls, {absl::GetFlag(FLAGS_repetitions), 0.004,
                                    match.threads > 1 ? kSettleSeconds : 0});
  return times;
}

std::vector<rows::Time> RowsOf(const Match& match, const Times& times) {
  std::vector<rows::Time> all;
  const rows::Model& model = match.compilations[0].row;
  const size_t onednn = match.compilations.size();
  for (size_t i = 0; i <= onednn; ++i) {
    const bench::Timing& time = times.of[i];
    const double gflops = model.gflop() / time.best_us * 1e6;
    rows::Time& row = all.emplace_back();
    row.set_model(model.model());
    row.set_threads(match.threads);
    row.set_contender(i < onednn ? match.compilations[i].row.contender()
                                 : "oneDNN");
    row.set_ms(Rounded(time.best_us * 1e-3, 4));
    row.set_median_ms(Rounded(time.median_us * 1e-3, 4));
    row.set_worst_ms(Rounded(time.worst_us * 1e-3, 4));
    row.set_repetitions(time.repetitions);
    row.set_gflops(Rounded(gflops, 2));
    row.set_peak_share(Rounded(gflops / times.peak_gflops, 4));
    row.set_over_onednn(Rounded(times.of[onednn].best_us / time.best_us, 4));
  }
  return all;
}

void PrintModel(const rows::Model& row) {
  if (absl::GetFlag(FLAGS_json)) {
    std::printf("%s", JsonLine(row).c_str());
    return;
  }
  std::printf(
      "%s on %d %s, %s: prepared in %.1f s, compiled in %.1f s, %d kernels",
      row.model().c_str(), row.threads(),
      row.threads() == 1 ? "thread" : "threads", row.contender().c_str(),
      row.prepare_s(), row.compile_s(), row.kernels());
  if (row.tuned() > 0) std::printf(", %d tuned", row.tuned());
  std::printf("\ndiffers from oneDNN by %.1e at most, %.1e on average\n",
              row.largest_error(), row.rms_error());
  std::fflush(stdout);
}

void PrintTimes(const std::vector<rows::Time>& times) {
  const bool json = absl::GetFlag(FLAGS_json);
  if (!json) {
    std::printf("  %-9s %9s %9s %8s %8s %12s\n", "contender", "ms", "median",
                "GFLOP/s", "of peak", "over oneDNN");
  }
  for (const rows::Time& row : times) {
    if (json) {
      std::printf("%s", JsonLine(row).c_str());
      continue;
    }
    std::printf("  %-9s %9.3f %9.3f %8.1f %8.3f %12.3f\n",
                row.contender().c_str(), row.ms(), row.median_ms(),
                row.gflops(), row.peak_share(), row.over_onednn());
  }
  std::fflush(stdout);
}

// On so many threads. False: results differ.
absl::StatusOr<bool> CompareOn(Match match, ThreadPool& pool) {
  KILN_ASSIGN_OR_RETURN(const bool is_near, Check(match));
  for (const Compilation& one : match.compilations) PrintModel(one.row);
  if (absl::GetFlag(FLAGS_verbose) && !absl::GetFlag(FLAGS_json)) {
    KILN_RETURN_IF_ERROR(PrintAllSteps(match));
  }
  if (is_near) PrintTimes(RowsOf(match, TimeAll(match, pool)));
  return is_near;
}

absl::StatusOr<int> Compare() {
  KILN_ASSIGN_OR_RETURN(const ModelOfFlags model, ReadModelFlags(names));
  KILN_RETURN_IF_ERROR(CheckFlags());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> threads, ReadThreads());
  Weights weights(model.seed);
  KILN_ASSIGN_OR_RETURN(const Module module,
                        ToModule(model.net, weights, model.options));
  std::vector<Way> ways = {{"Kiln", module, true}};
  if (!absl::GetFlag(FLAGS_work_dir).empty()) {
    ways.push_back({"untuned", module, false});
  }
  if (!model.options.open.empty()) {
    ModuleOptions closed = model.options;
    closed.open.clear();
    KILN_ASSIGN_OR_RETURN(Module fixed, ToModule(model.net, weights, closed));
    ways.push_back({"fixed", std::move(fixed), false});
  }
  ThreadPool pool;
  int status = kExitOk;
  for (const int count : threads) {
    KILN_ASSIGN_OR_RETURN(Match match,
                          Prepare(model, ways, weights, pool, count));
    KILN_ASSIGN_OR_RETURN(const bool is_near,
                          CompareOn(std::move(match), pool));
    if (!is_near) status = kExitMismatch;
  }
  return status;
}

}  // namespace
}  // namespace kiln::models

int main(int argc, char** argv) {
  if (const absl::Status status = kiln::bench::RestartUnsteered(argv);
      !status.ok()) {
    std::fprintf(stderr, "compare: %s\n",
                 std::string(status.message()).c_str());
    return kiln::kExitError;
  }
  return kiln::RunTool(argc, argv,
                       kiln::models::kUsage + kiln::models::ModelHelp(),
                       kiln::models::Compare, &kiln::models::names);
}
