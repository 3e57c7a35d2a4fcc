// An environment in which libraries choose for themselves how to run.
#ifndef KILN_TOOLS_RIVALS_ENVIRONMENT_H_
#define KILN_TOOLS_RIVALS_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kiln::bench {

// Whether a variable of this name changes how a library of linear algebra, its
// threads or the memory it asks for behave: OPENBLAS_CORETYPE, LD_PRELOAD.
bool SteersLibraries(std::string_view variable);

// Set where this program has started itself again with settings of libraries:
// these, with spaces between them.
inline constexpr char kChosenSettings[] = "KILN_BENCH_SETTINGS";

// "NAME=VALUE" entries, in order. Settings that kChosenSettings has are kept.
struct SplitEnvironment {
  std::vector<std::string> kept, dropped;
};
// `entries` ends with a null pointer, as `environ` does.
SplitEnvironment WithoutSteering(const char* const* entries);

// Starts this program again, with the same arguments, where its environment
// steers libraries, and without the variables that do, which it names on
// stderr: libraries read them before main runs. Returns where there are none;
// the error is that of the system.
absl::Status RestartUnsteered(char** argv);

// Whether this program was started again by RestartWith.
bool HasChosenSettings();

// Starts this program again with `settings`, "NAME=VALUE" each, and says so and
// why on stderr; returns where it already runs so.
absl::Status RestartWith(char** argv, const std::vector<std::string>& settings,
                         const std::string& why);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_ENVIRONMENT_H_
