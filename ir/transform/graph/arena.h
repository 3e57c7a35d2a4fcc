// Places for tensors in one piece of memory.
#ifndef KILN_IR_TRANSFORM_GRAPH_ARENA_H_
#define KILN_IR_TRANSFORM_GRAPH_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln {

// A tensor that is needed from step `first` to step `last`, both included.
struct MemoryLife {
  size_t first = 0;
  size_t last = 0;
  int64_t bytes = 0;
};

struct Arena {
  std::vector<int64_t> offsets;  // one for each life, a multiple of 64
  int64_t bytes = 0;             // of the whole
};

// Lives that have a step in common lie apart. Larger tensors are placed first,
// each into the smallest gap that is wide enough, or behind all that it must
// not meet ("greedy by size" of Pisarchyk and Lee, Efficient Memory Management
// for Deep Neural Net Inference, 2020).
Arena PlaceInArena(const std::vector<MemoryLife>& lives);

// The most bytes that are needed in any step: no arena is smaller.
int64_t LargestLiveSum(const std::vector<MemoryLife>& lives);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_ARENA_H_
