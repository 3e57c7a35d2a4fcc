// What a machine is and can do, in numbers: what rules, lowering and estimates
// of running times refer to. Registers are those that code is generated for
// (codegen/target), caches as the system tells them (`ReadCaches`), rates
// measured (vm/profile/machine_constants.h); what is here by default is a
// common machine of the day.
#ifndef KILN_BASE_MACHINE_H_
#define KILN_BASE_MACHINE_H_

#include <array>
#include <cstdint>
#include <string>

namespace kiln {

// Products of neighbouring numbers that one instruction adds up to 32 bits.
struct DotInstructions {
  // Of integers: 2 of 16 bits, 4 of which one factor has 8 unsigned bits and
  // one 8 signed ones, or else 1.
  int integers = 1;
  bool bf16 = false;  // 2 of bfloat16, subnormal ones as zero

  friend bool operator==(const DotInstructions&,
                         const DotInstructions&) = default;
};

// Products of whole matrices in registers for them (AMX): 16 rows of 64 bytes
// by as many columns, in sums of 32 bits.
struct TileInstructions {
  bool bytes = false;  // of 8-bit integers with or without a sign
  bool bf16 = false;   // subnormal ones as zero

  friend bool operator==(const TileInstructions&,
                         const TileInstructions&) = default;
};

// The vector registers that code is generated for.
struct VectorRegisters {
  int bytes = 0;  // of one
  int count = 0;
  // Of them, those that code generation takes beside a tile and its operands.
  int spare = 0;
  // Whether some lanes of one are loaded and stored at once, for any number of
  // lanes of 4 and of 8 bytes.
  bool masked = false;
  // Whether an operation takes a number from memory for all lanes, or loads do;
  // if not, it is loaded and then shuffled.
  bool broadcasts = true;
  DotInstructions dots;
  TileInstructions tiles;
  // Of elements of so many bits and more, some lanes of any vector are loaded
  // at once: AVX-512BW has masks for 8. Those of 32 may be asked for anywhere.
  int least_masked_bits = 32;

  // The same for numbers of so many bytes: SSE3 loads one of 8 into both halves
  // of a register (movddup).
  bool Broadcasts(int64_t element_bytes) const {
    return broadcasts || element_bytes == 8;
  }
  // Elements of a type that fill one.
  int Lanes(int64_t element_bytes) const {
    return element_bytes < bytes ? static_cast<int>(bytes / element_bytes) : 1;
  }
  int Floats() const { return Lanes(4); }
  // Registers for a tile and its operands.
  int ForTiles() const { return count - spare; }

  friend bool operator==(const VectorRegisters&,
                         const VectorRegisters&) = default;
};

// From the instruction sets' manuals.
inline constexpr VectorRegisters kSseRegisters = {16, 16, 0, false, false};
inline constexpr VectorRegisters kAvxRegisters = {32, 16, 0, true};
inline constexpr VectorRegisters kAvx512Registers = {64, 32, 0, true};
// Of 32, LLVM loads two pairs ahead of the multiply-adds that use them.
inline constexpr VectorRegisters kNeonRegisters = {16, 32, 2};

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
  VectorRegisters vectors = kAvxRegisters;
  int line_bytes = 64;
  // Of the last cache, as much as stays there of what one core reads again:
  // less than all where other programs use it, or other guests of the host. 0:
  // not known, and taken for all.
  int64_t l3_held_bytes = 0;
  int l1_ways = 8;
  int l2_ways = 16;
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

// What is taken for an AArch64 server that is not at hand: Neoverse V1 and N2,
// by Arm's reference manuals (64 KiB of L1 data cache in 4 ways, 1 MiB of L2 in
// 8), and the 32 MiB of L3 of a Graviton 3. Rates are the default's.
Machine NeoverseMachine();

// Sets name, sizes of caches, lines and ways to those of this machine's CPU,
// where the system tells them.
void ReadCaches(Machine* machine);

// The machine as code for narrower registers sees it: the rates of arithmetic
// and of the first cache go with the width of the registers, and arithmetic
// takes twice as long where `fma` says that no instruction multiplies and adds.
Machine WithVectors(Machine machine, const VectorRegisters& vectors, bool fma);

}  // namespace kiln

#endif  // KILN_BASE_MACHINE_H_
