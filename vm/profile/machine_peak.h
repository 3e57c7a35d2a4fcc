// What this machine can do: the measured ceilings that "% of peak" refers to.
#ifndef KILN_VM_PROFILE_MACHINE_PEAK_H_
#define KILN_VM_PROFILE_MACHINE_PEAK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/base/thread_pool.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

struct PeakOptions {
  // Each figure is the best of this many runs of about this long.
  int runs = 5;
  double run_us = 2000;
};

// GFLOP/s (a multiply-add counts as two) that `threads` threads of the pool
// reach at once with independent chains of multiply-adds in registers: the sum
// over the threads. `dtype` is float32 or float64; `threads` is limited to what
// the pool has. The time of `options` is spent in runs of 0.2 ms at most, as
// `bench` times its contenders.
double MeasurePeakGflops(ThreadPool& pool, int threads, DType dtype,
                         const PeakOptions& options = {});

// GB/s of all `threads` together, each going through its own `bytes_per_thread`
// (rounded up to 1024) again and again.
struct Bandwidth {
  double read_gbs = 0;
  double write_gbs = 0;
};
Bandwidth MeasureBandwidth(ThreadPool& pool, int threads,
                           int64_t bytes_per_thread,
                           const PeakOptions& options = {});

// Bytes of data cache as the system tells, per core for L1 and L2; a common
// size where it does not tell.
struct CacheSizes {
  int64_t l1 = 32 << 10;
  int64_t l2 = 1 << 20;
  int64_t l3 = 16 << 20;
};
CacheSizes GetCacheSizes();

// Everything together. Element i of a list is measured with i + 1 threads, up
// to those of the pool.
struct MachinePeak {
  std::string isa;  // Of the loops: "avx512f", "avx2+fma" or "baseline".
  CacheSizes caches;
  std::vector<double> f32_gflops;
  std::vector<double> f64_gflops;
  // Half of the cache for L1 and L2; twice the last cache (64 MiB to 1 GiB)
  // over all threads for memory.
  std::vector<Bandwidth> l1;
  std::vector<Bandwidth> l2;
  std::vector<Bandwidth> memory;
};
MachinePeak MeasureMachinePeak(ThreadPool& pool,
                               const PeakOptions& options = {});

// A few lines to read.
std::string ToString(const MachinePeak& peak);

}  // namespace kiln

#endif  // KILN_VM_PROFILE_MACHINE_PEAK_H_
