// bazel run //examples/mlp
//
// A classifier of drawn images, 784-128-10, in six ways: as its loops are
// written, over functions of a library, with one layer tuned among functions of
// the library, fused, and fused and tuned. All name the same classes; the times
// stand side by side:
//
//   model        kernels                            right    us   of library
//   written.py   as written                       298/300   230        20.1
//   library.py   OpenBLAS                         298/300  11.4        1.00
//   ...
#include "kiln/tools/support/main.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/tuning/put_back.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/machine/packed_library.h"
#include "kiln/vm/ndarray/npz.h"
#include "kiln/vm/profile/time_evaluator.h"

ABSL_FLAG(int64_t, trials, 64,
          "How many schedules are measured of each function that is tuned, "
          "those of earlier runs included.");
ABSL_FLAG(std::string, work_dir, "/tmp/kiln_mlp",
          "Where records of tuning are kept; a later run goes on from them.");
ABSL_FLAG(std::string, target, "llvm", "What to generate code for.");

namespace kiln {
namespace {

using Arrays = std::map<std::string, NDArray>;

constexpr char kFolder[] = "examples/mlp/";
constexpr int64_t kPixels = 784;
constexpr int kRounds = 5;

constexpr char kUsage[] =
    "Runs a classifier of images in six ways, side by side:\n"
    "  bazel run //examples/mlp [-- --trials 64] [--work-dir DIR]\n"
    "Exit status: 0; 1 for an error; 2 where two ways disagree.";

enum class Schedules { kWritten, kDefault, kTuned };

struct Way {
  const char* model;
  const char* kernels;  // for people
  Fusion fusion = Fusion::kNone;
  Schedules schedules = Schedules::kWritten;
};

constexpr Way kWays[] = {
    {"written.py", "as written"},
    {"library.py", "OpenBLAS"},
    {"mixed.py", "OpenBLAS, linear0 as written"},
    {"mixed.py", "OpenBLAS, linear0 tuned", Fusion::kNone, Schedules::kTuned},
    {"written.py", "fused", Fusion::kByPattern, Schedules::kDefault},
    {"written.py", "fused and tuned", Fusion::kByPattern, Schedules::kTuned},
};
constexpr int kLibraryWay = 1;

std::vector<int64_t> ShapeOf(const NDArray& array) {
  return {array.shape().begin(), array.shape().end()};
}

absl::StatusOr<graph::Expr> ConstantOf(const NDArray& array) {
  const std::string_view bytes(array.data_as<char>(), array.bytes());
  KILN_ASSIGN_OR_RETURN(Blob data, Blob::Copy(bytes));
  return graph::Expr(
      new graph::ConstantNode(array.dtype(), ShapeOf(array), std::move(data)));
}

// The model of a file with its weights as constants.
absl::StatusOr<Module> LoadModel(const std::string& file,
                                 const Arrays& weights) {
  const std::string path = absl::StrCat(kFolder, "models/", file);
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule(path, text));
  std::map<std::string, graph::Expr> constants;
  for (const auto& [name, array] : weights) {
    KILN_ASSIGN_OR_RETURN(constants[name], ConstantOf(array));
  }
  return BindParams(module, "main", constants);
}

absl::StatusOr<TunedModule> Tuned(const Module& module, const Target& target) {
  TuneAllRequest request;
  request.jobs = Merge(JobsOf(module));
  request.target = target;
  request.trials_per_task = absl::GetFlag(FLAGS_trials);
  request.work_dir = CallerPath(absl::GetFlag(FLAGS_work_dir));
  request.stop = Interrupted;
  const auto view = TextView(/*is_terminal=*/false);
  KILN_RETURN_IF_ERROR(RunTuneAll(request, view.get()).status());
  if (Interrupted()) {
    return absl::CancelledError("interrupted; the same command goes on");
  }
  KILN_ASSIGN_OR_RETURN(const auto database, OpenTuned(request.work_dir));
  return PutBackBest(module, *database, target);
}

absl::StatusOr<vm::Executable> Compiled(const Way& way, const Arrays& weights,
                                        const Target& target) {
  KILN_ASSIGN_OR_RETURN(const Module model, LoadModel(way.model, weights));
  KILN_ASSIGN_OR_RETURN(const Module prepared,
                        PrepareModel(model, {.fusion = way.fusion}));
  if (way.schedules != Schedules::kTuned) {
    const bool is_written = way.schedules == Schedules::kWritten;
    return CompileModel(
        prepared, target,
        is_written ? KeepSchedules() : DefaultSchedules(target));
  }
  KILN_ASSIGN_OR_RETURN(TunedModule tuned, Tuned(prepared, target));
  return CompileModel(tuned.module, target,
                      KeepTuned(tuned.tuned, DefaultSchedules(target)));
}

// Images of bytes, each as the model was trained on it: (1, 784) from 0 to 1.
absl::StatusOr<std::vector<NDArray>> Scaled(const NDArray& images) {
  std::vector<NDArray> scaled;
  const uint8_t* pixels = images.data_as<uint8_t>();
  for (int64_t i = 0; i < images.num_elements(); i += kPixels) {
    KILN_ASSIGN_OR_RETURN(NDArray image,
                          NDArray::Empty({1, kPixels}, DType::Float(32)));
    for (int64_t j = 0; j < kPixels; ++j) {
      image.data_as<float>()[j] = pixels[i + j] / 255.0f;
    }
    scaled.push_back(std::move(image));
  }
  return scaled;
}

struct Result {
  std::vector<int64_t> classes;  // of each image
  double us = std::numeric_limits<double>::infinity();
};

absl::Status Classify(vm::Machine& machine, const std::vector<NDArray>& images,
                      Result& result) {
  for (const NDArray& image : images) {
    KILN_ASSIGN_OR_RETURN(const vm::Value value, machine.Call("main", {image}));
    const auto scores = std::get<NDArray>(value).elements<float>();
    result.classes.push_back(std::max_element(scores.begin(), scores.end()) -
                             scores.begin());
  }
  return absl::OkStatus();
}

// The best of several rounds, in which the ways take turns.
absl::Status TimeAll(const std::vector<std::unique_ptr<vm::Machine>>& machines,
                     const NDArray& image, std::vector<Result>& results) {
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < machines.size(); ++i) {
      const auto call = [&] {
        return machines[i]->Call("main", {image}).status();
      };
      KILN_ASSIGN_OR_RETURN(const TimeResult time, MeasureTime(call));
      results[i].us = std::min(results[i].us, time.median_us);
    }
  }
  return absl::OkStatus();
}

