// The choices of a trace, one by one: what a template leaves open.
#ifndef KILN_SEARCH_SPACE_KNOB_H_
#define KILN_SEARCH_SPACE_KNOB_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/schedule/trace/state.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

struct Knob {
  std::string name;  // as the template calls it, or "knob3"
  std::string what;  // "512 as 2 factors, the last at most 16"
  size_t step = 0;   // of the trace
  std::vector<Decision> choices;
  size_t chosen = 0;  // of the choices
};

// No knob has more choices than this; where there are more, the first.
inline constexpr size_t kMaxKnobChoices = 65536;

// Where a walk through the steps of a trace came to.
struct KnobWalk {
  std::vector<Knob> knobs;  // that were met, in order
  Decisions made;
  absl::Status refusal;  // of the step that ended the walk
};

// Goes through the trace, from choice to choice. Each is that of `wanted`; its
// first where `wanted` has none, or one that does not exist here. What a knob
// offers may depend on those before it.
KnobWalk WalkKnobs(const Trace& trace, const Decisions& open,
                   const State& start, const Decisions& wanted);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_KNOB_H_
