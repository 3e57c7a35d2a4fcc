#include "kiln/base/aligned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
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

constexpr uint64_t kPage = 4096;
// 11 lines; odd, so that 64 blocks in a row start at different lines of a page.
constexpr uint64_t kStagger = 11 * kMemoryAlignment;

// Where in its page the next block starts.
uint64_t NextOffset() {
  static std::atomic<uint64_t> blocks = 0;
  return blocks.fetch_add(1, std::memory_order_relaxed) * kStagger % kPage;
}

}  // namespace

void AlignedDelete::operator()(void*) const { std::free(start); }

AlignedMemory AllocateAligned(uint64_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  const bool huge = bytes >= kHugeFrom;
  const bool staggered = bytes >= kPage;
  const uint64_t offset = staggered ? NextOffset() : 0;
  const uint64_t alignment = huge        ? kHugePage
                             : staggered ? kPage
                                         : kMemoryAlignment;
  const uint64_t wanted = std::max<uint64_t>(bytes, 1) + offset;
  const uint64_t rounded = (wanted + alignment - 1) / alignment * alignment;
  void* start = nullptr;
  if (posix_memalign(&start, alignment, rounded) != 0) return nullptr;
  if (huge) madvise(start, rounded, MADV_HUGEPAGE);
  return AlignedMemory(static_cast<char*>(start) + offset, {start});
}

}  // namespace kiln
