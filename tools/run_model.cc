// run_model model.so --input @x.npy
//
// `run` for compiled models alone: it has no compiler in it, so it starts at
// once and needs nothing of LLVM.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/graph/run_flags.h"
#include "kiln/tools/graph/run_graph.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/machine/loaded_executable.h"

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

RepeatedRunFlags repeated;
std::vector<std::string> models;

absl::StatusOr<int> Run() {
  KILN_RETURN_IF_ERROR(CheckRunFlags());
  if (models.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("one model is run at a time, not ", models.size(),
                     ": run_model model.so --input @x.npy"));
  }
  KILN_ASSIGN_OR_RETURN(const auto loaded,
                        vm::LoadedExecutable::Open(CallerPath(models[0])));
  return RunGraph(loaded, GraphRequestOfFlags(repeated));
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::repeated = kiln::TakeRepeatedRunFlags(&argc, argv);
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Run, &kiln::models);
}
