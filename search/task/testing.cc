#include "kiln/search/task/testing.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/sha256.h"

namespace kiln {
namespace {

Candidate AtNumber(uint64_t number) {
  Candidate c;
  c.scheduled.name = absl::StrCat(number);
  c.program_hash = Sha256Hex(c.scheduled.name);
  c.point.decisions = {{static_cast<int64_t>(number)}};
  return c;
}

}  // namespace

absl::StatusOr<Candidate> NumberSpace::Sample(uint64_t seed,
                                              uint64_t index) const {
  return AtNumber(RandomBits(seed, index, 0) % size_);
}

absl::StatusOr<Candidate> NumberSpace::At(const Point& point) const {
  return AtNumber(point.decisions[0][0]);
}

absl::StatusOr<Candidate> NumberSpace::Mutate(const Point&,
                                              uint64_t seed) const {
  return Sample(seed, 0);
}

absl::StatusOr<Candidate> NumberSpace::Cross(const Point& a, const Point&,
                                             uint64_t) const {
  return At(a);
}

std::string NumberSpace::TraceText(const Point& point) const {
  return absl::StrCat(point.decisions[0][0]);
}

std::string NumberSpace::DecisionText(const Point& point) const {
  return TraceText(point);
}

std::optional<Point> NumberSpace::Locate(const std::string& trace) const {
  int64_t number;
  if (!absl::SimpleAtoi(trace, &number)) return std::nullopt;
  return Point{0, {{number}}};
}

}  // namespace kiln
