// A search done again from its flight log: times come from the log, and every
// decision is compared with the log's.
#ifndef KILN_SEARCH_TASK_FLIGHT_REPLAY_H_
#define KILN_SEARCH_TASK_FLIGHT_REPLAY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/measurer.h"

namespace kiln {

// Walks along the events of one run. Measurer, sink and the questions of
// TuneAllOptions share one.
class FlightReplay : public Measurer, public FlightSink {
 public:
  // `events` outlive the replay; what comes before the first event of the
  // search itself (run and task) is passed over.
  explicit FlightReplay(const std::vector<flight::Event>& events);

  // The search has to do what the log says. kFailedPrecondition with both where
  // it does something else.
  absl::Status Write(const flight::Event& event) override;

  // What the log says about the candidates, as far as it goes.
  absl::Status Prepare(const TuneTask& task) override;
  absl::Status Measure(const TuneTask& task,
                       absl::Span<const Candidate> candidates,
                       const MeasureOptions& options,
                       const OnMeasured& on_measured) override;
  absl::StatusOr<std::vector<MeasureResult>> MeasureAgain(
      const TuneTask& task, absl::Span<const Again> programs,
      const TurnsOptions& turns, const MeasureOptions& options) override;
  void Release(const TuneTask&) override {}
  std::string CompilerVersion() const override { return compiler_; }

  // What the run's stop and time_up said at this moment. A log that ends says
  // that the run was interrupted.
  bool Interrupted() const;
  bool TimeUp() const;

  size_t compared() const { return compared_; }
  bool at_end() const { return next_ >= events_.size(); }

 private:
  const flight::Event* Peek(size_t ahead = 0) const;
  bool NextIsStop(const char* why) const;

  const std::vector<flight::Event>& events_;
  std::string compiler_;
  size_t next_ = 0;
  size_t compared_ = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_FLIGHT_REPLAY_H_
