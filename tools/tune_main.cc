// bazel run //tools:tune -- --workload gmm:1024,1024,1024 --trials 64
//
// From flags to a request and back: MakeRequest checks all flags and fills a
// TuneAllRequest, RunTuneAll (tuning/tune.h) does the work, Report says where
// things are. Some flags ask for something else than a search:
//
//   --replay-log flight.jsonl     decides a run again, and compares
//   --print-dag, --print-space    what would be searched
//   --apply-best                  the best records that there are, no trials
//
// To add a flag, define it, check it in CheckFlags if it can be wrong, and hand
// it on in MakeRequest.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/search/space/cpp_schedule.h"
#include "kiln/search/space/space_table.h"
#include "kiln/search/task/allocation.h"
#include "kiln/search/task/dag.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/objective.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/prepare_flags.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/tuning/apply_best.h"
#include "kiln/tools/tuning/guide.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/job_flags.h"
#include "kiln/tools/tuning/prepare.h"
#include "kiln/tools/tuning/replay_log.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/tune_sizes.h"
#include "kiln/tools/tuning/view.h"

ABSL_FLAG(std::string, module, "", "module to tune: a path, or - for stdin");
ABSL_FLAG(std::string, func, "",
          "which function; not needed for a single one. Of a graph function, "
          "the tensor functions that it calls");
ABSL_FLAG(std::string, workload, "",
          "named workload to tune, such as gmm:1024,1024,1024; may stand "
          "several times");
ABSL_FLAG(std::string, suite, "",
          "all workloads of a suite: ansor (13 operators, 4 shapes each) or "
          "gemm");
ABSL_FLAG(std::string, einsum, "",
          "index notation to tune, such as \"C[i,j] += A[i,k] * B[k,j]\"");
ABSL_FLAG(std::string, shape, "", "extents for --einsum: i=512,j=512,k=512");
ABSL_FLAG(std::string, space, "",
          "schedule function that samples, as a file; where none is given, "
          "Kiln makes a space of its own");
ABSL_FLAG(bool, rules, false,
          "search Kiln's own space beside the one that --space gives");
ABSL_FLAG(absl::optional<int64_t>, trials, absl::nullopt,
          "programs to measure, earlier runs included: of all tasks together; "
          "0: none, the best schedule by the analytic model is taken. As many "
          "as --trials-per-task says where it is not given");
ABSL_FLAG(absl::optional<int64_t>, trials_per_task, absl::nullopt,
          "programs to measure for each task at most, earlier runs included; "
          "64 where neither it nor --trials is given");
ABSL_FLAG(int64_t, early_stopping, 0,
          "a task is finished after so many trials without a better one; 0: "
          "never");
ABSL_FLAG(std::string, allocation, "gradient",
          "which task is next: gradient (where most is to be gained) or "
          "round-robin");
ABSL_FLAG(std::string, objective, "weighted-sum",
          "what gradient makes small: weighted-sum, max or geomean of the "
          "tasks' times");
ABSL_FLAG(std::string, weights, "",
          "calls of each task, in order: 3,1,2; otherwise calls in the module "
          "count, or how often a workload is named");
ABSL_FLAG(uint64_t, seed, 0, "of all random choices");
ABSL_FLAG(bool, auto, true,
          "false: loops get no vectors, register tiles, copies and prefetches "
          "but those that a schedule asks for");
ABSL_FLAG(std::string, search, "evolutionary",
          "how candidates are found: evolutionary (asks a model), random or "
          "replay-trace (blind draws), grid (every point in order), genetic "
          "(neighbours of what was fast)");
ABSL_FLAG(std::string, model, "boosted",
          "what an evolutionary search asks: boosted (learns), analytic or "
          "random");
ABSL_FLAG(std::string, work_dir, "kiln_work",
          "where the database and the results lie");
ABSL_FLAG(std::string, target, "llvm",
          "what to compile for: llvm [-mcpu=NAME] [-num-cores=N]");
ABSL_FLAG(double, minutes, 0, "stop after this time; 0: no limit");
ABSL_FLAG(std::string, replay_log, "",
          "a flight log (WORK_DIR/flight.jsonl): does its searches again "
          "without measuring, and tells whether each decision is the same");
ABSL_FLAG(std::string, records, "",
          "a file of JSON lines: its records count as earlier trials, and "
          "those of this run are added");
