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
  kExitError = 1,     // bad input, or what failed; the message says which
  kExitMismatch = 2,  // what was computed is not what was expected
  kExitRefused = 3,   // a schedule step was refused
  // Plus the number of the signal: 130 after Ctrl-C, 143 after SIGTERM.
  kExitSignal = 128,
};

// Ctrl-C and SIGTERM are answered with a line on standard error that says what
// the tool does now, as in "tune: interrupted, ends after the running trial",
// and base/interrupt.h tells that they came; a second one ends the tool at
// once. RunTool then gives kExitSignal and the signal, whatever the body says.
// Tools that never call it end at the first one, as is usual.
void FinishOnInterrupt(std::string_view tool, std::string_view what);

// Values of a flag that may stand several times: every `--name V` and
// `--name=V`, taken out of argv in order. Call before RunTool.
std::vector<std::string> TakeRepeatedFlag(int* argc, char** argv,
                                          std::string_view name);

// Parses the flags (flags.h), runs `body` and prints its error, or that of the
// flags, as "NAME: MESSAGE". The body gives the exit status. --help prints
// `usage` and the flags, --version the versions; both end with kExitOk.
int RunTool(int argc, char** argv, const std::string& usage,
            absl::StatusOr<int> (*body)(),
            std::vector<std::string>* positional = nullptr);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_MAIN_H_
