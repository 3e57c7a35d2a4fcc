// Takes the profile of a function of an executable.
#ifndef KILN_TOOLS_GRAPH_MEASURE_PROFILE_H_
#define KILN_TOOLS_GRAPH_MEASURE_PROFILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/value.h"

namespace kiln {

// Runs the function again and again: twice to warm up, then 5 to 100 times, for
// about 0.3 s. Every call gets the median of its times, so that neither the
// first touch of memory nor another program shows; the whole has the median of
// as many runs in between, in which nobody observes calls. Errors are those of
// the machine; kFailedPrecondition where runs on equal arguments differ in what
// they call, as those of packed functions with a memory of their own may.
absl::StatusOr<Profile> MeasureProfile(
    const std::shared_ptr<const vm::LoadedExecutable>& loaded,
    const vm::FunctionTable& functions, const KernelHost& host,
    const std::string& function, const std::vector<vm::Value>& args);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_MEASURE_PROFILE_H_
