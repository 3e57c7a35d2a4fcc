// One random step of a schedule: which primitive, with which arguments.
#ifndef KILN_SCHEDULE_TESTING_RANDOM_STEP_H_
#define KILN_SCHEDULE_TESTING_RANDOM_STEP_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/random.h"
#include "kiln/schedule/testing/random_trace.h"

namespace kiln {

// What the makers of arguments draw from: the handles of a growing schedule.
class StepContext {
 public:
  StepContext(Schedule* schedule, Random* random, StepCounts* counts,
              const RandomTraceOptions& options)
      : options(options),
        schedule_(schedule),
        random_(random),
        counts_(counts) {}

  const RandomTraceOptions options;

  int64_t Between(int64_t low, int64_t high) {
    return random_->Between(low, high);
  }
  bool Chance(int percent) { return Between(1, 100) <= percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& items) {
    return items[random_->Below(items.size())];
  }

  // Carries a step out and counts it; nullopt when it is refused.
  std::optional<std::vector<Rv>> Apply(std::string_view name,
                                       std::vector<Arg> args,
                                       Decision decision = {});

  // Not OK after a status that no primitive may give.
  const absl::Status& status() const { return status_; }

  const Function& function() const { return *schedule_->state().functions[0]; }

  // A block that exists, mostly; nullopt when no handle is left. Now and then
  // the root, or a handle of something that is gone.
  std::optional<Rv> Block();
  // A block of a tensor that the given one reads (or that reads what it
  // writes).
  std::optional<Rv> Neighbour(Rv block, bool producer);
  // A handle of something that is gone, if there is any.
  std::optional<Rv> Stale(RvKind kind);
  // The loops around a block, outermost first.
  std::vector<Rv> Loops(Rv block);
  // One of the loops around some block; now and then a stale one.
  std::optional<Rv> Loop();

  // The block or loop itself; nullptr when it is gone.
  const BlockNode* Find(Rv block) const;
  const BlockRealizeNode* FindRealize(Rv block) const;
  const ForNode* FindLoopNode(Rv loop) const;
  // The constant extent of a loop, or 1.
  int64_t Extent(Rv loop) const;

  // A handle of the block called `name`.
  std::optional<Rv> Named(const std::string& name);

 private:
  std::vector<Rv> Handles(RvKind kind) const;
  std::optional<Rv> HandleOf(RvKind kind, int64_t id) const;

  Schedule* schedule_;
  Random* random_;
  StepCounts* counts_;
  absl::Status status_;
};

// Arguments for a step; nullopt where there is nothing to apply it to.
using StepMaker = std::optional<std::vector<Arg>> (*)(StepContext&);

struct StepRow {
  std::string_view name;
  int weight;  // how likely, against the other rows
  StepMaker make;
};

// A random rearrangement of the indices of `shape`: dimensions are cut in two,
// shifted, fused and put in another order. Not always one-to-one.
std::shared_ptr<const IndexMapArg> RandomMap(StepContext& c,
                                             const std::vector<Expr>& shape);

// A row for each instruction: loops, blocks and tensors, and what puts other
// blocks in the place of one.
std::vector<StepRow> LoopSteps();
std::vector<StepRow> BlockSteps();
std::vector<StepRow> RewriteSteps();

}  // namespace kiln

#endif  // KILN_SCHEDULE_TESTING_RANDOM_STEP_H_
