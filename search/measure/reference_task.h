// The trusted side of a tuning task: random inputs, and what has to come out.
#ifndef KILN_SEARCH_MEASURE_REFERENCE_TASK_H_
#define KILN_SEARCH_MEASURE_REFERENCE_TASK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/contents.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/measure/task_data.h"

namespace kiln {

struct ReferenceOptions {
  // Of random contents; not used where `contents` are given.
  uint64_t seed = 0;
  std::optional<CallContents> contents = std::nullopt;
  // Programs of at most this many floating-point operations are interpreted
  // too, and the compiled program has to agree.
  double max_interpreted_flop = 3e6;
  // Programs of more operations than this run in an order that caches like:
  // see InCacheOrder.
  double max_plain_flop = 3e7;
  // Programs of at most this many are compiled without the passes that only
  // make them faster. Larger ones, too, where the interpreter cannot confirm
  // elements of their outputs.
  double max_unoptimized_flop = 2.5e9;
};

// How many terms a reduction of `f` adds up: the largest product of extents of
// reduce iterators in a block.
int64_t ReductionLength(const Function& f);

// `f` with, in every reduction, the last spatial loop innermost and the first
// one parallel, as far as the checks of these two steps allow. Sums still run
// in the order of `f`, so that results are the same to the last bit.
Function InCacheOrder(const Function& f);

// Draws contents for what `f`, which no schedule has touched, reads or updates,
// and runs it in a worker: `f` compiled as it stands (large ones: in cache
// order) defines the outputs, some elements of which the interpreter confirms,
// or else the task's grounds say why it does not. The second of the task holds
// small whole numbers, on which outputs are compared exactly. Where no contents
// are given, symbolic dimensions are those of the timed size
// (ir/tensor/timed_size.h); refuses others, and scalar parameters, which have
// no values then.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeReferenceTask(
    const Function& f, Builder& builder, Runner& runner,
    const ReferenceOptions& options = {});

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_REFERENCE_TASK_H_
