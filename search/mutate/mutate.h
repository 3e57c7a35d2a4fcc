// Small steps through the decisions of a trace.
#ifndef KILN_SEARCH_MUTATE_MUTATE_H_
#define KILN_SEARCH_MUTATE_MUTATE_H_

#include <optional>

#include "kiln/base/random.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

// `made` with one choice changed, nullopt where `open` leaves no choice:
// a tiling moves a divisor from one factor to another, a categorical choice
// becomes another with the weights of the trace, every other is left open.
//
//   [4, 32, 2]  →  [4, 8, 8]
std::optional<Decisions> MutateOne(const Trace& trace, const Decisions& open,
                                   const Decisions& made, Random* random);

// Each choice from one of two parents.
Decisions Cross(const Decisions& a, const Decisions& b, Random* random);

}  // namespace kiln

#endif  // KILN_SEARCH_MUTATE_MUTATE_H_