void Print(const std::vector<Result>& results, const NDArray& labels) {
  std::printf("\n%-12s %-30s %8s %9s %11s\n", "model", "kernels", "right", "us",
              "of library");
  const auto truth = labels.elements<int64_t>();
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    int right = 0;
    for (size_t k = 0; k < truth.size(); ++k) {
      right += result.classes[k] == truth[k];
    }
    std::printf("%-12s %-30s %4d/%3zu %9.2f %11.2f\n", kWays[i].model,
                kWays[i].kernels, right, truth.size(), result.us,
                result.us / results[kLibraryWay].us);
  }
}

absl::StatusOr<int> Run() {
  KILN_ASSIGN_OR_RETURN(const Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_ASSIGN_OR_RETURN(const Arrays weights,
                        ReadNpz(absl::StrCat(kFolder, "data/weights.npz")));
  KILN_ASSIGN_OR_RETURN(const Arrays tests,
                        ReadNpz(absl::StrCat(kFolder, "data/test.npz")));
  KILN_ASSIGN_OR_RETURN(const std::vector<NDArray> images,
                        Scaled(tests.at("images")));
  KILN_ASSIGN_OR_RETURN(
      const vm::FunctionTable functions,
      vm::OpenPackedLibrary(absl::StrCat(kFolder, "libmlp_functions.so")));
  FinishOnInterrupt("mlp", "ends after the running trial");
  ThreadPool pool;
  const KernelHost host(&pool);
  std::vector<std::unique_ptr<vm::Machine>> machines;
  std::vector<Result> results;
  for (const Way& way : kWays) {
    KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                          Compiled(way, weights, target));
    machines.emplace_back();
    KILN_ASSIGN_OR_RETURN(
        machines.back(),
        vm::Machine::Create(std::move(executable), functions, &host));
    results.emplace_back();
    KILN_RETURN_IF_ERROR(Classify(*machines.back(), images, results.back()));
  }
  KILN_RETURN_IF_ERROR(TimeAll(machines, images[0], results));
  Print(results, tests.at("labels"));
  for (const Result& result : results) {
    if (result.classes != results[0].classes) return kExitMismatch;
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run);
}
