// get_block, get_loops, get_child_blocks, get_producers, get_consumers,
// get_output_blocks: finding what to work on. Nothing changes.
#ifndef KILN_SCHEDULE_PRIMITIVE_LOOKUP_H_
#define KILN_SCHEDULE_PRIMITIVE_LOOKUP_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The block of that name. Refuses a name that no block has, or several.
absl::StatusOr<BlockId> GetBlock(const Function& f, std::string_view name);

// The loops between the block and the block around it, outermost first.
absl::StatusOr<std::vector<LoopId>> GetLoops(const Function& f, BlockId block);

// The blocks that stand directly in a block, or below a loop.
absl::StatusOr<std::vector<BlockId>> GetChildBlocksOfBlock(const Function& f,
                                                           BlockId block);
absl::StatusOr<std::vector<BlockId>> GetChildBlocksOfLoop(const Function& f,
                                                          LoopId loop);

// The blocks of the same scope that write what the block reads (or writes
// again), in the order of its reads, or that read (or write again) what it
// writes, in program order.
absl::StatusOr<std::vector<BlockId>> GetProducers(const Function& f,
                                                  BlockId block);
absl::StatusOr<std::vector<BlockId>> GetConsumers(const Function& f,
                                                  BlockId block);

// The blocks in `scope` that write a buffer which it does not allocate.
absl::StatusOr<std::vector<BlockId>> GetOutputBlocks(const Function& f,
                                                     BlockId scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_LOOKUP_H_
