#include "kiln/tools/tuning/tune.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/te/flops.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/database/database.h"
#include "kiln/search/measure/fault.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/script_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/tuning/work_dir.h"
#include "kiln/vm/profile/machine_peak.h"

namespace kiln {
namespace {

absl::StatusOr<int> FunctionIndex(const Module& module,
                                  const std::string& name) {
  for (size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].name == name) return static_cast<int>(i);
  }
  return absl::NotFoundError(
      absl::StrCat("the module has no function \"", name, "\""));
}

Workload MakeWorkload(const Module& module, const std::string& function) {
  Workload workload;
  workload.text = PrintModule(module);
  workload.func_name = function;
  workload.key = Sha256Hex(absl::StrCat(function, "\n", workload.text));
  return workload;
}

double PeakGflops(ThreadPool& pool, int threads) {
  return MeasurePeakGflops(pool, threads, DType::Float(32),
                           {.runs = 20, .run_us = 3000});
}

bool EverySecond(int64_t call) { return call % 2 == 1; }

// All that a run stands on, in the order in which it has to be made: workers
// are forked before there are threads.
struct Bench {
  std::unique_ptr<LocalRunner> local;
  std::unique_ptr<FaultInjectingRunner> faulty;
  std::unique_ptr<Database> database;
  std::unique_ptr<LlvmBuilder> builder;
  std::unique_ptr<ThreadPool> pool;
  Runner* runner = nullptr;
};

absl::StatusOr<Bench> MakeBench(const TuneRequest& request,
                                const WorkDir& dir) {
  Bench bench;
  KILN_ASSIGN_OR_RETURN(bench.local, LocalRunner::Create());
  bench.runner = bench.local.get();
  if (request.inject_faults) {
    bench.faulty =
        std::make_unique<FaultInjectingRunner>(bench.local.get(), &EverySecond);
    bench.runner = bench.faulty.get();
  }
  KILN_ASSIGN_OR_RETURN(bench.database, Database::Open(dir.database()));
  bench.builder = std::make_unique<LlvmBuilder>(request.target);
  bench.pool = std::make_unique<ThreadPool>();
  return bench;
}

absl::StatusOr<TuneTask> MakeTask(const TuneRequest& request, const Function& f,
                                  const Space* space, Bench& bench) {
  TuneTask task;
  task.name = request.name;
  task.workload = MakeWorkload(request.module, request.function);
  task.num_threads = request.target.num_cores;
  task.target = absl::StrCat(request.target.Fingerprint(),
                             " threads=", request.target.num_cores);
  task.flop = EstimateFlops(f).value_or(0);
  task.peak_gflops = PeakGflops(*bench.pool, task.num_threads);
  task.space = space;
  KILN_ASSIGN_OR_RETURN(task.data, MakeReferenceTask(f, *bench.builder));
  return task;
}

// The registers of a target, for tiles of float32.
RegisterFile RegistersOf(const Target& target) {
  RegisterFile file;
  file.lanes = target.vector_bits / 32;
  file.registers = target.vector_bits == 512 ? 32 : 16;
  return file;
}

absl::Status FillSpace(const TuneRequest& request, int function,
                       TraceSpace* space) {
  if (request.space) {
    KILN_RETURN_IF_ERROR(AddScript(*request.space, space));
  }
  if (!request.space || request.use_rules) {
    AddRuleSchedules(
        CpuRules(),
        {.registers = RegistersOf(request.target), .function = function},
        space);
  }
  return absl::OkStatus();
}

// One line of the log for a trial.
std::string LogLine(const TuneState& state, const TuningRecord& record) {
  std::string line =
      absl::StrFormat("%8.3f s  trial %d  %s", state.seconds, state.trials_done,
                      std::string(VerdictName(record.verdict)));
  if (record.verdict == Verdict::kOk) {
    return absl::StrCat(
        line, absl::StrFormat(
                  "  %.3f us  %.2f GFLOP/s  %s", record.latency_min_ns * 1e-3,
                  state.flop / record.latency_min_ns, record.decisions));
  }
  absl::StrAppend(&line, "  ", record.reason);
  if (record.verdict == Verdict::kWrongResult) {
    absl::StrAppend(&line, "\n", record.trace);
  }
  return line;
}

