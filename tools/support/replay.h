// Schedules from files.
#ifndef KILN_TOOLS_SUPPORT_REPLAY_H_
#define KILN_TOOLS_SUPPORT_REPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Carries out the schedule function or printed trace in the file `path`
// (relative to the caller; "-" is stdin) on `module`. Samples without a
// decision are drawn with `seed`. Errors point into the file; IsRefusedStep
// (schedule/trace/script.h) tells which are refusals.
absl::StatusOr<Module> ApplyTraceFile(const Module& module,
                                      const std::string& path, uint64_t seed);

// The same for a text that messages call `name`.
absl::StatusOr<Module> ApplyTraceText(const Module& module,
                                      const std::string& name,
                                      const std::string& text, uint64_t seed);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_REPLAY_H_
