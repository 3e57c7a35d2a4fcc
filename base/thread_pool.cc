// The caller writes the job, then raises each worker's own epoch, which is both
// the word that the worker spins on and its futex. A worker that is about to
// sleep says so first and looks at its epoch again, so that either the caller
// sees the flag and wakes it, or it sees the epoch. The last worker to finish
// wakes the caller in the same way.
//
// A thread takes ranges from the front of its part, each half of what the part
// still holds; one that has finished takes half of another's part from the
// back, never its first range. A part is one word with both ends, so that one
// compare-and-swap takes a range and no iteration can be taken twice:
//
//   8 iterations, 2 threads: parts [0, 4) and [4, 8)
//     thread 0 takes [0, 2), [2, 3), [3, 4)
//     thread 1 takes [4, 6) and is held up; its part is [6, 8)
//     thread 0 takes [7, 8) from the back; [6, 7) is for whoever comes first
#include "kiln/base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <vector>

#include "kiln/base/affinity.h"

namespace kiln {
namespace {

constexpr size_t kCacheLine = 64;
// Ends of ranges fit into 32 bits.
constexpr int64_t kMaxUnits = int64_t{1} << 31;

thread_local bool inside_loop = false;

// Raised in the child by every fork.
std::atomic<uint32_t> fork_generation{0};

void RegisterForkHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] {
      fork_generation.fetch_add(1, std::memory_order_relaxed);
      inside_loop = false;
    });
  });
}

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// Spins until `done` or until the time is over.
template <typename Done>
bool SpinUntil(int spin_us, Done done) {
  for (int i = 0; i < 64; ++i) {
    if (done()) return true;
    Pause();
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::microseconds(spin_us);
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// A word that one side waits on until it has a certain property.
struct alignas(kCacheLine) WaitWord {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> asleep{0};

  template <typename Ready>
  uint32_t Wait(int spin_us, Ready ready) {
    const auto test = [&] {
      return ready(value.load(std::memory_order_acquire));
    };
    if (!SpinUntil(spin_us, test)) Sleep(ready);
    return value.load(std::memory_order_acquire);
  }
  void WakeIfAsleep() {
    if (asleep.load() != 0) FutexWake(value);
  }

 private:
  template <typename Ready>
  void Sleep(Ready ready) {
    asleep.store(1);
    for (uint32_t now = value.load(); !ready(now); now = value.load()) {
      FutexWait(value, now);
    }
    asleep.store(0);
  }
};

struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  bool empty() const { return begin >= end; }
};

// The units of a thread's part of a loop that nobody has taken yet. The thread
// itself takes the first range, whoever helps.
class alignas(kCacheLine) Part {
 public:
  int32_t status = 0;     // of the last range that its thread ran
  int64_t failed_at = 0;  // where that began

  void Reset(int64_t begin, int64_t end) {
    status = 0;
    first_ = begin;
    Put({begin, end});
  }
  void Put(Range range) { left_.store(Pack(range)); }

  Range TakeFront() {
    return Take(
        [](Range left) {
          const int64_t size = left.end - left.begin;
          return left.begin + (size + 1) / 2;
        },
        true);
  }
  Range TakeBack() {
    return Take(
        [&](Range left) {
          const int64_t begin = left.begin + (left.begin == first_ ? 1 : 0);
          return begin + (left.end - begin) / 2;
        },
        false);
  }

 private:
  // Cuts the units left at `cut_at` and takes those in front or behind.
  template <typename CutAt>
  Range Take(CutAt cut_at, bool front) {
    uint64_t seen = left_.load();
    for (;;) {
      const Range left = Unpack(seen);
      if (left.empty()) return {};
      const int64_t cut = cut_at(left);
      const Range before = {left.begin, cut}, behind = {cut, left.end};
      if (left_.compare_exchange_weak(seen, Pack(front ? behind : before))) {
        return front ? before : behind;
      }
    }
  }

  static uint64_t Pack(Range range) {
    return static_cast<uint64_t>(range.begin) << 32 |
           static_cast<uint64_t>(range.end);
  }
  static Range Unpack(uint64_t word) {
    return {static_cast<int64_t>(word >> 32),
            static_cast<int64_t>(word & 0xffffffff)};
  }

  int64_t first_ = 0;
  std::atomic<uint64_t> left_{0};
};

void Pin(pthread_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread, sizeof(set), &set);
}

}  // namespace

class ThreadPool::Impl {
 public:
  explicit Impl(const Options& options) : spin_us_(options.spin_us) {
    RegisterForkHandler();
    generation_ = fork_generation.load(std::memory_order_relaxed);
    const int wanted =
        options.num_threads > 0 ? options.num_threads : NumAvailableCpus();
    for (int i = 1; i < wanted; ++i) {
      if (!StartWorker(i)) break;
    }
    if (options.pin_threads) PinThreads();
    parts_ = std::vector<Part>(1 + workers_.size());
  }

  void Stop() {
    stop_ = true;
    Publish(static_cast<int>(workers_.size()));
    for (auto& worker : workers_) pthread_join(worker->thread, nullptr);
    if (is_pinned_ && pthread_equal(pinned_, pthread_self())) {
      sched_setaffinity(0, sizeof(unpinned_), &unpinned_);
    }
  }

  bool Forked() const {
    return fork_generation.load(std::memory_order_relaxed) != generation_;
  }
  int num_threads() const {
    return Forked() ? 1 : 1 + static_cast<int>(workers_.size());
  }

