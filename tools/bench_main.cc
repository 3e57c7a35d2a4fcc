// bazel run //tools:bench -- --suite ansor --threads 1,2
//
// A comparison is fair only if each side runs as well as it can. So before main
// proper the program starts itself again, with an environment in which nothing
// steers the libraries, and once more where OpenBLAS has chosen kernels below
// the processor; with a --target below the machine, so that the libraries stay
// below it, too. Then every case runs on every number of threads:
//
//   one case  →  contenders in order: libraries, naive, Kiln not tuned, Kiln
//             →  the same result from each, then times in turns  →  its rows
//
// and the means of all cases come last. A contender gets a line in
// AllContenders.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/environment.h"
#include "kiln/tools/rivals/library_state.h"
#include "kiln/tools/rivals/match.h"
#include "kiln/tools/rivals/models.h"
#include "kiln/tools/rivals/op_case.h"
#include "kiln/tools/rivals/scores.h"
#include "kiln/tools/rivals/suite.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/program.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, suite, "gemm",
          "what to measure: gemm (products), ansor (13 operators with 4 shapes "
          "each), or models (the layers of 13 models)");
ABSL_FLAG(std::string, shapes,
          "128x128x128,256x256x256,512x512x512,1024x1024x1024,2048x2048x2048,"
          "128x768x3072,512x512x32,49x512x4608",
          "m x n x k of each product of --suite gemm");
ABSL_FLAG(std::string, only, "",
          "of --suite ansor and models, these operators (c2d,dep) or models "
          "(resnet50), or these cases (\"c2d:56,56,64,64,1,1,0;dep\")");
ABSL_FLAG(std::string, half, "both",
          "of --suite models: both, seen (while Kiln is made faster), or "
          "held-out");
constexpr char kDefaultThreads[] = "1,2";
ABSL_FLAG(std::string, threads, kDefaultThreads,
          "how many threads, one run for each; as many as there are CPUs at "
          "most");
ABSL_FLAG(int64_t, trials, 64,
          "of Kiln's tuning, for each case; 0: default schedules alone");
ABSL_FLAG(std::string, work_dir, "kiln_bench",
          "where Kiln's tuned kernels are kept: a second run tunes no more");
ABSL_FLAG(int, repetitions, 50, "of each measurement, in random turns");
ABSL_FLAG(double, seconds, 0.004, "that one repetition takes at least");
ABSL_FLAG(
    std::string, target, "llvm",
    "what Kiln compiles for, such as \"llvm -mcpu=haswell\"; the libraries "
    "and the peak then use no more than its instruction set");
ABSL_FLAG(bool, json, false, "print one JSON object a line");