ABSL_FLAG(bool, apply_best, false,
          "measures nothing: writes and prints the best known program");
ABSL_FLAG(std::string, print_best, "schedule",
          "how the best schedule is printed: schedule (as a function) or cpp "
          "(as calls)");
ABSL_FLAG(bool, print_dag, false, "prints the formulas of each function, only");
ABSL_FLAG(bool, print_space, false,
          "prints the space of each function with its knobs and size, only");
ABSL_FLAG(
    int, verbose, 1,
    "0: the result only; 1: progress; 2: each step of the search and each "
    "trial");
ABSL_FLAG(bool, json, false, "print events, one JSON object a line");
ABSL_FLAG(bool, inject_faults, false,
          "replace every second kernel by one that crashes, hangs, allocates "
          "without end or computes something else");

namespace kiln {
namespace {

std::vector<std::string> workloads, inputs;

constexpr char kUsage[] =
    "Finds the fastest schedule of tensor functions on this machine.\n"
    "  tune --workload gmm:1024,1024,1024 --trials 64\n"
    "  tune --module m.py --func mm_relu [--space space.py] --seed 7\n"
    "  tune --module m.py --func gather --input @indices.npy --input "
    "random:1000x64xf32\n"
    "  tune --module m.py --trials-per-task 64 --minutes 5\n"
    "  tune --suite ansor --work-dir suite\n"
    "  tune --replay-log suite/flight.jsonl\n"
    "  tune --workload gmm --space template.py --search grid --print-space\n"
    "  tune --workload gmm --records gmm.json --verbose 2\n"
    "  tune --workload gmm --records gmm.json --apply-best --print-best cpp\n"
    "  tune --einsum \"C[i,j] += A[i,k] * B[k,j]\" --shape "
    "i=512,j=512,k=512\n"
    "The same command again resumes and measures no program twice. --input "
    "(repeated) is what run takes; without any, inputs are random, and those "
    "that become indices stay inside of what they index.\n"
    "Exit status: 0; 1 for an error, or where no trial succeeded; 130 after "
    "Ctrl-C and 143 after SIGTERM, with what was found until then saved.";

absl::StatusOr<JobFlags> JobFlagValues() {
  JobFlags flags;
  flags.workloads = workloads;
  flags.suite = absl::GetFlag(FLAGS_suite);
  flags.module = absl::GetFlag(FLAGS_module);
  flags.einsum = absl::GetFlag(FLAGS_einsum);
  flags.shape = absl::GetFlag(FLAGS_shape);
  flags.func = absl::GetFlag(FLAGS_func);
  flags.space = absl::GetFlag(FLAGS_space);
  flags.rules = absl::GetFlag(FLAGS_rules);
  flags.is_auto = absl::GetFlag(FLAGS_auto);
  flags.bindings = BindingsOfFlags();
  KILN_ASSIGN_OR_RETURN(flags.prepare, PrepareOptionsOfFlags());
  flags.weights = absl::GetFlag(FLAGS_weights);
  return flags;
}

GuideOptions GuideFlags() {
  return {.search = absl::GetFlag(FLAGS_search),
          .model = absl::GetFlag(FLAGS_model),
          .seed = absl::GetFlag(FLAGS_seed)};
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_trials).value_or(0) < 0) {
    return absl::InvalidArgumentError("--trials has to be at least 0");
  }
  if (absl::GetFlag(FLAGS_trials_per_task).value_or(1) < 1) {
    return absl::InvalidArgumentError("--trials-per-task has to be at least 1");
  }
  if (absl::GetFlag(FLAGS_early_stopping) < 0) {
    return absl::InvalidArgumentError(
        "--early-stopping has to be a number of trials, or 0");
  }
  if (!(absl::GetFlag(FLAGS_minutes) >= 0)) {
    return absl::InvalidArgumentError("--minutes has to be a number from 0 on");
  }
  const int verbose = absl::GetFlag(FLAGS_verbose);
  if (verbose < 0 || verbose > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("--verbose ", verbose, " has to be 0, 1 or 2"));
  }
  KILN_RETURN_IF_ERROR(
      MakeAllocation(absl::GetFlag(FLAGS_allocation)).status());
  KILN_RETURN_IF_ERROR(MakeObjective(absl::GetFlag(FLAGS_objective)).status());
  const std::string form = absl::GetFlag(FLAGS_print_best);
  if (form != "schedule" && form != "cpp") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--print-best ", form, " is not known; there are schedule and cpp"));
  }
  return CheckGuide(GuideFlags());
}

