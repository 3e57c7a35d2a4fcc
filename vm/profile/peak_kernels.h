// The loops behind machine_peak.h, in a version for each vector width.
#ifndef KILN_VM_PROFILE_PEAK_KERNELS_H_
#define KILN_VM_PROFILE_PEAK_KERNELS_H_

#include <cstdint>
#include <string_view>

namespace kiln {

struct PeakKernels {
  std::string_view isa;  // "avx512f", "avx2+fma" or "baseline".
  // Independent chains of multiply-add over full vectors. The result depends
  // on all of them.
  double (*fma_f32)(int64_t iterations);
  double (*fma_f64)(int64_t iterations);
  // Floating-point operations (two for a multiply-add) in one iteration.
  int64_t f32_flop_per_iteration;
  int64_t f64_flop_per_iteration;
  // Reads or writes `bytes`, a multiple of 1024, at a 64-byte aligned address.
  double (*read)(const void* data, int64_t bytes);
  void (*write)(void* data, int64_t bytes);
};

// The widest version that this CPU can run, for registers of at most so many
// bytes.
const PeakKernels& BestPeakKernels(int most_vector_bytes = 64);

}  // namespace kiln

#endif  // KILN_VM_PROFILE_PEAK_KERNELS_H_