namespace kiln {
namespace {

using bench::CaseScores;
using bench::Contenders;
using bench::SuiteCase;

constexpr char kUsage[] =
    "Measures Kiln beside OpenBLAS and oneDNN in one run.\n"
    "  bench --suite gemm --threads 1,2 [--shapes 512x512x512] [--json]\n"
    "  bench --suite ansor --threads 1,2 [--only c2d,dep] [--json]\n"
    "  bench --suite models --threads 1,2 [--only resnet50,dep] "
    "[--half seen]\n"
    "  bench --suite ansor --target \"llvm -mcpu=haswell\"\n"
    "All contenders compute the same before they are timed. Those called "
    "normwise, of products, may make errors that are small beside the largest "
    "elements only. The peak is "
    "measured in turns with them; the roofline takes each tensor to move once, "
    "at the bandwidth of the nearest level that holds them all.\n"
    "Exit status: 0; 1 for an error; 130 after Ctrl-C, 143 after SIGTERM.";

absl::StatusOr<std::vector<int>> ParseThreads() {
  const std::string text = absl::GetFlag(FLAGS_threads);
  std::vector<int> threads;
  for (const auto part : absl::StrSplit(text, ',')) {
    int count;
    if (!absl::SimpleAtoi(part, &count) || count < 1 || count > 4096) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--threads: \"", text, "\" is not what is wanted, such as 1,2"));
    }
    if (count > ThreadPool::NumAvailableCpus()) {
      // By default as many as there are.
      if (text == kDefaultThreads && !threads.empty()) break;
      return absl::InvalidArgumentError(
          absl::StrCat("--threads ", count,
                       ": every thread is tied to a CPU, and this "
                       "process may use ",
                       ThreadPool::NumAvailableCpus()));
    }
    threads.push_back(count);
  }
  return threads;
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_trials) < 0) {
    return absl::InvalidArgumentError("--trials has to be at least 0");
  }
  if (absl::GetFlag(FLAGS_repetitions) < 1) {
    return absl::InvalidArgumentError("--repetitions has to be at least 1");
  }
  const double seconds = absl::GetFlag(FLAGS_seconds);
  if (!(seconds > 0 && seconds <= 60)) {
    return absl::InvalidArgumentError(
        "--seconds has to be above 0, and 60 at most");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SuiteCase>> ChosenSuite() {
  const std::string suite = absl::GetFlag(FLAGS_suite);
  const std::string only = absl::GetFlag(FLAGS_only);
  KILN_ASSIGN_OR_RETURN(const bench::Half half,
                        bench::ParseHalf(absl::GetFlag(FLAGS_half)));
  if (suite == "models") return bench::ModelSuite(only, half);
  if (half != bench::Half::kBoth) {
    return absl::InvalidArgumentError("--half goes with --suite models");
  }
  if (suite == "ansor") return bench::AnsorSuite(only);
  if (suite != "gemm") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--suite ", suite, " is not known; there are gemm, ansor and models"));
  }
  if (!only.empty()) {
    return absl::InvalidArgumentError(
        "--only goes with --suite ansor and models; --suite gemm has --shapes");
  }
  return bench::GemmSuite(absl::GetFlag(FLAGS_shapes));
}

// The arguments of this program, to start it again with.
char** arguments = nullptr;

bool IsLimited() { return absl::GetFlag(FLAGS_target) != "llvm"; }

// What all contenders may use.
bench::IsaLevel IsaOf(const Target& target) {
  return IsLimited() ? bench::IsaOf(target.machine.vectors, target.fma)
                     : bench::HostIsa();
}

