// The command line as ABSL_FLAGs, whose names are written with dashes.
#ifndef KILN_TOOLS_SUPPORT_FLAGS_H_
#define KILN_TOOLS_SUPPORT_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

// What a command line asks for.
enum class CommandLineRequest { kRun, kHelp, kVersion };

// Sets the flags that argv names: --name VALUE, --name=VALUE, --name and
// --noname for booleans. Underscores stand for dashes. An error names what is
// no flag, has no value or has one that does not fit. --help and --version are
// for the caller, and end the reading. What is no flag is an error, or goes to
// `positional` where that is not null.
absl::StatusOr<CommandLineRequest> ParseFlags(
    int argc, char** argv, std::vector<std::string>* positional = nullptr);

// The first of `names` whose flag has another value than its default; empty
// where all have theirs, and for names that are no flags.
std::string FirstGiven(absl::Span<const char* const> names);

// `usage` and a list of the flags of this tool with their default values, in
// lines of at most 80 columns but where `usage` has longer ones.
std::string HelpText(const std::string& usage);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_FLAGS_H_
