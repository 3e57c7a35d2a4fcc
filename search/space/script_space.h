// A space given by a schedule function as text.
#ifndef KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
#define KILN_SEARCH_SPACE_SCRIPT_SPACE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/search/space/space.h"

namespace kiln {

// Points are the programs that the function makes of a module, over all that
// its sample_* calls may choose. A text with several public functions is the
// union of their spaces, drawn from in turns.
class ScriptSpace : public Space {
 public:
  // Carries each function out, with a few choices if steps are refused, to know
  // its trace. `function` is the index of the function to tune in `module`.
  // A function whose steps are always refused is left out as long as there is
  // another one; otherwise the error is the last refusal, or that of the text.
  static absl::StatusOr<std::unique_ptr<ScriptSpace>> Create(
      const Module& module, int function, const python::Source& source);

  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override;
  absl::StatusOr<Candidate> At(const Point& point) const override;
  absl::StatusOr<Candidate> Mutate(const Point& point,
                                   uint64_t seed) const override;
  absl::StatusOr<Candidate> Cross(const Point& a, const Point& b,
                                  uint64_t seed) const override;
  std::string TraceText(const Point& point) const override;
  std::string DecisionText(const Point& point) const override;
  std::optional<Point> Locate(const std::string& trace) const override;

  // Replays a trace of this space that TraceText has printed.
  static absl::StatusOr<Function> Replay(const Module& module, int function,
                                         const std::string& trace);

 private:
  struct Alternative {
    Trace trace;
    Decisions open;
  };

  ScriptSpace(const Module& module, int function)
      : module_(module), start_(module), function_(function) {}

  // The program of the decisions, open ones drawn with the seed.
  absl::StatusOr<Candidate> Make(size_t alternative, Decisions wanted,
                                 uint64_t seed) const;

  Module module_;
  State start_;
  int function_;
  std::vector<Alternative> alternatives_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
