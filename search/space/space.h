// A space of schedules: numbered programs that all mean the same.
#ifndef KILN_SEARCH_SPACE_SPACE_H_
#define KILN_SEARCH_SPACE_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// One point of a space.
struct Candidate {
  Function scheduled;
  std::string program_hash;  // of the scheduled program, for de-duplication
  std::string trace;         // as text; replays to `scheduled`
  std::string decisions;     // of the samples in the trace, in order
};

class Space {
 public:
  virtual ~Space() = default;

  // The point that random number `index` of the stream `seed` leads to. The
  // same numbers give the same point in every run. An error is the refusal of
  // a step: no program stands at this point. Thread-safe.
  virtual absl::StatusOr<Candidate> Sample(uint64_t seed,
                                           uint64_t index) const = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SPACE_H_
