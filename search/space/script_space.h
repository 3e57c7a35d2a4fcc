// A space given by a schedule function as text.
#ifndef KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
#define KILN_SEARCH_SPACE_SCRIPT_SPACE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/search/space/space.h"

namespace kiln {

// Points are the programs that the function makes of a module, over all that
// its sample_* calls may choose.
class ScriptSpace : public Space {
 public:
  // Carries the function out, with a few choices if steps are refused, to know
  // its trace. `function` is the index of the function to tune in `module`.
  // The error is that of the text, or the last refusal.
  static absl::StatusOr<std::unique_ptr<ScriptSpace>> Create(
      const Module& module, int function, const python::Source& source);

  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override;

  // Replays a trace of this space that Sample has printed.
  static absl::StatusOr<Function> Replay(const Module& module, int function,
                                         const std::string& trace);

 private:
  ScriptSpace(State start, int function, Trace trace)
      : start_(std::move(start)),
        function_(function),
        trace_(std::move(trace)),
        open_(OpenDecisions(trace_)) {}

  State start_;
  int function_;
  Trace trace_;
  Decisions open_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
