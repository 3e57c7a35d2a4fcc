// bazel run //tools:tune -- --workload gmm:1024,1024,1024 --trials 64
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/builtin.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/tuning/guide.h"
#include "kiln/tools/tuning/tune.h"

ABSL_FLAG(std::string, module, "", "module to tune: a path, or - for stdin");
ABSL_FLAG(std::string, func, "", "which function; not needed for a single one");
ABSL_FLAG(std::string, workload, "",
          "named workload to tune, such as gmm:1024,1024,1024");
ABSL_FLAG(std::string, einsum, "",
          "index notation to tune, such as \"C[i,j] += A[i,k] * B[k,j]\"");
ABSL_FLAG(std::string, shape, "", "extents for --einsum: i=512,j=512,k=512");
ABSL_FLAG(std::string, space, "",
          "schedule function that samples, as a file; where none is given, "
          "Kiln makes a space of its own");
ABSL_FLAG(bool, rules, false,
          "search Kiln's own space beside the one that --space gives");
ABSL_FLAG(int64_t, trials, 64, "programs to measure, earlier runs included");
ABSL_FLAG(uint64_t, seed, 0, "of all random choices");
ABSL_FLAG(std::string, search, "evolutionary",
          "how candidates are found: evolutionary or random");
ABSL_FLAG(std::string, model, "boosted",
          "what an evolutionary search asks: boosted (learns), analytic or "
          "random");
ABSL_FLAG(std::string, work_dir, "kiln_work",
          "where the database and the results lie");
ABSL_FLAG(std::string, target, "llvm",
          "what to compile for: llvm [-mcpu=NAME] [-num-cores=N]");
ABSL_FLAG(double, minutes, 0, "stop after this time; 0: no limit");
ABSL_FLAG(bool, json, false, "print events, one JSON object a line");
ABSL_FLAG(bool, inject_faults, false,
          "replace every second kernel by one that crashes, hangs, allocates "
          "without end or computes something else");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Finds the fastest schedule of a tensor function on this machine.\n"
    "  tune --workload gmm:1024,1024,1024 --trials 64\n"
    "  tune --module m.py --func mm_relu [--space space.py] --seed 7\n"
    "  tune --einsum \"C[i,j] += A[i,k] * B[k,j]\" --shape "
    "i=512,j=512,k=512\n"
    "The same command again resumes and measures no program twice.";

// "gmm" of "gmm:1024,1024,1024".
std::string WorkloadName(const std::string& spec) {
  return spec.substr(0, spec.find(':'));
}

// The space that was asked for, or the one built in for a named workload.
absl::StatusOr<std::optional<python::Source>> LoadSpace() {
  const std::string path = absl::GetFlag(FLAGS_space);
  if (!path.empty()) {
    KILN_ASSIGN_OR_RETURN(std::string text, ReadFileOrStdin(CallerPath(path)));
    return python::Source(path, std::move(text));
  }
  const std::string name = WorkloadName(absl::GetFlag(FLAGS_workload));
  if (const char* text = BuiltinSpace(name)) {
    return python::Source(absl::StrCat("<space of ", name, ">"), text);
  }
  return std::nullopt;
}

std::string TaskName(const std::string& func) {
  const std::string workload = absl::GetFlag(FLAGS_workload);
  if (!workload.empty()) return workload;
  return absl::GetFlag(FLAGS_einsum).empty() ? func : "einsum";
}

GuideOptions GuideFlags() {
  return {.search = absl::GetFlag(FLAGS_search),
          .model = absl::GetFlag(FLAGS_model),
          .seed = absl::GetFlag(FLAGS_seed)};
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_trials) < 1) {
    return absl::InvalidArgumentError("--trials has to be at least 1");
  }
  if (!(absl::GetFlag(FLAGS_minutes) >= 0)) {
    return absl::InvalidArgumentError("--minutes has to be a number from 0 on");
  }
  return CheckGuide(GuideFlags());
}

absl::StatusOr<TuneRequest> MakeRequest() {
  KILN_RETURN_IF_ERROR(CheckFlags());
  KILN_ASSIGN_OR_RETURN(
      Module module,
      LoadProgram({absl::GetFlag(FLAGS_module), absl::GetFlag(FLAGS_workload),
                   absl::GetFlag(FLAGS_einsum), absl::GetFlag(FLAGS_shape),
                   absl::GetFlag(FLAGS_func)}));
  KILN_ASSIGN_OR_RETURN(const Function* f,
                        ChooseFunction(module, absl::GetFlag(FLAGS_func)));
  KILN_ASSIGN_OR_RETURN(std::optional<python::Source> space, LoadSpace());
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  const double minutes = absl::GetFlag(FLAGS_minutes);
  const std::string func = f->name;
  return TuneRequest{
      .name = TaskName(func),
      .module = std::move(module),
      .function = func,
      .space = std::move(space),
      .use_rules =
          absl::GetFlag(FLAGS_space).empty() || absl::GetFlag(FLAGS_rules),
      .target = std::move(target),
      .trials = absl::GetFlag(FLAGS_trials),
      .guide = GuideFlags(),
      .max_seconds =
          minutes > 0 ? minutes * 60 : std::numeric_limits<double>::infinity(),
      .work_dir = CallerPath(absl::GetFlag(FLAGS_work_dir)),
      .stop = Interrupted,
      .inject_faults = absl::GetFlag(FLAGS_inject_faults)};
}

void PrintOutcome(const TuneOutcome& outcome) {
  if (outcome.best_trace.empty()) return;
  std::printf("\n%s\n", outcome.best_trace.c_str());
  std::printf("best module  %s/best.py, best.pb\n", outcome.task_dir.c_str());
  std::printf("its trace    %s/trace.py\n", outcome.task_dir.c_str());
  std::printf("its code     %s/kernel.o\n", outcome.task_dir.c_str());
  std::printf("all trials   %s\n", outcome.database.c_str());
  std::printf("log          %s/tune.log\n", outcome.task_dir.c_str());
}

absl::StatusOr<int> Tune() {
  InstallInterruptHandler();
  KILN_ASSIGN_OR_RETURN(TuneRequest request, MakeRequest());
  const bool json = absl::GetFlag(FLAGS_json);
  std::unique_ptr<TuneView> view =
      json ? JsonView() : TextView(isatty(STDOUT_FILENO));
  KILN_ASSIGN_OR_RETURN(TuneOutcome outcome, RunTune(request, view.get()));
  view->Done(outcome.state);
  if (!json) PrintOutcome(outcome);
  if (outcome.state.best || outcome.state.interrupted) return kExitOk;
  return absl::NotFoundError(
      absl::StrCat("no trial succeeded; the reasons are in ", outcome.task_dir,
                   "/tune.log"));
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Tune);
}
