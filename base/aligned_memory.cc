#include "kiln/base/aligned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace kiln {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// From here on a block gets whole huge pages. On small pages the lines of a
// strided walk fall into random sets of a physically indexed cache, and the
// same kernel on the same data differs by tens of percent from run to run.
constexpr uint64_t kHugeFrom = uint64_t{512} << 10;
// Beyond what a machine has; sanitizers abort on such sizes instead of failing.
constexpr uint64_t kMaxBytes = uint64_t{1} << 39;

}  // namespace

void AlignedDelete::operator()(void* memory) const { std::free(memory); }

AlignedMemory AllocateAligned(uint64_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  const bool huge = bytes >= kHugeFrom;
  const uint64_t alignment = huge ? kHugePage : kMemoryAlignment;
  const uint64_t rounded =
      (std::max<uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, rounded) != 0) return nullptr;
  if (huge) madvise(memory, rounded, MADV_HUGEPAGE);
  return AlignedMemory(memory);
}

}  // namespace kiln
