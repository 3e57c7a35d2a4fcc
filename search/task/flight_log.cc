#include "kiln/search/task/flight_log.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/utf8.h"

namespace kiln {
namespace {

absl::StatusOr<flight::Event> ParseEvent(std::string_view line) {
  flight::Event event;
  const absl::Status status = FromJson(line, &event);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not an event: ", status.message()));
  }
  if (event.content_case() == flight::Event::CONTENT_NOT_SET) {
    return absl::InvalidArgumentError("not an event: it has no content");
  }
  if (event.has_run() && event.run().version() != kFlightVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("a run of version ", event.run().version(),
                     ", this Kiln reads ", kFlightVersion));
  }
  return event;
}

bool EndsInsideALine(std::FILE* file) {
  if (std::fseek(file, -1, SEEK_END) != 0) return false;
  return std::fgetc(file) != '\n';
}

}  // namespace

absl::StatusOr<std::unique_ptr<FlightLog>> FlightLog::Open(
    const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "a+");
  if (!file) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " cannot be written: ", std::strerror(errno)));
  }
  std::unique_ptr<FlightLog> log(new FlightLog(path, file));
  const bool inside = EndsInsideALine(file);
  std::fseek(file, 0, SEEK_END);
  if (inside) std::fputc('\n', file);
  return log;
}

absl::Status FlightLog::Write(const flight::Event& event) {
  KILN_ASSIGN_OR_RETURN(std::string line,
                        ToJson(event, JsonDefaults::kLeftOut));
  line += '\n';
  const size_t written = std::fwrite(line.data(), 1, line.size(), file_.get());
  if (written == line.size() && std::fflush(file_.get()) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      absl::StrCat(path_, " cannot be written: ", std::strerror(errno)));
}

absl::StatusOr<std::vector<std::vector<flight::Event>>> ParseFlightLog(
    std::string_view text) {
  std::vector<std::vector<flight::Event>> runs;
  absl::Status cut;  // of the line before
  int number = 0;
  for (absl::string_view part :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (part.empty()) continue;
    absl::StatusOr<flight::Event> event =
        ParseEvent(std::string_view(part.data(), part.size()));
    const bool begins = event.ok() && event->has_run();
    if (!cut.ok() && !begins) return cut;
    cut = absl::OkStatus();
    if (begins) {
      runs.push_back({*std::move(event)});
    } else if (event.ok() && !runs.empty()) {
      runs.back().push_back(*std::move(event));
    } else {
      cut = absl::InvalidArgumentError(
          absl::StrCat("flight log, line ", number, ": ",
                       event.ok() ? "an event before any run"
                                  : std::string(event.status().message())));
      if (runs.empty()) return cut;
    }
  }
  if (runs.empty()) {
    return absl::InvalidArgumentError("the flight log holds no run");
  }
  return runs;
}

flight::Program ToFlight(int task, const TuningRecord& record) {
  flight::Program program;
  program.set_task(task);
  program.set_program(record.program_hash);
  program.set_verdict(std::string(VerdictName(record.verdict)));
  program.set_reason(ValidUtf8(record.reason));
  program.set_min_ns(record.latency_min_ns);
  program.set_median_ns(record.latency_median_ns);
  program.set_spread_ns(record.latency_spread_ns);
  program.set_samples(record.samples);
  program.set_paired_ratio(record.paired_ratio);
  program.set_ranked_ns(record.ranked_ns);
  return program;
}

}  // namespace kiln
