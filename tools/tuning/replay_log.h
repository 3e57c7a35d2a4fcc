// A tuning run done again from its flight log, without measuring.
#ifndef KILN_TOOLS_TUNING_REPLAY_LOG_H_
#define KILN_TOOLS_TUNING_REPLAY_LOG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/task.h"

namespace kiln {

struct ReplayedRun {
  std::vector<TuneState> states;
  size_t events = 0;  // that were compared with the log
};

// Does one run of a log again on `threads` threads: the same tasks, spaces,
// strategies and models as the log names, the times that it holds. The error
// is that of a log that cannot be read, or shows where a decision is another
// one.
absl::StatusOr<ReplayedRun> ReplayRun(const std::vector<flight::Event>& events,
                                      int threads);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_REPLAY_LOG_H_