// Without a number for each task, --trials alone limits all.
void SetTrials(TuneAllRequest* request) {
  constexpr int64_t kTrialsPerTask = 64;
  const absl::optional<int64_t> trials = absl::GetFlag(FLAGS_trials);
  const absl::optional<int64_t> per_task = absl::GetFlag(FLAGS_trials_per_task);
  request->trials_per_task = per_task.value_or(trials.value_or(kTrialsPerTask));
  if (!trials) return;
  if (request->jobs.size() == 1 || *trials == 0) {
    request->trials_per_task = std::min(*trials, request->trials_per_task);
  } else {
    request->trials = *trials;
  }
}

bool IsModel(const Module& module) { return !module.graph_functions.empty(); }

absl::StatusOr<TuneAllRequest> MakeRequest(Module* module) {
  KILN_RETURN_IF_ERROR(CheckFlags());
  TuneAllRequest request;
  KILN_ASSIGN_OR_RETURN(const JobFlags flags, JobFlagValues());
  KILN_ASSIGN_OR_RETURN(request.jobs, LoadJobs(flags, module));
  KILN_ASSIGN_OR_RETURN(request.target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  if (IsModel(*module)) request.model = module;
  SetTrials(&request);
  request.early_stopping = absl::GetFlag(FLAGS_early_stopping);
  request.allocation = absl::GetFlag(FLAGS_allocation);
  request.objective = absl::GetFlag(FLAGS_objective);
  request.guide = GuideFlags();
  const double minutes = absl::GetFlag(FLAGS_minutes);
  if (minutes > 0) request.max_seconds = minutes * 60;
  request.work_dir = CallerPath(absl::GetFlag(FLAGS_work_dir));
  if (const std::string records = absl::GetFlag(FLAGS_records);
      !records.empty()) {
    request.records = CallerPath(records);
  }
  request.inputs = inputs;
  request.stop = Interrupted;
  request.inject_faults = absl::GetFlag(FLAGS_inject_faults);
  return request;
}

absl::Status PrintBest(const Module& module, const TuneOutcome& outcome) {
  if (absl::GetFlag(FLAGS_print_best) == "schedule") {
    std::printf("\n%s\n", outcome.best_trace.c_str());
    return absl::OkStatus();
  }
  Schedule sch(module);
  KILN_RETURN_IF_ERROR(
      RunScript(python::Source("<best>", outcome.best_trace), &sch));
  KILN_ASSIGN_OR_RETURN(const std::string text, CppText(sch.trace()));
  std::printf("\n%s\n", text.c_str());
  return absl::OkStatus();
}

absl::Status PrintOutcome(const Module& module, const TuneOutcome& outcome) {
  if (outcome.best_trace.empty()) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(PrintBest(module, outcome));
  std::printf("best module  %s/best.py, best.pb\n", outcome.task_dir.c_str());
  std::printf("its trace    %s/trace.py\n", outcome.task_dir.c_str());
  std::printf("its code     %s/kernel.o; for C kernel.h, example.c\n",
              outcome.task_dir.c_str());
  std::printf("all trials   %s\n", outcome.database.c_str());
  std::printf("log          %s/tune.log\n", outcome.task_dir.c_str());
  return absl::OkStatus();
}

// The module with all that was tuned, where the tasks are its functions.
absl::Status SaveAssembled(const Module& module, const TuneAllRequest& request,
                           const std::vector<TuneOutcome>& outcomes) {
  const bool is_one = outcomes.size() == 1 && !IsModel(module);
  if (is_one || module.functions.empty()) return absl::OkStatus();
  const Module best = Assemble(module, request.jobs, outcomes);
  KILN_RETURN_IF_ERROR(
      WriteFileAtomically(request.work_dir + "/best.py", PrintModule(best)));
  return WriteFileAtomically(request.work_dir + "/best.pb",
                             SerializeModule(best));
}

// Of several tasks: where things are.
void PrintPlaces(const Module& module, const std::string& work_dir,
                 const std::string& database) {
  if (!module.functions.empty()) {
    std::printf("best module  %s/best.py, best.pb\n", work_dir.c_str());
  }
  std::printf("each task    %s/TASK/best.py, trace.py, kernel.o, tune.log\n",
              work_dir.c_str());
  std::printf("all trials   %s\n", database.c_str());
}

// Replays every run of the log, on one thread and on all.
absl::StatusOr<int> Replay(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string text,
                        ReadFileOrStdin(CallerPath(path)));
  KILN_ASSIGN_OR_RETURN(const auto runs, ParseFlightLog(text));
  const int all = ThreadPool::NumAvailableCpus();
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const int threads : std::set<int>{1, all}) {
      absl::StatusOr<ReplayedRun> run = ReplayRun(runs[i], threads);
      if (!run.ok()) {
        return absl::Status(run.status().code(),
                            absl::StrCat("run ", i + 1, " on ", threads,
                                         " threads: ", run.status().message()));
      }
      std::printf("run %zu, threads %d: %zu tasks, %zu events, all the same\n",
                  i + 1, threads, run->states.size(), run->events);
      if (threads == all) std::printf("%s", ResultTable(run->states).c_str());
    }
  }
  return kExitOk;
}

