// machine: what this machine can do, measured once and stored.
#include "kiln/base/machine.h"

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/profile/machine_constants.h"

ABSL_FLAG(std::string, output, "",
          "the file to store the constants in; default: where `tune` looks for "
          "them ($KILN_MACHINE, or kiln/machine-ID.json in the user's cache)");
ABSL_FLAG(bool, json, false, "print one JSON object instead of the table");
ABSL_FLAG(bool, show, false, "print what is stored, and measure nothing");

namespace kiln {
namespace {

absl::StatusOr<int> Run() {
  const std::string flag = absl::GetFlag(FLAGS_output);
  const std::string path =
      flag.empty() ? DefaultMachinePath() : CallerPath(flag);
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "no place to store the constants: neither HOME nor XDG_CACHE_HOME nor "
        "KILN_MACHINE is set; name a file with --output");
  }
  Machine machine;
  if (absl::GetFlag(FLAGS_show)) {
    KILN_ASSIGN_OR_RETURN(machine, LoadMachine(path));
  } else {
    ThreadPool pool(ThreadPool::OneForEachCpu(0));
    machine = MeasureMachine(pool, {.runs = 9, .run_us = 5000});
    KILN_RETURN_IF_ERROR(SaveMachine(machine, path));
  }
  if (absl::GetFlag(FLAGS_json)) {
    std::printf("%s\n", MachineToJson(machine).c_str());
  } else {
    std::printf("%sstored in %s\n", MachineTable(machine).c_str(),
                path.c_str());
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(
      argc, argv,
      "machine: Measures what this machine can do, prints it and stores it for "
      "the estimates of `tune`.\n"
      "  machine          measures, a second or two\n"
      "  machine --show   prints what is stored\n"
      "Exit status: 0; 1 for an error.",
      &kiln::Run);
}
