#include "kiln/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace kiln {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> interrupt_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free);

// Written by the handler, which may not allocate.
char acknowledgement_text[256];

void SetHandler(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void OnSignal(int signal) {
  const int error = errno;
  interrupted.store(true, std::memory_order_relaxed);
  interrupt_signal.store(signal, std::memory_order_relaxed);
  SetHandler(SIG_DFL, 0);
  const ssize_t written = write(STDERR_FILENO, acknowledgement_text,
                                std::strlen(acknowledgement_text));
  static_cast<void>(written);
  errno = error;
}

}  // namespace

// Without SA_RESTART, so that a waiting call comes back.
void InstallInterruptHandler(std::string_view acknowledgement) {
  const size_t size =
      std::min(acknowledgement.size(), sizeof acknowledgement_text - 1);
  std::copy_n(acknowledgement.data(), size, acknowledgement_text);
  acknowledgement_text[size] = '\0';
  SetHandler(&OnSignal, 0);
}

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

int InterruptSignal() {
  return interrupt_signal.load(std::memory_order_relaxed);
}

void Interrupt() { interrupted.store(true, std::memory_order_relaxed); }

void ResetInterruptHandler() {
  SetHandler(SIG_DFL, 0);
  interrupted.store(false, std::memory_order_relaxed);
  interrupt_signal.store(0, std::memory_order_relaxed);
}

}  // namespace kiln
