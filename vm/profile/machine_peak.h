// What this machine can do: the measured ceilings that "% of peak" refers to.
#ifndef KILN_VM_PROFILE_MACHINE_PEAK_H_
#define KILN_VM_PROFILE_MACHINE_PEAK_H_

#include <cstdint>

#include "kiln/base/thread_pool.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

struct PeakOptions {
  // Each figure is the best of this many runs of about this long.
  int runs = 5;
  double run_us = 2000;
  // Arithmetic in registers of this many bytes, or the widest below that this
  // CPU has multiply-adds for.
  int vector_bytes = 64;
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

}  // namespace kiln

#endif  // KILN_VM_PROFILE_MACHINE_PEAK_H_
