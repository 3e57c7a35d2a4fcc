// The flight log: what a search decided and what it was told, event by event.
#ifndef KILN_SEARCH_TASK_FLIGHT_LOG_H_
#define KILN_SEARCH_TASK_FLIGHT_LOG_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/database/record.h"
#include "kiln/search/task/flight.pb.h"

namespace kiln {

// A line of another version is refused.
inline constexpr int kFlightVersion = 1;

// Receives events in their order.
class FlightSink {
 public:
  virtual ~FlightSink() = default;
  virtual absl::Status Write(const flight::Event& event) = 0;
};

// Adds lines to a file.
class FlightLog : public FlightSink {
 public:
  // A line that an earlier run was killed in is ended first.
  static absl::StatusOr<std::unique_ptr<FlightLog>> Open(
      const std::string& path);

  absl::Status Write(const flight::Event& event) override;

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  FlightLog(std::string path, std::FILE* file)
      : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// The runs of a log, each a list of events that begins with `run`. A last line
// of a run that is cut short is left out. kInvalidArgument with the number of
// the line for one that is no event, an unknown version, or a file without a
// run.
absl::StatusOr<std::vector<std::vector<flight::Event>>> ParseFlightLog(
    std::string_view text);

// A record as an event's content.
flight::Program ToFlight(int task, const TuningRecord& record);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_FLIGHT_LOG_H_
