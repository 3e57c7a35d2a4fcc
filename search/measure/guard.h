// Buffers between guard zones, so that a kernel that leaves them is caught.
//
//   | no access | slack | the buffer | slack | no access |
//
// The buffer, rounded up to the kernel's alignment, ends where a page that
// nothing may touch begins. Slack in the same pages holds a pattern that
// CheckSlack looks at. Buffers that a kernel must not write are read-only.
// Every zone is known to FindZone, which a signal handler may call.
#ifndef KILN_SEARCH_MEASURE_GUARD_H_
#define KILN_SEARCH_MEASURE_GUARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

// The alignment to which a buffer's end is rounded up.
inline constexpr uint64_t kGuardAlignment = 64;

// Bytes of whole pages that a buffer of `bytes` takes, guard pages apart.
uint64_t GuardedSpan(uint64_t bytes);
// Where in those pages the buffer starts.
uint64_t GuardedStart(uint64_t bytes);

class GuardedBuffer {
 public:
  // Private writable memory, zero, its slack filled with the pattern. nullopt
  // where there is no memory. The name is cut to 31 characters.
  static std::optional<GuardedBuffer> Writable(std::string_view name,
                                               uint64_t bytes);
  // A read-only view of the file from `offset` (a multiple of the page size)
  // on, of GuardedSpan(bytes).
  static std::optional<GuardedBuffer> ReadOnly(std::string_view name, int fd,
                                               uint64_t offset, uint64_t bytes);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  void* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

  // Which slack of a writable buffer was overwritten, as a sentence, if any.
  std::optional<std::string> CheckSlack() const;

 private:
  GuardedBuffer() = default;
  static std::optional<GuardedBuffer> Reserve(std::string_view name,
                                              uint64_t bytes);
  char* pages() const;

  char* base_ = nullptr;  // Of the mapping with its guard pages.
  uint64_t mapped_ = 0;
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  int zone_ = -1;  // In the table of zones, -1 where that is full.
};

// What a faulting address belongs to.
struct GuardZone {
  char name[32];
  const char* begin;  // Of the mapping with its guard pages.
  const char* end;
  const char* data;
  uint64_t bytes;
};

// The zone that holds the address, or null. Safe in a signal handler.
const GuardZone* FindZone(const void* address);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_GUARD_H_
