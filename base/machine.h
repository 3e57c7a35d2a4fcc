// What a machine can do, in numbers: the ceilings that estimates of running
// times refer to. Filled in by measuring (vm/profile/machine_constants.h);
// what is here by default is a common machine of the day.
#ifndef KILN_BASE_MACHINE_H_
#define KILN_BASE_MACHINE_H_

#include <array>
#include <cstdint>
#include <string>

namespace kiln {

// A place where data lies, from near to far.
enum class MemoryLevelId : uint8_t { kL1, kL2, kL3, kMemory };
inline constexpr int kNumMemoryLevels = 4;

struct MemoryLevel {
  // Capacity. Of one core for L1 and L2, of all of them for L3. Of the memory:
  // not told, and without limit.
  int64_t bytes = 0;
  // GB/s that one core reads and writes, and that all cores do together.
  double read_gbs = 0, write_gbs = 0;
  double all_read_gbs = 0, all_write_gbs = 0;
};

struct Machine {
  std::string cpu;  // as the system names it
  std::string isa;  // of the loops measured: "avx512f", "avx2+fma", "baseline"
  int cores = 1;
  int vector_bytes = 32;
  int vector_registers = 16;
  int line_bytes = 64;
  int l1_ways = 8;
  // GFLOP/s of float32 multiply-adds (each counts 2): one core, all cores.
  double gflops = 50;
  double all_gflops = 50;
  std::array<MemoryLevel, kNumMemoryLevels> levels = {{
      {32 << 10, 200, 100, 200, 100},
      {1 << 20, 80, 50, 80, 50},
      {16 << 20, 40, 25, 40, 25},
      {0, 15, 10, 15, 10},
  }};

  const MemoryLevel& level(MemoryLevelId id) const {
    return levels[static_cast<int>(id)];
  }
};

}  // namespace kiln

#endif  // KILN_BASE_MACHINE_H_
