// A space given by traces with open choices.
#ifndef KILN_SEARCH_SPACE_TRACE_SPACE_H_
#define KILN_SEARCH_SPACE_TRACE_SPACE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/search/space/knob.h"
#include "kiln/search/space/replay_tree.h"
#include "kiln/search/space/space.h"

namespace kiln {

// The union of what several traces make of one function of a module, over all
// that their sample_* steps may choose; drawn from in turns.
class TraceSpace : public Space {
 public:
  TraceSpace(const Module& module, int function)
      : module_(module), start_(module), function_(function) {}

  // The choices of the trace that its author did not make are open. People see
  // its name, and those of the choices where there is one for each.
  void Add(Trace trace, std::string name = "schedule",
           std::vector<std::string> knob_names = {});
  // From now on points are drawn as long as `stop` does not say so, by any
  // thread; then each draw is kCancelled at once.
  void DrawUntil(std::function<bool()> stop) { stop_ = std::move(stop); }
  size_t size() const override { return alternatives_.size(); }
  const std::string& name(size_t alternative) const {
    return names_[alternative];
  }
  KnobWalk Knobs(size_t alternative, const Decisions& wanted) const override;
  const Module& module() const { return module_; }

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

 private:
  // The program of the decisions, open ones drawn with the seed.
  absl::StatusOr<Candidate> Draw(size_t alternative, Decisions wanted,
                                 uint64_t seed) const;
  absl::StatusOr<Candidate> Make(size_t alternative, Decisions wanted,
                                 uint64_t seed) const;

  Module module_;
  State start_;
  int function_;
  std::function<bool()> stop_;
  std::vector<std::unique_ptr<const ReplayTree>> alternatives_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> knob_names_;
};

// What a printed trace makes of a function.
absl::StatusOr<Function> ReplayTrace(const Module& module, int function,
                                     const std::string& trace);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_TRACE_SPACE_H_
