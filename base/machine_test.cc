#include "kiln/base/machine.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(MachineTest, RegistersHoldAtLeastOneElement) {
  EXPECT_EQ(kAvx512Registers.Floats(), 16);
  EXPECT_EQ(kAvxRegisters.Lanes(8), 4);
  EXPECT_EQ(kNeonRegisters.Lanes(2), 8);
  EXPECT_EQ(kSseRegisters.Lanes(16), 1);
  EXPECT_EQ(kSseRegisters.Lanes(64), 1);
}

TEST(MachineTest, CachesGrowWithTheirDistance) {
  Machine machine;
  ReadCaches(&machine);
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.level(MemoryLevelId::kL1).bytes, 4 << 10);
  EXPECT_GE(machine.level(MemoryLevelId::kL2).bytes,
            machine.level(MemoryLevelId::kL1).bytes);
  EXPECT_GT(machine.line_bytes, 0);
  EXPECT_GT(machine.l1_ways, 0);
  EXPECT_GT(machine.l2_ways, 0);
}

TEST(MachineTest, NarrowerRegistersDoLessAtATime) {
  Machine wide;
  wide.vectors = kAvx512Registers;
  wide.gflops = 160;
  wide.all_gflops = 320;
  const Machine half = WithVectors(wide, kAvxRegisters, /*fma=*/true);
  EXPECT_EQ(half.vectors, kAvxRegisters);
  EXPECT_EQ(half.gflops, 80);
  EXPECT_EQ(half.all_gflops, 160);
  EXPECT_EQ(half.levels[0].read_gbs, wide.levels[0].read_gbs / 2);
  EXPECT_EQ(half.levels[1].read_gbs, wide.levels[1].read_gbs);
  EXPECT_EQ(WithVectors(wide, kSseRegisters, /*fma=*/false).gflops, 20);
  EXPECT_EQ(WithVectors(wide, kAvx512Registers, /*fma=*/true).gflops, 160);
}

}  // namespace
}  // namespace kiln
