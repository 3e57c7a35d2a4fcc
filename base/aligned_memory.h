// Memory for tensors and workspaces: aligned to 64 bytes, and on huge pages
// where it is large enough to have them. One block after another starts at
// another place in its page: a processor takes a load for one from a store
// before it where the last twelve bits of their addresses agree, and lines
// whose addresses do share few places in the nearest cache.
#ifndef KILN_BASE_ALIGNED_MEMORY_H_
#define KILN_BASE_ALIGNED_MEMORY_H_

#include <cstdint>
#include <memory>

namespace kiln {

inline constexpr uint64_t kMemoryAlignment = 64;

struct AlignedDelete {
  void operator()(void* memory) const;
  void* start = nullptr;  // of the allocation
};
using AlignedMemory = std::unique_ptr<void, AlignedDelete>;

// `bytes` (at least one) with undefined contents, or null where the system has
// no such amount (512 GiB is the limit). From 512 KiB on the block is made of
// whole 2 MiB pages where the system grants them.
AlignedMemory AllocateAligned(uint64_t bytes);

}  // namespace kiln

#endif  // KILN_BASE_ALIGNED_MEMORY_H_
