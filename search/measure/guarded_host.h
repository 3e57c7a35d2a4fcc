// GuardedHost: the host of a kernel's first, checked run. Its workspaces lie
// between guard zones.
#ifndef KILN_SEARCH_MEASURE_GUARDED_HOST_H_
#define KILN_SEARCH_MEASURE_GUARDED_HOST_H_

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kiln/search/measure/guard.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {

class GuardedHost {
 public:
  // Parallel loops go to `loops`, which must outlive this.
  explicit GuardedHost(const KilnHost* loops);
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

  const KilnHost* loops_;
  KilnHost abi_;
  std::mutex mutex_;
  std::vector<GuardedBuffer> workspaces_;
  std::optional<std::string> violation_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_GUARDED_HOST_H_
