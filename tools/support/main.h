// What every tool's main does alike.
#ifndef KILN_TOOLS_SUPPORT_MAIN_H_
#define KILN_TOOLS_SUPPORT_MAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// Exit statuses of all tools.
enum ExitStatus {
  kExitOk = 0,
  kExitError = 1,    // bad input, a failed check; the message says which
  kExitRefused = 3,  // a schedule step was refused
};

// Values of a flag that may stand several times: every `--name V` and
// `--name=V`, taken out of argv in order. Call before RunTool.
std::vector<std::string> TakeRepeatedFlag(int* argc, char** argv,
                                          std::string_view name);

// Parses the flags, refuses arguments that are none, runs `body` and prints its
// error as "NAME: MESSAGE". Unknown flags and values end the program with
// status 1 and a message of their own. The body gives the exit status.
int RunTool(int argc, char** argv, const std::string& usage,
            absl::StatusOr<int> (*body)());

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_MAIN_H_
