#include "kiln/vm/profile/machine_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kiln/base/aligned_memory.h"
#include "kiln/vm/profile/peak_kernels.h"

namespace kiln {
namespace {

constexpr PeakOptions kShort = {1, 50};

TEST(MachinePeakTest, KernelsComputeWhatTheyCount) {
  const PeakKernels& kernels = BestPeakKernels();
  // The chains converge to term / (1 - factor) = 1; twelve lanes are summed.
  EXPECT_NEAR(kernels.fma_f64(5000), 12, 1e-6);
  EXPECT_NEAR(kernels.fma_f32(5000), 12, 1e-2);
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

TEST(MachinePeakTest, PrintsAllFigures) {
  MachinePeak peak;
  peak.isa = "avx2+fma";
  peak.f32_gflops = {100, 199.96};
  peak.l1 = {{1, 2}};
  EXPECT_THAT(ToString(peak), ::testing::HasSubstr("avx2+fma"));
  EXPECT_THAT(ToString(peak), ::testing::HasSubstr("GFLOP/s 100.0 200.0\n"));
  EXPECT_THAT(ToString(peak), ::testing::HasSubstr("L1 read/write GB/s 1.0/2"));
}

TEST(MachinePeakTest, CacheSizesAreSensible) {
  const CacheSizes sizes = GetCacheSizes();
  EXPECT_GE(sizes.l1, 4 << 10);
  EXPECT_GE(sizes.l2, sizes.l1);
}

}  // namespace
}  // namespace kiln
