// The handler may call only what is safe in a signal handler: write and _exit.
#include "kiln/vm/library/kernel_fault.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <iterator>

namespace kiln {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int kNumSignals = std::size(kSignals);

std::atomic<const char*> kernel_name{nullptr};
struct sigaction previous[kNumSignals];

void Say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(2);
}

void Answer(int number) {
  const char* name = kernel_name.exchange(nullptr);
  // A second thread may fault while the first one answers.
  while (name == nullptr) pause();
  Say("function ");
  Say(name);
  Say(number == SIGFPE ? " divided an integer by zero"
                       : " reached outside of its buffers");
  Say("; the interpreter (run --check) tells where\n");
  _exit(1);
}

}  // namespace

KernelFaultMessage::KernelFaultMessage(const char* name) {
  kernel_name.store(name);
  struct sigaction action = {};
  action.sa_handler = Answer;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < kNumSignals; ++i) {
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

KernelFaultMessage::~KernelFaultMessage() {
  for (int i = 0; i < kNumSignals; ++i) {
    sigaction(kSignals[i], &previous[i], nullptr);
  }
}

}  // namespace kiln
