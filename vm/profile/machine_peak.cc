// Every thread works until it has used its time and then says how much it did,
// so all of them are at work at once whatever their speed, and their rates add
// up.
#include "kiln/vm/profile/machine_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <vector>

#include "kiln/base/aligned_memory.h"
#include "kiln/base/check.h"
#include "kiln/vm/profile/peak_kernels.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBlock = 1024;

// Keeps results of measured loops from being optimized away.
std::atomic<double> sink{0};

double MicrosSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

// The sum over threads of the rate at which step(thread) is called, per
// microsecond; the best of the runs.
template <typename Step>
double BestRate(ThreadPool& pool, int threads, const PeakOptions& options,
                const Step& step) {
  threads = std::clamp(threads, 1, pool.num_threads());
  std::vector<double> rates(threads);
  std::atomic<int> ready{0};
  const auto body = [&](int64_t begin, int64_t end) {
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    for (int64_t thread = begin; thread < end; ++thread) {
      const Clock::time_point start = Clock::now();
      int64_t steps = 0;
      double elapsed = 0;
      do {
        step(thread);
        ++steps;
        elapsed = MicrosSince(start);
      } while (elapsed < options.run_us);
      rates[thread] = static_cast<double>(steps) / elapsed;
    }
    return 0;
  };
  double best = 0;
  for (int run = 0; run < std::max(options.runs, 1); ++run) {
    ready.store(0);
    pool.ParallelFor(threads, body);
    double sum = 0;
    for (double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

constexpr double kPeakRunUs = 200;

}  // namespace

double MeasurePeakGflops(ThreadPool& pool, int threads, DType dtype,
                         const PeakOptions& options) {
  constexpr int64_t kIterations = 1000;
  const PeakKernels& kernels = BestPeakKernels(options.vector_bytes);
  const bool is_double = dtype == DType::Float(64);
  KILN_CHECK(is_double || dtype == DType::Float(32)) << dtype.ToString();
  const auto run = is_double ? kernels.fma_f64 : kernels.fma_f32;
  const int64_t flop = is_double ? kernels.f64_flop_per_iteration
                                 : kernels.f32_flop_per_iteration;
  // In the short runs that calls are timed in: a disturbance meets fewer.
  PeakOptions brief = options;
  brief.run_us = std::min(options.run_us, kPeakRunUs);
  brief.runs =
      static_cast<int>(std::ceil(options.runs * options.run_us / brief.run_us));
  const double rate = BestRate(pool, threads, brief, [&](int64_t) {
    sink.store(run(kIterations), std::memory_order_relaxed);
  });
  return rate * static_cast<double>(flop * kIterations) * 1e-3;
}

Bandwidth MeasureBandwidth(ThreadPool& pool, int threads,
                           int64_t bytes_per_thread,
                           const PeakOptions& options) {
  const PeakKernels& kernels = BestPeakKernels();
  threads = std::clamp(threads, 1, pool.num_threads());
  const int64_t bytes =
      std::max<int64_t>(1, (bytes_per_thread + kBlock - 1) / kBlock) * kBlock;
  std::vector<AlignedMemory> memory(threads);
  for (AlignedMemory& part : memory) {
    part = AllocateAligned(bytes);
    if (part == nullptr) return {};
    kernels.write(part.get(), bytes);
  }
  // Small buffers are gone through many times between looks at the clock, each
  // of which takes as long as 10 KiB from the nearest cache.
  const int64_t repeats = std::max<int64_t>(1, (1 << 20) / bytes);
  const double scale = static_cast<double>(repeats * bytes) * 1e-3;
  Bandwidth result;
  result.read_gbs = scale * BestRate(pool, threads, options, [&](int64_t t) {
                      for (int64_t r = 0; r < repeats; ++r) {
                        sink.store(kernels.read(memory[t].get(), bytes),
                                   std::memory_order_relaxed);
                      }
                    });
  result.write_gbs = scale * BestRate(pool, threads, options, [&](int64_t t) {
                       for (int64_t r = 0; r < repeats; ++r)
                         kernels.write(memory[t].get(), bytes);
                     });
  return result;
}

}  // namespace kiln