  int32_t Run(int64_t n, Body body, void* env, int parts) {
    std::lock_guard<std::mutex> lock(mutex_);
    n_ = n;
    unit_ = n / kMaxUnits + 1;
    body_ = body;
    env_ = env;
    num_parts_ = parts;
    const int64_t units = (n + unit_ - 1) / unit_;
    for (int i = 0; i < parts; ++i) {
      parts_[i].Reset(units * i / parts, units * (i + 1) / parts);
    }
    pending_.value.store(parts - 1, std::memory_order_relaxed);
    Publish(parts - 1);
    RunPart(0);
    pending_.Wait(spin_us_, [](uint32_t pending) { return pending == 0; });
    return FirstFailure();
  }

 private:
  struct Worker {
    WaitWord epoch;
    int part = 0;
    pthread_t thread{};
    Impl* pool = nullptr;
  };

  bool StartWorker(int part) {
    auto worker = std::make_unique<Worker>();
    worker->pool = this;
    worker->part = part;
    if (pthread_create(&worker->thread, nullptr, &Main, worker.get()) != 0) {
      return false;
    }
    workers_.push_back(std::move(worker));
    return true;
  }

  void PinThreads() {
    pinned_ = pthread_self();
    if (sched_getaffinity(0, sizeof(unpinned_), &unpinned_) != 0) return;
    const std::vector<int> cpus = CpusOf(unpinned_);
    for (auto& worker : workers_) {
      Pin(worker->thread, cpus[worker->part % cpus.size()]);
    }
    Pin(pinned_, cpus[0]);
    is_pinned_ = true;
  }

  // Raises the epochs first and wakes sleepers after, since a wake is slow.
  void Publish(int count) {
    for (int i = 0; i < count; ++i) workers_[i]->epoch.value.fetch_add(1);
    for (int i = 0; i < count; ++i) workers_[i]->epoch.WakeIfAsleep();
  }

  void RunPart(int part) {
    inside_loop = true;
    do {
      RunOwn(parts_[part]);
    } while (parts_[part].status == 0 && Help(part));
    inside_loop = false;
  }

  void RunOwn(Part& own) {
    for (Range range = own.TakeFront(); !range.empty() && own.status == 0;
         range = own.TakeFront()) {
      const int64_t begin = range.begin * unit_;
      own.status = body_(env_, begin, std::min(n_, range.end * unit_));
      own.failed_at = begin;
    }
  }

  // Takes over a share of another part. False where all ranges are taken.
  bool Help(int part) {
    for (int i = 1; i < num_parts_; ++i) {
      const Range range = parts_[(part + i) % num_parts_].TakeBack();
      if (range.empty()) continue;
      parts_[part].Put(range);
      return true;
    }
    return false;
  }

  int32_t FirstFailure() const {
    const Part* first = nullptr;
    for (int i = 0; i < num_parts_; ++i) {
      const Part& part = parts_[i];
      if (part.status == 0) continue;
      if (!first || part.failed_at < first->failed_at) first = &part;
    }
    return first ? first->status : 0;
  }

  void Work(Worker& self) {
    for (uint32_t seen = 0;;) {
      seen = self.epoch.Wait(spin_us_,
                             [seen](uint32_t epoch) { return epoch != seen; });
      if (stop_) return;
      RunPart(self.part);
      if (pending_.value.fetch_sub(1) == 1) pending_.WakeIfAsleep();
    }
  }

  static void* Main(void* argument) {
    Worker* self = static_cast<Worker*>(argument);
    self->pool->Work(*self);
    return nullptr;
  }

  const int spin_us_;
  uint32_t generation_ = 0;
  std::mutex mutex_;  // Held by the thread whose loop is running.
  std::vector<std::unique_ptr<Worker>> workers_;
  bool stop_ = false;
  bool is_pinned_ = false;
  pthread_t pinned_{};    // the thread that made the pool,
  cpu_set_t unpinned_{};  // and where it ran before
  int64_t n_ = 0;
  int64_t unit_ = 1;  // iterations that are never parted
  int num_parts_ = 1;
  std::vector<Part> parts_;  // one for each thread, the caller's first
  Body body_ = nullptr;
  void* env_ = nullptr;
  WaitWord pending_;  // Parts that workers have not finished.
};

ThreadPool::Options ThreadPool::OneForEachCpu(int num_threads) {
  const int cpus = NumAvailableCpus();
  Options options;
  options.num_threads = num_threads > 0 ? num_threads : cpus;
  options.pin_threads = options.num_threads > 1 && options.num_threads >= cpus;
  return options;
}

ThreadPool::ThreadPool(const Options& options)
    : impl_(std::make_unique<Impl>(options)) {}

ThreadPool::~ThreadPool() {
  if (impl_->Forked()) {
    // There are no threads to join here, and the state that they shared may
    // have been caught in the middle of a change: it is left alone.
    static_cast<void>(impl_.release());
    return;
  }
  impl_->Stop();
}

int ThreadPool::num_threads() const { return impl_->num_threads(); }

int ThreadPool::NumAvailableCpus() {
  return static_cast<int>(AllowedCpus().size());
}

int32_t ThreadPool::ParallelFor(int64_t n, Body body, void* env,
                                int max_threads) {
  if (inside_loop) return kNestedParallel;
  if (n <= 0) return 0;
  int64_t parts = std::min<int64_t>(n, num_threads());
  if (max_threads > 0) parts = std::min<int64_t>(parts, max_threads);
  if (parts > 1) return impl_->Run(n, body, env, static_cast<int>(parts));
  inside_loop = true;
  const int32_t status = body(env, 0, n);
  inside_loop = false;
  return status;
}

}  // namespace kiln
