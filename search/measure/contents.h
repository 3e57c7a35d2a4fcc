// What the buffers of a task hold before each call, of candidates and of the
// trusted kernel alike.
#ifndef KILN_SEARCH_MEASURE_CONTENTS_H_
#define KILN_SEARCH_MEASURE_CONTENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/task_data.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// The arguments of one call.
struct CallContents {
  // As the kernel ABI wants them, one for each scalar of the signature.
  std::vector<int64_t> scalars;
  // One for each buffer of the signature. None for a buffer that is written
  // whole: it starts as all ones (NaN for floats).
  std::vector<std::optional<NDArray>> buffers;
};

// Whole numbers of the range or, where there is none, FillRandom.
void FillInRange(const NDArray& array, const std::optional<ValueRange>& range,
                 uint64_t seed);

// Random contents for every tensor that `f` reads or updates (see
// ir/access/argument_use.h); what becomes an index is drawn inside of what it
// indexes (codegen/guard/input_ranges.h). Element i of the b-th buffer depends
// on seed + b and i only. Refuses extents and parameters that only a call
// tells.
absl::StatusOr<CallContents> DrawContents(const Function& f,
                                          const KernelSignature& signature,
                                          uint64_t seed);

// The same arguments, without what a buffer of `f` holds that is written whole
// anyway.
CallContents WithoutOutputs(const Function& f, CallContents contents);

// A task that starts so, and compares nothing.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeRunTask(
    const KernelSignature& signature, const CallContents& contents);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_CONTENTS_H_
