#include "kiln/base/interrupt.h"

#include <signal.h>

#include <atomic>

namespace kiln {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void SetHandler(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void OnSignal(int) {
  interrupted.store(true, std::memory_order_relaxed);
  SetHandler(SIG_DFL, 0);
}

}  // namespace

// Without SA_RESTART, so that a waiting call comes back.
void InstallInterruptHandler() { SetHandler(&OnSignal, 0); }

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

void Interrupt() { interrupted.store(true, std::memory_order_relaxed); }

void ResetInterruptHandler() {
  SetHandler(SIG_DFL, 0);
  interrupted.store(false, std::memory_order_relaxed);
}

}  // namespace kiln
