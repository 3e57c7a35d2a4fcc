// bazel run //examples/models:write -- resnet50 -o resnet50.pb
//
// Writes a model as a serialized module, which opt, compile, run and tune read.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/examples/models/catalog.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/model_flags.h"
#include "kiln/examples/models/weights.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/ndarray/npz.h"

ABSL_FLAG(std::string, output, "", "The module to write; also -o.");
ABSL_FLAG(std::string, params, "",
          "An .npz file for the weights, which are then parameters of the "
          "function and no constants of the module.");

namespace kiln::models {
namespace {

const char kUsage[] =
    "Writes a model with weights drawn by a seed:\n"
    "  write resnet50 -o resnet50.pb [--batch n] [--seed 1]\n"
    "  write bert-base -o bert.pb --params bert.npz\n"
    "Exit status: 0; 1 for an error.\n";

std::vector<std::string> names;

absl::Status CheckOutput(const std::string& output) {
  if (!output.empty() && output != "-") return absl::OkStatus();
  return absl::InvalidArgumentError(
      "-o has to name the file to write: write resnet50 -o resnet50.pb");
}

absl::StatusOr<int> Write() {
  const std::string output = absl::GetFlag(FLAGS_output);
  const std::string params = absl::GetFlag(FLAGS_params);
  KILN_ASSIGN_OR_RETURN(ModelOfFlags model, ReadModelFlags(names));
  KILN_RETURN_IF_ERROR(CheckOutput(output));
  model.options.weights_are_params = !params.empty();
  Weights weights(model.seed);
  KILN_ASSIGN_OR_RETURN(const Module module,
                        ToModule(model.net, weights, model.options));
  if (!params.empty()) {
    KILN_ASSIGN_OR_RETURN(const auto all, weights.All(model.net));
    KILN_RETURN_IF_ERROR(WriteNpz(all, CallerPath(params)));
  }
  KILN_RETURN_IF_ERROR(
      WriteFileAtomically(CallerPath(output), SerializeModule(module)));
  std::printf("%s: %zu layers, %.1f million parameters, %.2f GFLOP\n",
              output.c_str(), model.net.nodes().size(),
              static_cast<double>(model.net.NumParameters()) * 1e-6,
              model.net.Flop() * 1e-9);
  return kExitOk;
}

}  // namespace
}  // namespace kiln::models

int main(int argc, char** argv) {
  const std::vector<std::string> outputs =
      kiln::TakeRepeatedFlag(&argc, argv, "o");
  if (!outputs.empty()) absl::SetFlag(&FLAGS_output, outputs.back());
  return kiln::RunTool(argc, argv,
                       kiln::models::kUsage + kiln::models::ModelHelp(),
                       kiln::models::Write, &kiln::models::names);
}
