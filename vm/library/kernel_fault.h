// A message instead of a crash for kernels that are run without a guard.
#ifndef KILN_VM_LIBRARY_KERNEL_FAULT_H_
#define KILN_VM_LIBRARY_KERNEL_FAULT_H_

namespace kiln {

// While one lives, a memory fault or a division fault in any thread prints
// "NAME reached outside of its memory …" with the way out to stderr and ends
// the process with status 1. For a program's main thread: it owns the handlers
// of SIGSEGV, SIGBUS and SIGFPE, and gives them back at the end.
class KernelFaultMessage {
 public:
  // `name` is the kernel's, and outlives this.
  explicit KernelFaultMessage(const char* name);
  ~KernelFaultMessage();
  KernelFaultMessage(const KernelFaultMessage&) = delete;
  KernelFaultMessage& operator=(const KernelFaultMessage&) = delete;
};

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_KERNEL_FAULT_H_
