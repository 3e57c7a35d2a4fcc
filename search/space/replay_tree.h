// Replays of one trace that stand on each other.
//
// Two replays differ only from the first choice on that they make differently,
// and a search makes the same choices again and again. So what stands before
// each step that samples is kept, by the choices that led there, and so is what
// came of all of them:
//
//   start ── [12] ─┬─ [4, 8] ─── [2] ─── a program
//            │     └─ [8, 4] ─── [1] ─── a refusal
//            [14] ─── [4, 8] ─── ...
//
// A replay walks along what is known and carries out only what comes after it.
#ifndef KILN_SEARCH_SPACE_REPLAY_TREE_H_
#define KILN_SEARCH_SPACE_REPLAY_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/state.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

// A scheduled function, and the SHA-256 of its canonical form.
struct ScheduledProgram {
  std::shared_ptr<const Function> function;
  std::string hash;
};

class ReplayTree {
 public:
  // Keeps at most `capacity` places, of some kilobytes each where the trace is
  // of up to `kShort` instructions; of longer ones places are larger, and fewer
  // are kept. A full tree starts anew.
  static constexpr size_t kCapacity = 1024;
  static constexpr size_t kShort = 128;

  // For schedules of one function of the start. The choices of the trace that
  // its author did not make are open.
  ReplayTree(Trace trace, const State& start, int function,
             size_t capacity = kCapacity);

  const Trace& trace() const { return trace_; }
  const Decisions& open() const { return open_; }

  // Replays the whole trace. Choices that `wanted` leaves open are drawn with
  // the seed, and so are those that are open in the trace and do not fit where
  // an earlier one has changed. What was decided in the end goes to `made`. The
  // error is the refusal of a step. What is known already makes no difference
  // to the result. Thread-safe.
  absl::StatusOr<ScheduledProgram> Replay(Decisions wanted, uint64_t seed,
                                          Decisions* made) const;

  // Places that are known, that of the start not counted.
  size_t size() const;

 private:
  // Before a step that samples, or at the end.
  struct Place {
    size_t step = 0;
    State state;
    absl::Status refusal;      // of a step on the way here
    ScheduledProgram program;  // at the end
  };
  using PlacePtr = std::shared_ptr<const Place>;

  // The state goes on from `step` to the next place.
  PlacePtr Advance(State state, size_t step) const;
  // Makes the choice at the place and goes on.
  absl::StatusOr<PlacePtr> Choose(const Place& place, Decisions* wanted,
                                  uint64_t seed, std::string* path,
                                  Decisions* made) const;
  absl::Status Sample(const Place& place, Decisions* wanted, uint64_t seed,
                      State* state, Decisions* made) const;

  PlacePtr Find(const std::string& path) const;
  void Keep(const std::string& path, PlacePtr place) const;

  Trace trace_;
  Decisions open_;
  int function_;
  size_t capacity_;
  PlacePtr start_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, PlacePtr> places_;  // by choices
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_REPLAY_TREE_H_
