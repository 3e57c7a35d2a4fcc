// The services that this runtime offers to kernels: loops on a thread pool, and
// workspaces that are kept and used again by the next call.
#ifndef KILN_VM_LIBRARY_KERNEL_HOST_H_
#define KILN_VM_LIBRARY_KERNEL_HOST_H_

#include "kiln/base/thread_pool.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {

// A host whose parallel loops use at most `max_threads` (0: all) threads of
// `pool`, which must outlive it. Several hosts with limits of their own may
// share a pool. Workspaces belong to the calling thread, whatever the host: a
// thread keeps the most memory that its kernels have held at once, until
// ReleaseWorkspace or its end, so a warm call does not reach malloc.
class KernelHost {
 public:
  explicit KernelHost(ThreadPool* pool, int max_threads = 0);
  KernelHost(const KernelHost&) = delete;
  KernelHost& operator=(const KernelHost&) = delete;

  // What kernels are called with.
  const KilnHost* abi() const { return &abi_; }
  // Threads that a loop can use.
  int num_threads() const;

  // Returns the calling thread's idle workspace memory to the system.
  static void ReleaseWorkspace();
  // Bytes that the calling thread's workspaces hold, in use or idle.
  static uint64_t WorkspaceBytes();

 private:
  ThreadPool* pool_;
  int max_threads_;
  KilnHost abi_;
};

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_KERNEL_HOST_H_
