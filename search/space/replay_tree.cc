#include "kiln/search/space/replay_tree.h"

#include <algorithm>
#include <utility>

#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/canonical.h"

namespace kiln {
namespace {

// Goes on along `path` by a choice. The length keeps [1], [2] and [1, 2] apart.
void Append(const Decision& choice, std::string* path) {
  const auto add = [&](int64_t value) {
    path->append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  add(static_cast<int64_t>(choice.size()));
  for (const int64_t value : choice) add(value);
}

}  // namespace

ReplayTree::ReplayTree(Trace trace, const State& start, int function,
                       size_t capacity)
    : trace_(std::move(trace)),
      open_(OpenDecisions(trace_)),
      function_(function),
      capacity_(capacity * kShort /
                std::max(kShort, trace_.instructions.size())),
      start_(Advance(start, 0)) {}

ReplayTree::PlacePtr ReplayTree::Advance(State state, size_t step) const {
  auto place = std::make_shared<Place>();
  const auto& steps = trace_.instructions;
  place->step = step;
  while (place->step < steps.size() && !steps[place->step].kind->samples) {
    ++place->step;
  }
  place->refusal =
      kiln::Replay(trace_, step, place->step, open_, 0, &state, nullptr);
  if (!place->refusal.ok()) return place;
  if (place->step < steps.size()) {
    place->state = std::move(state);
  } else {
    place->program.function = state.functions[function_];
    place->program.hash = Sha256Hex(CanonicalForm(*place->program.function));
  }
  return place;
}

absl::Status ReplayTree::Sample(const Place& place, Decisions* wanted,
                                uint64_t seed, State* state,
                                Decisions* made) const {
  const size_t step = place.step;
  Decision& choice = (*wanted)[step];
  absl::Status status =
      kiln::Replay(trace_, step, step + 1, *wanted, seed, state, made);
  if (status.ok() || choice.empty() || !open_[step].empty()) return status;
  choice.clear();
  return kiln::Replay(trace_, step, step + 1, *wanted, seed, state, made);
}

absl::StatusOr<ReplayTree::PlacePtr> ReplayTree::Choose(const Place& place,
                                                        Decisions* wanted,
                                                        uint64_t seed,
                                                        std::string* path,
                                                        Decisions* made) const {
  const Decision& choice = (*wanted)[place.step];
  if (!choice.empty()) {
    std::string next = *path;
    Append(choice, &next);
    if (PlacePtr known = Find(next)) {
      (*made)[place.step] = choice;
      *path = std::move(next);
      return known;
    }
  }
  State state = place.state;
  KILN_RETURN_IF_ERROR(Sample(place, wanted, seed, &state, made));
  Append((*made)[place.step], path);
  if (PlacePtr known = Find(*path)) return known;
  PlacePtr next = Advance(std::move(state), place.step + 1);
  Keep(*path, next);
  return next;
}

absl::StatusOr<ScheduledProgram> ReplayTree::Replay(Decisions wanted,
                                                    uint64_t seed,
                                                    Decisions* made) const {
  wanted.resize(trace_.instructions.size());
  made->assign(trace_.instructions.size(), {});
  PlacePtr place = start_;
  std::string path;
  while (place->refusal.ok() && place->step < trace_.instructions.size()) {
    KILN_ASSIGN_OR_RETURN(place, Choose(*place, &wanted, seed, &path, made));
  }
  KILN_RETURN_IF_ERROR(place->refusal);
  return place->program;
}

ReplayTree::PlacePtr ReplayTree::Find(const std::string& path) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(path);
  return found == places_.end() ? nullptr : found->second;
}

void ReplayTree::Keep(const std::string& path, PlacePtr place) const {
  if (capacity_ == 0) return;
  std::unordered_map<std::string, PlacePtr> old;  // freed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  if (places_.size() >= capacity_) places_.swap(old);
  places_.emplace(path, std::move(place));
}

size_t ReplayTree::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return places_.size();
}

}  // namespace kiln
