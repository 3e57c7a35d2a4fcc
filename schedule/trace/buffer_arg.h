// Buffers as instructions name them: by position among what a block reads or
// writes, or by name.
#ifndef KILN_SCHEDULE_TRACE_BUFFER_ARG_H_
#define KILN_SCHEDULE_TRACE_BUFFER_ARG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/arg.h"

namespace kiln {

enum class BufferSide : uint8_t { kRead, kWrite };

// The index of a buffer among the regions that the block reads or writes.
// `arg` is an index, which is given back unchecked, or a name.
absl::StatusOr<int> BufferIndex(const Function& f, BlockId block,
                                const Arg& arg, BufferSide side,
                                std::string_view primitive);

struct BufferPosition {
  BufferSide side;
  int index;
};
// For ("read", 0), ("write", 1), or a name that is looked for among the
// regions written first, then among those read.
absl::StatusOr<BufferPosition> FindBuffer(const Function& f, BlockId block,
                                          const Arg& arg,
                                          std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_BUFFER_ARG_H_
