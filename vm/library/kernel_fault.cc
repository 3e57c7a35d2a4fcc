#include "kiln/vm/library/kernel_fault.h"

#include <signal.h>

#include <atomic>
#include <iterator>
#include <mutex>

#include "kiln/vm/library/kernel_abi.h"

namespace kiln {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int kNumSignals = std::size(kSignals);

std::mutex mutex;
std::atomic<int> num_guards{0};
struct sigaction previous[kNumSignals];

void Restore() {
  for (int i = 0; i < kNumSignals; ++i) {
    sigaction(kSignals[i], &previous[i], nullptr);
  }
}

// Only a kernel's own fault comes with a landing. Another one happens again
// after the return, and meets the handler before.
void Answer(int number) {
  sigjmp_buf* const landing = internal::FaultLanding();
  if (landing == nullptr) return Restore();
  siglongjmp(*landing, number == SIGFPE ? KILN_KERNEL_DIVISION_FAULT
                                        : KILN_KERNEL_MEMORY_FAULT);
}

}  // namespace

namespace internal {

sigjmp_buf*& FaultLanding() {
  static thread_local constinit sigjmp_buf* landing = nullptr;
  return landing;
}

}  // namespace internal

bool KernelFaultGuard::IsActive() {
  return num_guards.load(std::memory_order_relaxed) > 0;
}

KernelFaultGuard::KernelFaultGuard() {
  const std::lock_guard lock(mutex);
  if (num_guards++ > 0) return;
  struct sigaction action = {};
  action.sa_handler = Answer;
  // The handler does not return to what faulted, so the signal must not stay
  // blocked.
  action.sa_flags = SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < kNumSignals; ++i) {
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

KernelFaultGuard::~KernelFaultGuard() {
  const std::lock_guard lock(mutex);
  if (--num_guards == 0) Restore();
}

}  // namespace kiln
