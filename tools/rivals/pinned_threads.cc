#include "kiln/tools/rivals/pinned_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "kiln/base/affinity.h"

namespace kiln::bench {
namespace {

void Pin(pid_t thread, int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(thread, sizeof(one), &one);
}

// The other threads of the process, the oldest first.
std::vector<pid_t> Others() {
  std::vector<pid_t> threads;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const pid_t id = std::atoi(entry.path().filename().c_str());
    if (id != self) threads.push_back(id);
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

}  // namespace

PinnedThreads::PinnedThreads(int working) {
  if (working < 2 || sched_getaffinity(0, sizeof(before_), &before_) != 0) {
    return;
  }
  const std::vector<int> cpus = CpusOf(before_);
  if (cpus.size() < static_cast<size_t>(working)) return;
  active_ = true;
  const std::vector<pid_t> others = Others();
  for (size_t i = 0; i < others.size(); ++i) {
    Pin(others[i], cpus[1 + i % (cpus.size() - 1)]);
  }
  Pin(0, cpus[0]);
}

PinnedThreads::~PinnedThreads() {
  if (active_) sched_setaffinity(0, sizeof(before_), &before_);
}

}  // namespace kiln::bench
