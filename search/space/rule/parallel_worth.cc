#include "kiln/search/space/rule/parallel_worth.h"

#include "absl/status/statusor.h"
#include "kiln/ir/work/work.h"

namespace kiln {
namespace {

// Operations and bytes together. A launch takes a microsecond or two; vector
// code on data in a first-level cache does 50 of them and more in a nanosecond,
// scalar code one.
constexpr double kMostInVain = 16 << 10;
constexpr double kLeastWorth = 256 << 10;

}  // namespace

ParallelWorth ParallelWorthOf(const Function& f) {
  const absl::StatusOr<Work> work = CountWork(f);
  if (!work.ok()) return ParallelWorth::kAlways;
  const double size = work->flop.value + work->bytes();
  if (size <= kMostInVain) return ParallelWorth::kNever;
  return size < kLeastWorth ? ParallelWorth::kOpen : ParallelWorth::kAlways;
}

}  // namespace kiln
