#include "kiln/tools/graph/run_flags.h"

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/tolerances.h"

ABSL_FLAG(std::string, func, "", "The function to run, if there are several.");
ABSL_FLAG(uint64_t, seed, 0, "Of random inputs and of open samples.");
ABSL_FLAG(int, threads, 0,
          "Threads of parallel loops; 0: the target's cores, of a compiled "
          "model all processors.");
ABSL_FLAG(double, rtol, -1,
          "Relative tolerance of --expect and --check. By default 1e-5, more "
          "for 16-bit floats and less for float64.");
ABSL_FLAG(double, atol, -1,
          "Absolute tolerance of --expect and --check. By default rtol times "
          "the root mean square of what is expected, since sums that nearly "
          "cancel have the errors of their terms, and of fewer than 32 sums "
          "more, since all may nearly cancel; where the program allows "
          "normwise errors, ten times rtol of the largest element.");
ABSL_FLAG(bool, time, false, "Measures the call and prints the figures.");
ABSL_FLAG(std::string, params, "",
          "An .npz file with arguments of a graph function, by the names of "
          "its parameters.");
ABSL_FLAG(std::string, profile, "",
          "Of a graph function: how long each call in it takes, the median of "
          "several runs, as a table, as json (for report --profile), or for "
          "chrome (chrome://tracing).");

namespace kiln {
namespace {

// As many as a target may have cores.
constexpr int kMostThreads = 1024;

}  // namespace

RepeatedRunFlags TakeRepeatedRunFlags(int* argc, char** argv) {
  RepeatedRunFlags flags;
  flags.inputs = TakeRepeatedFlag(argc, argv, "input");
  flags.expectations = TakeRepeatedFlag(argc, argv, "expect");
  flags.outputs = TakeRepeatedFlag(argc, argv, "output");
  flags.libraries = TakeRepeatedFlag(argc, argv, "library");
  return flags;
}

absl::Status CheckRunFlags() {
  KILN_RETURN_IF_ERROR(CheckTolerance("rtol", absl::GetFlag(FLAGS_rtol)));
  KILN_RETURN_IF_ERROR(CheckTolerance("atol", absl::GetFlag(FLAGS_atol)));
  const int threads = absl::GetFlag(FLAGS_threads);
  if (threads >= 0 && threads <= kMostThreads) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--threads ", threads,
                   " has to be from 0 (the target's cores) to ", kMostThreads));
}

GraphRunRequest GraphRequestOfFlags(const RepeatedRunFlags& repeated) {
  GraphRunRequest request;
  request.func = absl::GetFlag(FLAGS_func);
  request.inputs = repeated.inputs;
  request.expectations = repeated.expectations;
  request.outputs = repeated.outputs;
  request.libraries = repeated.libraries;
  request.params = absl::GetFlag(FLAGS_params);
  request.seed = absl::GetFlag(FLAGS_seed);
  request.threads = absl::GetFlag(FLAGS_threads);
  request.rtol = absl::GetFlag(FLAGS_rtol);
  request.atol = absl::GetFlag(FLAGS_atol);
  request.time = absl::GetFlag(FLAGS_time);
  request.profile = absl::GetFlag(FLAGS_profile);
  return request;
}

}  // namespace kiln
