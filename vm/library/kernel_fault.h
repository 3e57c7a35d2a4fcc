// A status in place of a crash where a kernel faults.
#ifndef KILN_VM_LIBRARY_KERNEL_FAULT_H_
#define KILN_VM_LIBRARY_KERNEL_FAULT_H_

#include <setjmp.h>

#include <cstdint>
#include <utility>

#include "kiln/vm/library/workspace.h"

namespace kiln {

// While one lives, a memory fault or a division fault inside of RunGuarded, in
// any thread, ends that call alone. Faults elsewhere go to the handlers before.
// It owns the process's handlers of SIGSEGV, SIGBUS and SIGFPE, so it is a
// program's decision to have one, and a second is the same as one. An overflown
// stack is not caught.
class KernelFaultGuard {
 public:
  KernelFaultGuard();
  ~KernelFaultGuard();
  KernelFaultGuard(const KernelFaultGuard&) = delete;
  KernelFaultGuard& operator=(const KernelFaultGuard&) = delete;

  static bool IsActive();
};

namespace internal {

// Where the calling thread goes on after a fault; null outside of RunGuarded.
sigjmp_buf*& FaultLanding();

}  // namespace internal

// What `run` returns, KILN_KERNEL_MEMORY_FAULT or KILN_KERNEL_DIVISION_FAULT.
// `run` calls a kernel or a part of one: code that holds no lock and has no
// destructors, as it is left where it faults. Its workspaces are given back.
template <typename Run>
int32_t RunGuarded(Run&& run) {
  if (!KernelFaultGuard::IsActive()) return run();
  sigjmp_buf here;
  sigjmp_buf*& landing = internal::FaultLanding();
  sigjmp_buf* const around = landing;
  const size_t depth = ThisThreadsWorkspaces().depth();
  const int fault = sigsetjmp(here, /*savemask=*/0);
  if (fault != 0) {
    internal::FaultLanding() = around;
    ThisThreadsWorkspaces().Rewind(depth);
    return fault;
  }
  landing = &here;
  const int32_t status = run();
  landing = around;
  return status;
}

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_KERNEL_FAULT_H_
