#include "kiln/search/task/flight_replay.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/verdict.h"

namespace kiln {
namespace {

// What an event says, without when.
std::string Timeless(flight::Event event) {
  event.clear_at();
  return event.ShortDebugString();
}

absl::StatusOr<MeasureResult> ResultOf(const flight::Program& program) {
  const std::optional<Verdict> verdict = ParseVerdict(program.verdict());
  if (!verdict) {
    return absl::InvalidArgumentError(absl::StrCat(
        "flight log: unknown verdict \"", program.verdict(), "\""));
  }
  MeasureResult result;
  result.verdict = *verdict;
  result.reason = program.reason();
  result.min_ns = program.min_ns();
  result.median_ns = program.median_ns();
  result.spread_ns = program.spread_ns();
  result.samples = program.samples();
  result.paired_ratio = program.paired_ratio();
  return result;
}

bool IsBefore(const flight::Event& event) {
  return event.has_run() || event.has_task();
}

}  // namespace

FlightReplay::FlightReplay(const std::vector<flight::Event>& events)
    : events_(events) {
  while (next_ < events_.size() && IsBefore(events_[next_])) {
    if (events_[next_].has_run()) compiler_ = events_[next_].run().compiler();
    ++next_;
  }
}

const flight::Event* FlightReplay::Peek(size_t ahead) const {
  return next_ + ahead < events_.size() ? &events_[next_ + ahead] : nullptr;
}

absl::Status FlightReplay::Write(const flight::Event& event) {
  const flight::Event* logged = Peek();
  if (!logged) return absl::OkStatus();  // the log was cut here
  const std::string now = Timeless(event), then = Timeless(*logged);
  if (now != then) {
    return absl::FailedPreconditionError(
        absl::StrCat("the search leaves the flight log at event ", next_ + 1,
                     " of its run\n  log:  ", then, "\n  here: ", now));
  }
  ++next_;
  ++compared_;
  return absl::OkStatus();
}

absl::Status FlightReplay::Prepare(const TuneTask&) {
  const flight::Event* next = Peek();
  if (!next || !next->has_give_up()) return absl::OkStatus();
  return absl::FailedPreconditionError(next->give_up().reason());
}

absl::Status FlightReplay::Measure(const TuneTask&,
                                   absl::Span<const Candidate> candidates,
                                   const MeasureOptions&,
                                   const OnMeasured& on_measured) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const flight::Event* next = Peek();
    if (!next || !next->has_result()) return absl::OkStatus();
    Measured measured;
    measured.index = static_cast<int64_t>(i);
    KILN_ASSIGN_OR_RETURN(measured.result, ResultOf(next->result()));
    if (!on_measured(measured)) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MeasureResult>> FlightReplay::MeasureAgain(
    const TuneTask&, absl::Span<const Again> programs, const TurnsOptions&,
    const MeasureOptions&) {
  std::vector<MeasureResult> results;
  for (size_t i = 0; i < programs.size(); ++i) {
    const flight::Event* next = Peek(i);
    if (!next || !next->has_again()) break;
    KILN_ASSIGN_OR_RETURN(MeasureResult result, ResultOf(next->again()));
    results.push_back(std::move(result));
  }
  return results;
}

bool FlightReplay::NextIsStop(const char* why) const {
  const flight::Event* next = Peek();
  return next && next->has_stop() && next->stop().why() == why;
}

bool FlightReplay::Interrupted() const {
  return at_end() || NextIsStop("interrupt");
}

bool FlightReplay::TimeUp() const { return NextIsStop("time"); }

}  // namespace kiln
