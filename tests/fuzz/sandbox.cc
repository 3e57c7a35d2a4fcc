// A fault in a kernel is a signal on the thread that called it: the handler
// jumps back to before the call (siglongjmp), and the guard zone that holds the
// address says what was missed:
//
//   the kernel died of signal 11 at byte 256 of argument 1, which has 256
//
// Nothing of the kernel is unwound: on one thread it holds no locks, and its
// workspaces belong to the host, which frees them. Iterations run forwards or
// backwards on one thread in three parts; a result that depends on the order is
// a race. A fault on a thread of the pool ends the process, after the handler
// has printed the seeds at work.
#include "kiln/tests/fuzz/sandbox.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/measure/guard.h"

namespace kiln {
namespace {

// --- What a signal handler knows. Kernels run on the thread that calls them;
// with kThreads also on those of the pool, whose faults end the process.

constexpr int kMaxThreads = 64;
std::atomic<uint64_t> tasks[kMaxThreads];
std::atomic<int> num_tasks{0};
thread_local int my_task = -1;
thread_local sigjmp_buf* resume = nullptr;
thread_local volatile uintptr_t fault_address = 0;
unsigned alarm_after = 0;

void Write(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

void WriteNumber(uint64_t n) {
  char digits[24];
  int at = sizeof(digits) - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + n % 10);
  } while ((n /= 10) > 0);
  Write(digits + at);
}

void Report(int signal) {
  Write("\n");
  Write(program_invocation_short_name);
  Write(": signal ");
  WriteNumber(signal);
  Write(my_task < 0 ? " while at one of" : " at");
  for (int i = 0; i < std::min(num_tasks.load(), kMaxThreads); ++i) {
    if (my_task >= 0 && i != my_task) continue;
    Write(" --seed ");
    WriteNumber(tasks[i].load());
  }
  Write("\n");
}

void OnSignal(int number, siginfo_t* info, void*) {
  if (resume && number != SIGABRT && number != SIGALRM) {
    fault_address = reinterpret_cast<uintptr_t>(info->si_addr);
    siglongjmp(*resume, number);
  }
  Report(number);
  signal(number, SIG_DFL);
  raise(number);
  if (number == SIGALRM) _exit(3);
}

// Stack overflows need another stack to be handled on.
void UseSignalStack() {
  constexpr size_t kBytes = 1 << 16;
  static thread_local std::unique_ptr<char[]> memory(new char[kBytes]);
  stack_t stack{};
  stack.ss_sp = memory.get();
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

// --- The host.

struct Host {
  KilnHost abi;
  LoopOrder order;
  bool in_loop = false;
  std::vector<GuardedBuffer> workspaces;
  std::string violation;
};

ThreadPool& Pool() {
  static auto* pool = new ThreadPool({.num_threads = 3, .spin_us = 1});
  return *pool;
}

Host& HostOf(const KilnHost* abi) { return *static_cast<Host*>(abi->impl); }

int32_t ParallelFor(const KilnHost* abi, int64_t n, KilnParallelBody body,
                    void* env) {
  Host& host = HostOf(abi);
  if (host.order == LoopOrder::kThreads)
    return Pool().ParallelFor(n, body, env);
  if (host.in_loop) return KILN_KERNEL_NESTED_PARALLEL;
  host.in_loop = true;
  constexpr int64_t kParts = 3;
  int32_t status = 0;
  for (int64_t i = 0; i < kParts && status == 0; ++i) {
    const int64_t part = host.order == LoopOrder::kForward ? i : kParts - 1 - i;
    const int64_t begin = n * part / kParts, end = n * (part + 1) / kParts;
    if (begin < end) status = body(env, begin, end);
  }
  host.in_loop = false;
  return status;
}

void* Alloc(const KilnHost* abi, uint64_t bytes) {
  auto workspace = GuardedBuffer::Writable("workspace", bytes);
  if (!workspace) return nullptr;
  std::memset(workspace->data(), 0xff, bytes);
  void* data = workspace->data();
  HostOf(abi).workspaces.push_back(*std::move(workspace));
  return data;
}

void Free(const KilnHost* abi, void* data) {
  Host& host = HostOf(abi);
  if (host.workspaces.empty() || host.workspaces.back().data() != data) {
    host.violation = "workspaces are not given back in reverse order";
    return;
  }
  if (auto slack = host.workspaces.back().CheckSlack()) host.violation = *slack;
  host.workspaces.pop_back();
}

// On threads, workspaces come from the system.
void* AllocPlain(const KilnHost*, uint64_t bytes) {
  void* data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (data) std::memset(data, 0xff, bytes);
  return data;
}
void FreePlain(const KilnHost*, void* data) { std::free(data); }

// The kernel's own status, or minus the number of a signal below -1000.
int32_t Call(KilnKernel entry, const KilnHost* host, void* const* data,
             const int64_t* scalars) {
  sigjmp_buf here;
  const int number = sigsetjmp(here, 1);
  if (number != 0) {
    resume = nullptr;
    return -1000 - number;
  }
  resume = &here;
  const int32_t status = entry(host, data, scalars);
  resume = nullptr;
  return status;
}

absl::Status Explain(int32_t status) {
  if (status == 0) return absl::OkStatus();
  if (status > -1000) {
    return absl::InternalError(absl::StrCat("the kernel returned ", status));
  }
  std::string where;
  const auto* zone = FindZone(reinterpret_cast<const void*>(fault_address));
  if (zone) {
    where = absl::StrCat(
        " at byte ",
        static_cast<int64_t>(fault_address -
                             reinterpret_cast<uintptr_t>(zone->data)),
        " of ", zone->name, ", which has ", zone->bytes);
  }
  return absl::InternalError(
      absl::StrCat("the kernel died of signal ", -1000 - status, where));
}

}  // namespace

absl::Status RunInSandbox(KilnKernel entry, LoopOrder order,
                          const std::vector<int64_t>& scalars,
                          std::vector<Tensor>* tensors) {
  UseSignalStack();
  Host host{{&ParallelFor, &Alloc, &Free, nullptr}, order};
  if (order == LoopOrder::kThreads) {
    host.abi.alloc = &AllocPlain;
    host.abi.free = &FreePlain;
  }
  host.abi.impl = &host;
  std::vector<GuardedBuffer> buffers;
  std::vector<void*> data;
  for (size_t i = 0; i < tensors->size(); ++i) {
    const Tensor& t = (*tensors)[i];
    auto buffer =
        GuardedBuffer::Writable(absl::StrCat("argument ", i), t.bytes.size());
    if (!buffer) return absl::ResourceExhaustedError("no memory");
    std::copy(t.bytes.begin(), t.bytes.end(),
              static_cast<uint8_t*>(buffer->data()));
    data.push_back(buffer->data());
    buffers.push_back(*std::move(buffer));
  }
  const absl::Status status =
      Explain(Call(entry, &host.abi, data.data(), scalars.data()));
  if (!status.ok()) return status;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (auto slack = buffers[i].CheckSlack()) host.violation = *slack;
    const auto* from = static_cast<const uint8_t*>(buffers[i].data());
    std::copy_n(from, buffers[i].bytes(), (*tensors)[i].bytes.begin());
  }
  if (!host.workspaces.empty())
    host.violation = "a workspace was not given back";
  return host.violation.empty() ? absl::OkStatus()
                                : absl::InternalError(host.violation);
}

void InstallCrashReport(unsigned alarm_seconds) {
  alarm_after = alarm_seconds;
  struct sigaction action{};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(number, &action, nullptr);
  }
}

void SetCurrentTask(uint64_t seed) {
  if (my_task < 0) my_task = num_tasks++ % kMaxThreads;
  tasks[my_task] = seed;
  if (alarm_after) alarm(alarm_after);
}

}  // namespace kiln
