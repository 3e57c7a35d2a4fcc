// A space of schedules: points that stand for programs of one meaning.
#ifndef KILN_SEARCH_SPACE_SPACE_H_
#define KILN_SEARCH_SPACE_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/search/space/knob.h"

namespace kiln {

// A way to schedule, and what it decides.
struct Point {
  size_t alternative = 0;
  Decisions decisions;
};

// A point and its program.
struct Candidate {
  Function scheduled;
  std::string program_hash;  // of the scheduled program, for de-duplication
  Point point;
};

// The same arguments give the same point in every run. An error is the refusal
// of a step: no program stands there. Thread-safe.
class Space {
 public:
  virtual ~Space() = default;

  // The point that random number `index` of the stream `seed` leads to.
  virtual absl::StatusOr<Candidate> Sample(uint64_t seed,
                                           uint64_t index) const = 0;
  // The point itself.
  virtual absl::StatusOr<Candidate> At(const Point& point) const = 0;
  // A neighbour of the point: one choice differs, and those that do not fit
  // any more because of it.
  virtual absl::StatusOr<Candidate> Mutate(const Point& point,
                                           uint64_t seed) const = 0;
  // A point between two: of `a`'s alternative, or a neighbour of `a` where `b`
  // is of another.
  virtual absl::StatusOr<Candidate> Cross(const Point& a, const Point& b,
                                          uint64_t seed) const = 0;

  // How many ways to schedule there are: alternatives count from 0.
  virtual size_t size() const { return 1; }
  // The choices of an alternative, along the way that `wanted` leads; see
  // knob.h. None where a space has no list of them.
  virtual KnobWalk Knobs(size_t /*alternative*/,
                         const Decisions& /*wanted*/) const {
    return {};
  }

  // The trace that leads to the point's program, as text.
  virtual std::string TraceText(const Point& point) const = 0;
  // What the point decides, in order: "[8,4][0]".
  virtual std::string DecisionText(const Point& point) const = 0;
  // The point of a trace that this space gave as text before; nullopt for
  // other traces.
  virtual std::optional<Point> Locate(const std::string& trace) const = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SPACE_H_
