// A point is one of several traces and a decision for each of its steps that
// sample. To draw one is to replay the trace with open decisions, which the
// steps then fill; to mutate is to change one decision and replay:
//
//   trace 0: sample_perfect_tile(16) = ?, sample_categorical(3 values) = ?
//     Sample:  0 [4,4][2]      Mutate:  0 [8,2][2]      Cross: of two points
//
// Replays share the programs of common prefixes (replay_tree.h), which is what
// makes a candidate cheap. A recorded trace names all decisions, so that its
// point is read from the text, and checked by printing it again.
#include "kiln/search/space/trace_space.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/keep.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/search/mutate/mutate.h"

namespace kiln {
namespace {

// Apart from the streams of the steps themselves, which count from 0.
constexpr uint64_t kMutateStream = uint64_t{1} << 32;

// What the steps of a printed trace decide, in order: "decision=[8, 4]" and
// "decision=0".
std::vector<Decision> DecisionsIn(const std::string& text) {
  constexpr std::string_view kKey = "decision=";
  std::vector<Decision> decisions;
  for (size_t at = text.find(kKey); at != std::string::npos;
       at = text.find(kKey, at)) {
    at += kKey.size();
    const char* next = text.c_str() + at;
    Decision& decision = decisions.emplace_back();
    do {
      char* end = nullptr;
      next += *next == '[' || *next == ',';
      const int64_t value = std::strtoll(next, &end, 10);
      if (end == next) break;
      decision.push_back(value);
      next = end;
    } while (*next == ',' && text[at] == '[');
  }
  return decisions;
}

// The decisions of the steps that sample, at their places; nullopt where there
// are more or fewer such steps.
std::optional<Decisions> Placed(const std::vector<Decision>& decided,
                                const Trace& trace) {
  Decisions decisions(trace.instructions.size());
  size_t next = 0;
  for (size_t i = 0; i < decisions.size(); ++i) {
    if (!trace.instructions[i].kind->samples) continue;
    if (next == decided.size()) return std::nullopt;
    decisions[i] = decided[next++];
  }
  if (next != decided.size()) return std::nullopt;
  return decisions;
}

}  // namespace

void TraceSpace::Add(Trace trace, std::string name,
                     std::vector<std::string> knob_names) {
  for (const auto& function : start_.functions) KeepForever(*function);
  names_.push_back(std::move(name));
  knob_names_.push_back(std::move(knob_names));
  alternatives_.push_back(
      std::make_unique<const ReplayTree>(std::move(trace), start_, function_));
}

KnobWalk TraceSpace::Knobs(size_t alternative, const Decisions& wanted) const {
  const ReplayTree& tree = *alternatives_[alternative];
  KnobWalk walk = WalkKnobs(tree.trace(), tree.open(), start_, wanted);
  const std::vector<std::string>& names = knob_names_[alternative];
  for (size_t i = 0; i < walk.knobs.size() && i < names.size(); ++i) {
    walk.knobs[i].name = names[i];
  }
  return walk;
}

absl::StatusOr<Candidate> TraceSpace::Make(size_t alternative, Decisions wanted,
                                           uint64_t seed) const {
  Candidate candidate;
  candidate.point.alternative = alternative;
  KILN_ASSIGN_OR_RETURN(
      ScheduledProgram program,
      alternatives_[alternative]->Replay(std::move(wanted), seed,
                                         &candidate.point.decisions));
  candidate.scheduled = *program.function;
  candidate.program_hash = std::move(program.hash);
  return candidate;
}

absl::StatusOr<Candidate> TraceSpace::Draw(size_t alternative, Decisions wanted,
                                           uint64_t seed) const {
  if (stop_ && stop_()) return absl::CancelledError("interrupted");
  return Make(alternative, std::move(wanted), seed);
}

absl::StatusOr<Candidate> TraceSpace::Sample(uint64_t seed,
                                             uint64_t index) const {
  const size_t alternative = index % alternatives_.size();
  return Draw(alternative, alternatives_[alternative]->open(),
              RandomBits(seed, index, 0));
}

absl::StatusOr<Candidate> TraceSpace::At(const Point& point) const {
  return Make(point.alternative, point.decisions, 0);
}

absl::StatusOr<Candidate> TraceSpace::Mutate(const Point& point,
                                             uint64_t seed) const {
  const ReplayTree& tree = *alternatives_[point.alternative];
  Random random(seed, kMutateStream);
  std::optional<Decisions> changed =
      MutateOne(tree.trace(), tree.open(), point.decisions, &random);
  if (!changed) return absl::FailedPreconditionError("nothing is left open");
  return Draw(point.alternative, *std::move(changed), seed);
}

absl::StatusOr<Candidate> TraceSpace::Cross(const Point& a, const Point& b,
                                            uint64_t seed) const {
  if (a.alternative != b.alternative) return Mutate(a, seed);
  Random random(seed, kMutateStream);
  return Draw(a.alternative, kiln::Cross(a.decisions, b.decisions, &random),
              seed);
}

std::string TraceSpace::TraceText(const Point& point) const {
  return ToText(WithDecisions(alternatives_[point.alternative]->trace(),
                              point.decisions));
}

std::string TraceSpace::DecisionText(const Point& point) const {
  std::string text;
  for (const Decision& decision : point.decisions) {
    if (decision.empty()) continue;
    absl::StrAppend(&text, "[", absl::StrJoin(decision, ","), "]");
  }
  return text;
}

// A trace names all that it decides, so that a point can be read from it
// without a replay; whether it is the right one, its own text tells.
std::optional<Point> TraceSpace::Locate(const std::string& trace) const {
  const std::vector<Decision> decided = DecisionsIn(trace);
  Point point;
  for (size_t i = 0; i < alternatives_.size(); ++i) {
    point.alternative = i;
    std::optional<Decisions> decisions =
        Placed(decided, alternatives_[i]->trace());
    if (!decisions) continue;
    point.decisions = *std::move(decisions);
    if (TraceText(point) == trace) return point;
  }
  return std::nullopt;
}

absl::StatusOr<Function> ReplayTrace(const Module& module, int function,
                                     const std::string& trace) {
  Schedule schedule(module);
  KILN_RETURN_IF_ERROR(RunScript(python::Source("<trace>", trace), &schedule));
  return *schedule.state().functions[function];
}

}  // namespace kiln