// That of --target. Starts the program again where the libraries would use
// more.
absl::StatusOr<Target> ChosenTarget() {
  KILN_ASSIGN_OR_RETURN(const Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_RETURN_IF_ERROR(CheckRunsHere(target));
  if (IsLimited()) {
    KILN_RETURN_IF_ERROR(bench::RestartWith(
        arguments, bench::LimitedTo(IsaOf(target)),
        "the libraries use no more than the target's instructions"));
  }
  return target;
}

// Whether the library may be compared; tells on stderr where it may not.
bool IsComparable(const bench::LibraryState& state, bench::IsaLevel isa) {
  absl::Status status = bench::CheckRunsAt(isa, state);
  if (status.ok() && IsLimited()) status = CheckIsLimitedTo(isa, state);
  if (!status.ok()) {
    std::fprintf(stderr, "bench: %s\n", std::string(status.message()).c_str());
  }
  return status.ok();
}

// Libraries first: the results of the first are the measure of the others.
Contenders AllContenders(const Target& target, const Machine& machine) {
  const bench::KilnOptions options{absl::GetFlag(FLAGS_trials),
                                   CallerPath(absl::GetFlag(FLAGS_work_dir)),
                                   Interrupted, target};
  const bench::IsaLevel isa = IsaOf(target);
  Contenders all;
  if (IsComparable(bench::OneDnnState(), isa)) {
    all.push_back(bench::OneDnn(false));
    all.push_back(bench::OneDnn(true));
  }
  if (IsComparable(bench::OpenBlasState(), isa)) {
    all.push_back(bench::OpenBlas());
    all.push_back(bench::OpenBlasNormByProduct());
  }
  all.push_back(bench::Naive("cap,nrm", target));
  all.push_back(bench::KilnByDefault(target, machine));
  if (options.trials > 0) {
    for (const bool normwise : {false, true}) {
      for (const bool packs_ahead : {false, true}) {
        all.push_back(bench::Kiln(options, {packs_ahead, normwise}));
      }
    }
  }
  return all;
}

void Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void PrintSetup(const Machine& machine, bench::IsaLevel isa, bool json) {
  const std::vector<bench::LibraryState> states = {bench::OneDnnState(),
                                                   bench::OpenBlasState()};
  const auto text = json ? bench::JsonSetup : bench::SetupLines;
  Print(text(machine, isa, states));
}

// Of a suite of models, each half apart, and the models' totals.
void PrintMeans(const std::vector<CaseScores>& all, bool json) {
  const std::vector<bench::Mean> means = bench::Means(all);
  Print(json ? bench::JsonMeans(means) : "\n" + bench::MeanLines(means));
  if (absl::GetFlag(FLAGS_suite) != "models") return;
  for (const bench::Half half : {bench::Half::kSeen, bench::Half::kHeldOut}) {
    std::vector<CaseScores> of_half;
    absl::c_copy_if(all, std::back_inserter(of_half), [&](const auto& found) {
      return bench::HalfOf(absl::StrCat(found.workload, ":", found.shape)) ==
             half;
    });
    if (json || of_half.empty()) continue;
    Print(half == bench::Half::kSeen ? "\nLayers that are seen:\n"
                                     : "\nLayers that are held out:\n");
    Print(bench::MeanLines(bench::Means(of_half)));
  }
  const std::vector<bench::ModelTotal> totals = bench::TotalsOf(all);
  Print(json ? bench::JsonTotals(totals) : "\n" + bench::TotalLines(totals));
}

// Restarts until the libraries run as well as they can here.
absl::Status BringLibrariesToTheirBest() {
  KILN_RETURN_IF_ERROR(bench::RestartUnsteered(arguments));
  const std::string core =
      bench::BetterOpenBlasCore(bench::HostIsa(), bench::OpenBlasState());
  if (core.empty() || bench::HasChosenSettings()) return absl::OkStatus();
  return bench::RestartWith(arguments,
                            {absl::StrCat("OPENBLAS_CORETYPE=", core)},
                            "OpenBLAS has chosen kernels below the processor");
}

absl::StatusOr<int> Bench() {
  KILN_RETURN_IF_ERROR(BringLibrariesToTheirBest());
  FinishOnInterrupt("bench", "ends after the running operator");
  KILN_RETURN_IF_ERROR(CheckFlags());
  KILN_ASSIGN_OR_RETURN(const std::vector<SuiteCase> suite, ChosenSuite());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> threads, ParseThreads());
  KILN_ASSIGN_OR_RETURN(const Target target, ChosenTarget());
  ThreadPool pool;
  const Machine machine = MeasuredMachine(target);
  const Contenders contenders = AllContenders(target, machine);
  const bool json = absl::GetFlag(FLAGS_json);
  const bench::RoundOptions rounds{absl::GetFlag(FLAGS_repetitions),
                                   absl::GetFlag(FLAGS_seconds)};
  PrintSetup(machine, IsaOf(target), json);
  if (!json) Print(bench::TableHeader());
  std::vector<CaseScores> all;
  for (int count : threads) {
    for (const SuiteCase& one : suite) {
      if (Interrupted()) return kExitError;
      KILN_ASSIGN_OR_RETURN(const bench::OpCase op,
                            bench::MakeOpCase(one.workload, one.dims, count));
      KILN_ASSIGN_OR_RETURN(
          all.emplace_back(),
          bench::RunMatch(op, contenders, machine, pool, rounds));
      Print(json ? bench::JsonRows(all.back()) : bench::TableRows(all.back()));
    }
  }
  PrintMeans(all, json);
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::arguments = argv;
  return kiln::RunTool(argc, argv, kiln::kUsage + kiln::WorkloadHelp(),
                       kiln::Bench);
}
