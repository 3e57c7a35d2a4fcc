#include "kiln/vm/library/kernel_host.h"

#include <algorithm>

#include "kiln/vm/library/kernel_fault.h"
#include "kiln/vm/library/workspace.h"

namespace kiln {
namespace {

static_assert(ThreadPool::kNestedParallel == KILN_KERNEL_NESTED_PARALLEL);
static_assert(kMemoryAlignment == KILN_KERNEL_ALIGNMENT);

// A kernel's loop body, with the status of a fault in place of the fault.
struct GuardedBody {
  static int32_t Run(void* env, int64_t begin, int64_t end) {
    const auto& self = *static_cast<const GuardedBody*>(env);
    return RunGuarded([&] { return self.body(self.env, begin, end); });
  }
  const KilnParallelBody body;
  void* const env;
};

}  // namespace

KernelHost::KernelHost(ThreadPool* pool, int max_threads)
    : pool_(pool), max_threads_(max_threads) {
  abi_.impl = this;
  abi_.parallel_for = [](const KilnHost* host, int64_t n, KilnParallelBody body,
                         void* env) -> int32_t {
    const auto* self = static_cast<const KernelHost*>(host->impl);
    GuardedBody guarded{body, env};
    return self->pool_->ParallelFor(n, GuardedBody::Run, &guarded,
                                    self->max_threads_);
  };
  abi_.alloc = [](const KilnHost*, uint64_t bytes) {
    return ThisThreadsWorkspaces().Allocate(bytes);
  };
  abi_.free = [](const KilnHost*, void* workspace) {
    if (workspace != nullptr) ThisThreadsWorkspaces().Free(workspace);
  };
}

int KernelHost::num_threads() const {
  const int threads = pool_->num_threads();
  return max_threads_ > 0 ? std::min(max_threads_, threads) : threads;
}

void KernelHost::ReleaseWorkspace() { ThisThreadsWorkspaces().Release(); }

uint64_t KernelHost::WorkspaceBytes() {
  return ThisThreadsWorkspaces().Bytes();
}

}  // namespace kiln
