// A resident pool of threads for loops that take microseconds.
//
// Workers spin for a moment after each loop, then sleep in the kernel, so a
// loop that follows another one starts within about a microsecond. The calling
// thread takes part. Each thread starts on a contiguous part of its own, the
// same one in every loop of that length, and then helps threads that are
// slower: a CPU that others disturb does not hold up the rest. Loops that
// several threads start at once run one after the other.
#ifndef KILN_BASE_THREAD_POOL_H_
#define KILN_BASE_THREAD_POOL_H_

#include <cstdint>
#include <memory>
#include <type_traits>

namespace kiln {

class ThreadPool {
 public:
  // Returned, with nothing run, by a loop started inside another loop's body,
  // whatever the pool: nested parallelism is refused.
  static constexpr int32_t kNestedParallel = -2;

  // Runs iterations begin <= i < end; 0 means success.
  using Body = int32_t (*)(void* env, int64_t begin, int64_t end);

  struct Options {
    // The calling thread included. 0: as many as the process has CPUs.
    int num_threads = 0;
    // Ties the thread that makes the pool to the first CPU that it may use, for
    // as long as the pool lives, and worker i (from 1) to the i-th after it.
    bool pin_threads = false;
    // How long an idle worker spins before it sleeps, in microseconds.
    int spin_us = 100;
  };

  // For measuring: `num_threads` of them (0: as many as CPUs), tied to CPUs
  // where they need each one. Else two threads may share a CPU for milliseconds
  // while another is idle.
  static Options OneForEachCpu(int num_threads);

  ThreadPool() : ThreadPool(Options()) {}
  explicit ThreadPool(const Options& options);
  // Waits for the workers to end; no loop may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Threads that take part in a loop, the caller included. Fewer than asked for
  // where the system refused to start more. In a process forked after the pool
  // was made it is 1: workers do not survive a fork, loops run in the caller,
  // and a new pool can be made.
  int num_threads() const;

  // Runs each of [0, n) once, on at most min(n, num_threads(), max_threads)
  // threads; max_threads <= 0 sets no limit. Thread t starts with iteration t
  // of as many; `body` gets ranges, some for each thread. Returns the status of
  // the first range, by position, that did not return 0, else 0. n <= 0 runs
  // nothing.
  int32_t ParallelFor(int64_t n, Body body, void* env, int max_threads = 0);

  // The same for a callable of (begin, end) that returns a status.
  template <typename F>
  int32_t ParallelFor(int64_t n, F&& f) {
    using Callable = std::remove_reference_t<F>;
    const Body body = [](void* env, int64_t begin, int64_t end) {
      return static_cast<int32_t>((*static_cast<Callable*>(env))(begin, end));
    };
    return ParallelFor(n, body, const_cast<void*>(static_cast<const void*>(&f)),
                       0);
  }

  // CPUs that this process may run on.
  static int NumAvailableCpus();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln

#endif  // KILN_BASE_THREAD_POOL_H_
