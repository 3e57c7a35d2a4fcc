// GuardedHost: the host of a kernel's first, checked run. Its workspaces lie
// between guard zones.
#ifndef KILN_SEARCH_MEASURE_GUARDED_HOST_H_
#define KILN_SEARCH_MEASURE_GUARDED_HOST_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kiln/search/measure/guard.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {

// A byte that memory without contents is filled with, so that what is read
// before it is written shows, even in a maximum or a minimum, which would hide
// a NaN: floats of it are huge.
enum class Filler : uint8_t { kLow = 0xfe, kHigh = 0x7f };

// Fills the part of the stack that the next call will use, and, on x86-64, the
// vector registers: of a sum that begins with no value, LLVM takes the register
// as it stands.
void FillScratch(Filler filler);

// Ends FillScratch: the upper parts of vector registers become zero. Where they
// are not, an instruction of SSE depends on the register that it writes: on a
// Zen 4 a product of matrices takes 2.3 times as long.
void ClearScratch();

class GuardedHost {
 public:
  // Parallel loops go to `loops`, which must outlive this. Workspaces, the
  // stacks on which iterations run, and vector registers hold `filler` at
  // first.
  GuardedHost(const KilnHost* loops, Filler filler);
  GuardedHost(const GuardedHost&) = delete;
  GuardedHost& operator=(const GuardedHost&) = delete;

  const KilnHost* abi() const { return &abi_; }

  // How a workspace was left, if one was, as a sentence. Workspaces that the
  // kernel did not give back are looked at too.
  std::optional<std::string> CheckWorkspaces();

 private:
  static int32_t ParallelFor(const KilnHost* host, int64_t n,
                             KilnParallelBody body, void* env);
  static void* Alloc(const KilnHost* host, uint64_t bytes);
  static void Free(const KilnHost* host, void* workspace);
  void* AllocIdle(uint64_t bytes);

  const KilnHost* loops_;
  const Filler filler_;
  std::atomic<uint64_t> filled_{0};  // bytes of workspaces
  KilnHost abi_;
  std::mutex mutex_;
  std::vector<GuardedBuffer> workspaces_, idle_;
  int64_t freed_ = 0;
  std::optional<std::string> violation_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_GUARDED_HOST_H_
