#include "kiln/tools/support/replay.h"

#include <utility>

#include "absl/status/status.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {

absl::StatusOr<Module> ApplyTraceFile(const Module& module,
                                      const std::string& path, uint64_t seed) {
  absl::StatusOr<std::string> text = ReadFileOrStdin(CallerPath(path));
  if (!text.ok()) return absl::NotFoundError(text.status().message());
  return ApplyTraceText(module, path == "-" ? "stdin" : path, *text, seed);
}

absl::StatusOr<Module> ApplyTraceText(const Module& module,
                                      const std::string& name,
                                      const std::string& text, uint64_t seed) {
  ScheduleOptions options;
  options.seed = seed;
  Schedule schedule(module, options);
  KILN_RETURN_IF_ERROR(RunScript(python::Source(name, text), &schedule));
  return schedule.ToModule();
}

}  // namespace kiln