// What is asked for without a search.
absl::StatusOr<int> Show(const TuneAllRequest& request) {
  ThreadPool pool({.num_threads = 1});
  for (const TuneJob& job : request.jobs) {
    if (absl::GetFlag(FLAGS_print_dag)) {
      std::printf("Computational DAG:\n%s",
                  DagText(*job.module.Find(job.function)).c_str());
    }
    if (!absl::GetFlag(FLAGS_print_space)) continue;
    KILN_ASSIGN_OR_RETURN(
        const std::unique_ptr<PreparedTask> task,
        Prepare(job, request.target, request.guide, Machine(), &pool));
    std::printf("%s: %s", job.name.c_str(), SpaceTable(*task->space).c_str());
  }
  return kExitOk;
}

std::unique_ptr<TuneView> MakeView() {
  if (absl::GetFlag(FLAGS_json)) return JsonView();
  if (absl::GetFlag(FLAGS_verbose) >= 2) return VerboseView();
  return TextView(isatty(STDOUT_FILENO), absl::GetFlag(FLAGS_verbose) == 0);
}

absl::StatusOr<int> Report(const Module& module, const TuneAllRequest& request,
                           const std::vector<TuneOutcome>& outcomes) {
  KILN_RETURN_IF_ERROR(SaveAssembled(module, request, outcomes));
  const bool json = absl::GetFlag(FLAGS_json);
  if (!json && outcomes.size() > 1) {
    PrintPlaces(module, request.work_dir, outcomes[0].database);
  } else if (!json) {
    KILN_RETURN_IF_ERROR(PrintOutcome(request.jobs[0].module, outcomes[0]));
  }
  if (!json && IsModel(module)) {
    std::printf("executable   compile MODULE -o FILE --work-dir %s\n",
                request.work_dir.c_str());
  }
  for (const TuneOutcome& outcome : outcomes) {
    if (!outcome.best_trace.empty() || outcome.state.interrupted) {
      return kExitOk;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("no trial succeeded; the reasons are in ",
                   outcomes[0].task_dir, "/tune.log"));
}

absl::StatusOr<int> Tune() {
  FinishOnInterrupt("tune", "ends after the running trial with what was found");
  if (const std::string log = absl::GetFlag(FLAGS_replay_log); !log.empty()) {
    return Replay(log);
  }
  Module module;
  KILN_ASSIGN_OR_RETURN(const TuneAllRequest request, MakeRequest(&module));
  if (absl::GetFlag(FLAGS_print_dag) || absl::GetFlag(FLAGS_print_space)) {
    return Show(request);
  }
  const std::unique_ptr<TuneView> view = MakeView();
  const bool apply = absl::GetFlag(FLAGS_apply_best);
  KILN_ASSIGN_OR_RETURN(
      const std::vector<TuneOutcome> outcomes,
      apply ? ApplyBest(request) : RunTuneSizes(request, view.get()));
  if (apply) {
    std::vector<TuneState> states;
    for (const TuneOutcome& outcome : outcomes) {
      states.push_back(outcome.state);
    }
    view->End(states);
  }
  return Report(module, request, outcomes);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::workloads = kiln::TakeRepeatedFlag(&argc, argv, "workload");
  kiln::inputs = kiln::TakeRepeatedFlag(&argc, argv, "input");
  return kiln::RunTool(argc, argv, kiln::kUsage + kiln::WorkloadHelp(),
                       kiln::Tune);
}
