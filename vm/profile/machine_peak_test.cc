#include "kiln/vm/profile/machine_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kiln/base/aligned_memory.h"
#include "kiln/vm/profile/peak_kernels.h"

namespace kiln {
namespace {

constexpr PeakOptions kShort = {1, 50};

// Of one lane of twelve chains, which begin with 0, 0.001 .. 0.011 and get
// 0.999 times 0.001 eight times an iteration.
double SumAfter(int64_t iterations) {
  return 0.066 + 12 * 8 * 0.999e-3 * static_cast<double>(iterations);
}

TEST(MachinePeakTest, KernelsComputeWhatTheyCount) {
  const PeakKernels& kernels = BestPeakKernels();
  EXPECT_NEAR(kernels.fma_f64(5000), SumAfter(5000), 1e-6);
  EXPECT_NEAR(kernels.fma_f32(5000), SumAfter(5000), 1);
  EXPECT_EQ(kernels.f32_flop_per_iteration, 2 * kernels.f64_flop_per_iteration);
}

TEST(MachinePeakTest, MemoryKernelsTouchAllTheirBytesAndNoMore) {
  const PeakKernels& kernels = BestPeakKernels();
  AlignedMemory memory = AllocateAligned(4096);
  char* bytes = static_cast<char*>(memory.get());
  std::fill(bytes, bytes + 4096, 0);
  EXPECT_EQ(kernels.read(bytes, 3072), 0);
  kernels.write(bytes, 3072);
  for (int i = 0; i < 3072; i += 8) ASSERT_EQ(bytes[i], 1) << i;
  for (int i = 3072; i < 4096; ++i) ASSERT_EQ(bytes[i], 0) << i;
  EXPECT_NE(kernels.read(bytes, 3072), 0);
}

TEST(MachinePeakTest, MeasuresForEveryNumberOfThreads) {
  ThreadPool::Options options;
  options.num_threads = 2;
  ThreadPool pool(options);
  for (int threads : {0, 1, 2, 99}) {
    EXPECT_GT(MeasurePeakGflops(pool, threads, DType::Float(32), kShort), 0);
    EXPECT_GT(MeasurePeakGflops(pool, threads, DType::Float(64), kShort), 0);
    const Bandwidth bandwidth = MeasureBandwidth(pool, threads, 5000, kShort);
    EXPECT_GT(bandwidth.read_gbs, 0);
    EXPECT_GT(bandwidth.write_gbs, 0);
  }
}

TEST(MachinePeakTest, NarrowerRegistersHaveLoopsOfTheirOwn) {
  EXPECT_EQ(BestPeakKernels(16).isa, "baseline");
  EXPECT_NE(BestPeakKernels(32).isa, "avx512f");
  EXPECT_EQ(BestPeakKernels(16).f32_flop_per_iteration * 4,
            BestPeakKernels(16).f64_flop_per_iteration * 8);
  EXPECT_NEAR(BestPeakKernels(16).fma_f64(5000), SumAfter(5000), 1e-6);
}

}  // namespace
}  // namespace kiln
