// run_model model.so --input @x.npy
//
// `run` for compiled models alone: it has no compiler in it, so it starts at
// once and needs nothing of LLVM.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/graph/run_graph.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/tolerances.h"
#include "kiln/vm/machine/loaded_executable.h"

ABSL_FLAG(std::string, func, "", "The function to run, if there are several.");
ABSL_FLAG(uint64_t, seed, 0, "Of random inputs.");
ABSL_FLAG(int, threads, 0, "Threads of parallel loops; 0: all processors.");
ABSL_FLAG(double, rtol, -1,
          "Relative tolerance of --expect. By default 1e-5, more for 16-bit "
          "floats and less for float64.");
ABSL_FLAG(double, atol, -1,
          "Absolute tolerance of --expect. By default rtol times the root mean "
          "square of what is expected.");
ABSL_FLAG(bool, time, false, "Measures the call and prints the figures.");
ABSL_FLAG(std::string, params, "",
          "An .npz file with arguments, by the names of parameters.");
ABSL_FLAG(std::string, profile, "",
          "How long each call in it takes, the median of several runs, as a "
          "table, as json (for report --profile), or for chrome "
          "(chrome://tracing).");

namespace kiln {
namespace {

constexpr char kUsage[] =
    "Runs a compiled model:\n"
    "  run_model model.so --input @x.npy [--expect @y.npy] [--output @o.npy] "
    "[--time]\n"
    "The model is what compile wrote, model.so or model.kiln. All flags are as "
    "run has them.\n"
    "Exit status: 0; 1 for an error; 2 where what was computed is not what "
    "--expect expects.";

// Flags that may stand several times.
std::vector<std::string> inputs, expectations, outputs, libraries;

std::vector<std::string> models;

GraphRunRequest Request() {
  GraphRunRequest request;
  request.func = absl::GetFlag(FLAGS_func);
  request.inputs = inputs;
  request.expectations = expectations;
  request.outputs = outputs;
  request.libraries = libraries;
  request.params = absl::GetFlag(FLAGS_params);
  request.seed = absl::GetFlag(FLAGS_seed);
  request.threads = absl::GetFlag(FLAGS_threads);
  request.rtol = absl::GetFlag(FLAGS_rtol);
  request.atol = absl::GetFlag(FLAGS_atol);
  request.time = absl::GetFlag(FLAGS_time);
  request.profile = absl::GetFlag(FLAGS_profile);
  return request;
}

absl::StatusOr<int> Run() {
  KILN_RETURN_IF_ERROR(CheckTolerance("rtol", absl::GetFlag(FLAGS_rtol)));
  KILN_RETURN_IF_ERROR(CheckTolerance("atol", absl::GetFlag(FLAGS_atol)));
  const int threads = absl::GetFlag(FLAGS_threads);
  if (threads < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads ", threads, " has to be 0 or more"));
  }
  if (models.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("one model is run at a time, not ", models.size(),
                     ": run_model model.so --input @x.npy"));
  }
  KILN_ASSIGN_OR_RETURN(const auto loaded,
                        vm::LoadedExecutable::Open(CallerPath(models[0])));
  return RunGraph(loaded, Request());
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::inputs = kiln::TakeRepeatedFlag(&argc, argv, "input");
  kiln::expectations = kiln::TakeRepeatedFlag(&argc, argv, "expect");
  kiln::outputs = kiln::TakeRepeatedFlag(&argc, argv, "output");
  kiln::libraries = kiln::TakeRepeatedFlag(&argc, argv, "library");
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run, &kiln::models);
}
