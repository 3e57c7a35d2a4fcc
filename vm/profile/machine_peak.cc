// Every thread works until it has used its time and then says how much it did,
// so all of them are at work at once whatever their speed, and their rates add
// up.
#include "kiln/vm/profile/machine_peak.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

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

// The first line of a file; empty where there is none.
std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Of the data cache of a level, as the kernel tells ("32768K"), else the C
// library, which takes what all cores of an AMD processor share for one cache.
int64_t CacheSize(int level, int name, int64_t fallback) {
  for (int i = 0;; ++i) {
    const std::string cache =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string type = LineOf(cache + "/type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    if (LineOf(cache + "/level") != std::to_string(level)) continue;
    const long long kib = std::atoll(LineOf(cache + "/size").c_str());
    if (kib > 0) return kib << 10;
  }
  const long size = sysconf(name);
  return size > 0 ? size : fallback;
}

std::string ListText(const char* name, const std::vector<double>& values) {
  std::string text = name;
  char buffer[32];
  for (double value : values) {
    std::snprintf(buffer, sizeof(buffer), " %.1f", value);
    text += buffer;
  }
  return text + "\n";
}

std::string ListText(const char* name, const std::vector<Bandwidth>& values) {
  std::string text = name;
  char buffer[64];
  for (const Bandwidth& value : values) {
    std::snprintf(buffer, sizeof(buffer), " %.1f/%.1f", value.read_gbs,
                  value.write_gbs);
    text += buffer;
  }
  return text + "\n";
}

constexpr double kPeakRunUs = 200;

}  // namespace

double MeasurePeakGflops(ThreadPool& pool, int threads, DType dtype,
                         const PeakOptions& options) {
  constexpr int64_t kIterations = 1000;
  const PeakKernels& kernels = BestPeakKernels();
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

CacheSizes GetCacheSizes() {
  CacheSizes sizes;
  sizes.l1 = CacheSize(1, _SC_LEVEL1_DCACHE_SIZE, sizes.l1);
  sizes.l2 = CacheSize(2, _SC_LEVEL2_CACHE_SIZE, sizes.l2);
  sizes.l3 = CacheSize(3, _SC_LEVEL3_CACHE_SIZE, sizes.l3);
  return sizes;
}

MachinePeak MeasureMachinePeak(ThreadPool& pool, const PeakOptions& options) {
  MachinePeak peak;
  peak.isa = std::string(BestPeakKernels().isa);
  peak.caches = GetCacheSizes();
  const int64_t memory = std::clamp<int64_t>(
      2 * peak.caches.l3, int64_t{64} << 20, int64_t{1} << 30);
  PeakOptions few = options;
  few.runs = 2;
  for (int threads = 1; threads <= pool.num_threads(); ++threads) {
    peak.f32_gflops.push_back(
        MeasurePeakGflops(pool, threads, DType::Float(32), options));
    peak.f64_gflops.push_back(
        MeasurePeakGflops(pool, threads, DType::Float(64), options));
    peak.l1.push_back(
        MeasureBandwidth(pool, threads, peak.caches.l1 / 2, options));
    peak.l2.push_back(
        MeasureBandwidth(pool, threads, peak.caches.l2 / 2, options));
    peak.memory.push_back(
        MeasureBandwidth(pool, threads, memory / threads, few));
  }
  return peak;
}

std::string ToString(const MachinePeak& peak) {
  return "multiply-add loops: " + peak.isa + "; caches: L1 " +
         std::to_string(peak.caches.l1 >> 10) + " KiB, L2 " +
         std::to_string(peak.caches.l2 >> 10) + " KiB, L3 " +
         std::to_string(peak.caches.l3 >> 20) +
         " MiB\nwith 1, 2, ... threads:\n" +
         ListText("  float32 GFLOP/s", peak.f32_gflops) +
         ListText("  float64 GFLOP/s", peak.f64_gflops) +
         ListText("  L1 read/write GB/s", peak.l1) +
         ListText("  L2 read/write GB/s", peak.l2) +
         ListText("  memory read/write GB/s", peak.memory);
}

}  // namespace kiln