absl::Status WriteBest(const TuneRequest& request, int function,
                       const WorkDir& dir, Bench& bench, TuneOutcome* outcome) {
  outcome->best_trace = outcome->state.best->trace;
  KILN_ASSIGN_OR_RETURN(outcome->best, ReplayTrace(request.module, function,
                                                   outcome->best_trace));
  Module best = request.module;
  best.functions[function] = outcome->best;
  KILN_RETURN_IF_ERROR(dir.Write("best.py", PrintModule(best)));

  KILN_RETURN_IF_ERROR(dir.Write("best.pb", SerializeModule(best)));
  KILN_RETURN_IF_ERROR(dir.Write("trace.py", outcome->best_trace));
  KILN_ASSIGN_OR_RETURN(BuildResult build, bench.builder->Build(outcome->best));
  return dir.Write("kernel.o", build.object);
}

// Shows what happens, and writes it down.
class Progress {
 public:
  Progress(const TuneTask& task, const TuneRequest& request, const WorkDir& dir,
           TuneView* view)
      : task_(task), request_(request), dir_(dir), view_(view) {}

  void operator()(const TuneState& state, const TuningRecord* record) {
    if (!started_) {
      started_ = true;
      view_->Start(task_, request_.target.ToString(), dir_.database(), state);
    }
    if (!record) return;
    view_->Trial(state, *record);
    if (log_status_.ok()) log_status_ = dir_.Log(LogLine(state, *record));
  }

  const absl::Status& log_status() const { return log_status_; }

 private:
  const TuneTask& task_;
  const TuneRequest& request_;
  const WorkDir& dir_;
  TuneView* view_;
  bool started_ = false;
  absl::Status log_status_;
};

}  // namespace

absl::StatusOr<TuneOutcome> RunTune(const TuneRequest& request,
                                    TuneView* view) {
  KILN_ASSIGN_OR_RETURN(int function,
                        FunctionIndex(request.module, request.function));
  const Function& f = request.module.functions[function];
  TraceSpace space(request.module, function);
  KILN_RETURN_IF_ERROR(FillSpace(request, function, &space));
  KILN_ASSIGN_OR_RETURN(WorkDir dir,
                        WorkDir::Open(request.work_dir, request.name));
  KILN_ASSIGN_OR_RETURN(Bench bench, MakeBench(request, dir));
  KILN_ASSIGN_OR_RETURN(TuneTask task, MakeTask(request, f, &space, bench));

  KILN_ASSIGN_OR_RETURN(Guide guide,
                        MakeGuide(request.guide, task, bench.pool.get()));
  Progress progress(task, request, dir, view);
  TuneOptions options;
  options.trials = request.trials;
  options.seed = request.guide.seed;
  options.strategy = guide.strategy.get();
  options.max_seconds = request.max_seconds;
  options.stop = request.stop;
  options.progress = [&](const TuneState& state, const TuningRecord* record) {
    progress(state, record);
  };
  Tuner tuner(bench.builder.get(), bench.runner, bench.database.get(),
              bench.pool.get());
  TuneOutcome outcome;
  KILN_ASSIGN_OR_RETURN(outcome.state, tuner.Run(task, options));
  KILN_RETURN_IF_ERROR(progress.log_status());
  if (guide.model) {
    KILN_RETURN_IF_ERROR(guide.model->Save(dir.File("model")));
  }
  outcome.database = dir.database();
  outcome.task_dir = dir.task_dir();
  if (outcome.state.best) {
    KILN_RETURN_IF_ERROR(WriteBest(request, function, dir, bench, &outcome));
  }
  return outcome;
}

}  // namespace kiln
