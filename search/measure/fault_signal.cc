// A signal handler may neither allocate nor call protobuf, so it spells the
// message by hand: a string field is its tag, its length and its bytes, and
// lengths here stay below 128, which is one byte. A division by zero answers
//
//   0f 00 00 00   0a 05 "crash"   12 06 "SIGFPE"
//   frame of 15   verdict         reason
//
// A fault inside of a guard zone is told as out_of_bounds, with the buffer and
// the distance to it. The worker ends after its answer: nothing in it can be
// trusted.
#include "kiln/search/measure/fault_signal.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "kiln/search/measure/guard.h"

namespace kiln {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
constexpr size_t kStackBytes = 64 * 1024;
constexpr char kVerdictTag = 0x0a;  // Field 1, length-delimited.
constexpr char kReasonTag = 0x12;   // Field 2, length-delimited.

int answer_fd = -1;
std::atomic<bool> answering{false};

// Text of less than 128 bytes.
class ShortText {
 public:
  void Add(const char* text) {
    while (*text != '\0' && size_ < sizeof text_) text_[size_++] = *text++;
  }
  void Add(uint64_t value, unsigned base = 10) {
    char digits[24] = {};
    char* at = digits + sizeof digits - 1;
    do {
      *--at = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    Add(at);
  }
  const char* data() const { return text_; }
  size_t size() const { return size_; }

 private:
  char text_[120];
  size_t size_ = 0;
};

const char* SignalName(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "a signal";
  }
}

bool WasWrite([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto* user = static_cast<const ucontext_t*>(context);
  return (user->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return false;
#endif
}

void DescribeZone(const GuardZone& zone, const char* address, bool write,
                  ShortText& reason) {
  reason.Add(write ? "wrote " : "accessed ");
  if (address < zone.data) {
    reason.Add(static_cast<uint64_t>(zone.data - address));
    reason.Add(" bytes before buffer ");
  } else if (address < zone.data + zone.bytes) {
    reason.Add("byte ");
    reason.Add(static_cast<uint64_t>(address - zone.data));
    reason.Add(" of the read-only buffer ");
  } else {
    reason.Add(static_cast<uint64_t>(address - zone.data - zone.bytes));
    reason.Add(" bytes past the end of buffer ");
  }
  reason.Add(zone.name);
}

// Whether a thread left its stack: it touched what lies close to its stack
// pointer, and is not mapped.
bool IsNearStackPointer([[maybe_unused]] const void* address,
                        [[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr int64_t kNear = 256 * 1024;
  const auto* user = static_cast<const ucontext_t*>(context);
  const int64_t distance =
      reinterpret_cast<int64_t>(address) - user->uc_mcontext.gregs[REG_RSP];
  return -kNear < distance && distance < kNear;
#else
  return false;
#endif
}

size_t AppendField(char* frame, size_t at, char tag, const char* text,
                   size_t size) {
  frame[at++] = tag;
  frame[at++] = static_cast<char>(size);
  std::memcpy(frame + at, text, size);
  return at + size;
}

void Answer(const char* verdict, const ShortText& reason) {
  char frame[300];
  size_t end = 4;
  end = AppendField(frame, end, kVerdictTag, verdict, std::strlen(verdict));
  end = AppendField(frame, end, kReasonTag, reason.data(), reason.size());
  const auto length = static_cast<uint32_t>(end - 4);
  for (int i = 0; i < 4; ++i) frame[i] = static_cast<char>(length >> (8 * i));
  if (write(answer_fd, frame, end) < 0) _exit(2);
}

void Handle(int number, siginfo_t* info, void* context) {
  // A second thread may fault while the first one answers.
  if (answering.exchange(true)) {
    while (true) pause();
  }
  ShortText reason;
  const bool memory = number == SIGSEGV || number == SIGBUS;
  const void* address = memory ? info->si_addr : nullptr;
  const GuardZone* zone = memory ? FindZone(address) : nullptr;
  if (zone != nullptr) {
    DescribeZone(*zone, static_cast<const char*>(address), WasWrite(context),
                 reason);
    Answer("out_of_bounds", reason);
    _exit(1);
  }
  reason.Add(SignalName(number));
  if (memory) {
    reason.Add(" at address 0x");
    reason.Add(reinterpret_cast<uint64_t>(address), 16);
    if (IsNearStackPointer(address, context)) {
      reason.Add(", past the end of the stack; its limit is that of ulimit -s");
    }
  }
  Answer("crash", reason);
  _exit(1);
}

void UseStackOfItsOwn() {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace

void AnswerFatalSignals(int fd) {
  answer_fd = fd;
  UseStackOfItsOwn();
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int number : kSignals) sigaction(number, &action, nullptr);
}

}  // namespace kiln
