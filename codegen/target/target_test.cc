#include "kiln/codegen/target/target.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(TargetTest, TheHostIsTheDefault) {
  KILN_ASSERT_OK_AND_ASSIGN(Target target, ParseTarget("llvm"));
  EXPECT_EQ(target.ToString(), HostTarget().ToString());
  EXPECT_EQ(target.Fingerprint(), HostTarget().Fingerprint());
  EXPECT_GE(target.machine.vectors.bytes, 16);
}

VectorRegisters With(VectorRegisters registers, DotInstructions dots) {
  registers.dots = dots;
  return registers;
}

// Of AVX-512 with the instructions for bytes.
VectorRegisters WithMasks(DotInstructions dots, TileInstructions tiles = {}) {
  VectorRegisters registers = With(kAvx512Registers, dots);
  registers.least_masked_bits = 8;
  registers.tiles = tiles;
  return registers;
}

TEST(TargetTest, ReadsCpuAndCoresWithOneOrTwoDashes) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Target target, ParseTarget("llvm -mcpu=skylake-avx512 --num-cores=3"));
  EXPECT_EQ(target.cpu, "skylake-avx512");
  EXPECT_EQ(target.num_cores, 3);
  EXPECT_EQ(target.machine.vectors, WithMasks({2}));
  KILN_ASSERT_OK_AND_ASSIGN(Target old, ParseTarget("llvm -mcpu=x86-64"));
  EXPECT_EQ(old.machine.vectors, With(kSseRegisters, {2}));
}

TEST(TargetTest, RegistersAreThoseOfTheInstructionSet) {
  const auto registers = [](const std::string& options) {
    return ParseTarget("llvm " + options)->machine.vectors;
  };
  EXPECT_EQ(registers("-mcpu=haswell"), With(kAvxRegisters, {2}));
  EXPECT_EQ(registers("-mcpu=ivybridge"), kAvxRegisters);
  EXPECT_EQ(registers("-mcpu=x86-64-v2"), With(kSseRegisters, {2}));
  EXPECT_EQ(registers("-mcpu=knl"), kAvx512Registers);
  EXPECT_EQ(registers("-mcpu=cascadelake"), WithMasks({4}));
  EXPECT_EQ(registers("-mcpu=znver4"), WithMasks({4, true}));
  EXPECT_EQ(registers("-mcpu=cooperlake"), WithMasks({4}));
  EXPECT_EQ(registers("-mcpu=sapphirerapids "
                      "-mattr=+amx-tile,+amx-int8,+amx-bf16"),
            WithMasks({4}, {.bytes = true, .bf16 = true}));
  EXPECT_EQ(registers("-mcpu=sapphirerapids "
                      "-mattr=+amx-tile,+amx-int8,-amx-bf16"),
            WithMasks({4}, {.bytes = true}));
  EXPECT_EQ(registers("-mcpu=znver4 -mattr=-avx512f"),
            With(kAvxRegisters, {2}));
  EXPECT_EQ(registers("-mcpu=alderlake"), With(kAvxRegisters, {4}));
}

TEST(TargetTest, CachesAreThoseOfThisMachine) {
  Machine here;
  ReadCaches(&here);
  KILN_ASSERT_OK_AND_ASSIGN(Target target, ParseTarget("llvm -mcpu=haswell"));
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    EXPECT_EQ(target.machine.levels[i].bytes, here.levels[i].bytes) << i;
  }
}

// What tiles are made for is part of what a measurement depends on.
TEST(TargetTest, MachinesThatDifferInTheirCachesDiffer) {
  const Target here = HostTarget();
  Target other = here;
  other.machine.levels[static_cast<int>(MemoryLevelId::kL2)].bytes *= 2;
  EXPECT_NE(other.Fingerprint(), here.Fingerprint());
}

TEST(TargetTest, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "cuda", "llvm -mcpu=z80", "llvm -num-cores=0",
        "llvm -num-cores=many", "llvm -wings=2", "llvm extra"}) {
    EXPECT_THAT(ParseTarget(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("target")))
        << text;
  }
}

TEST(TargetTest, RefusesFeaturesByNameWithNearOnes) {
  EXPECT_THAT(ParseTarget("llvm -mattr=+nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no feature \"nonsense\"")));
  EXPECT_THAT(
      ParseTarget("llvm -mattr=+avx22"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("`avx2`")));
  for (const char* list : {"", "avx2", "+", "+avx2,", "+avx2,,-fma"}) {
    EXPECT_THAT(ParseTarget(std::string("llvm -mattr=") + list),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("+NAME or -NAME")))
        << list;
  }
  EXPECT_THAT(ParseTarget("llvm -mattr=+avx2,-avx2"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("both on and off")));
  EXPECT_TRUE(ParseTarget("llvm -mattr=+avx2,-avx512f").ok());
}

TEST(TargetTest, WhatIsCompiledForLessRunsHere) {
  KILN_EXPECT_OK(CheckRunsHere(HostTarget()));
  KILN_ASSERT_OK_AND_ASSIGN(Target old, ParseTarget("llvm -mcpu=x86-64"));
  KILN_EXPECT_OK(CheckRunsHere(old));
}

// No machine has both: AMD's extension for Bulldozer and Intel's tiles.
TEST(TargetTest, NamesTheFeaturesThatThisMachineLacks) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Target target, ParseTarget("llvm -mcpu=x86-64 -mattr=+xop,+amx-tile"));
  const absl::Status status = CheckRunsHere(target);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("it lacks "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("-mattr=-"));
}

TEST(TargetTest, SystemInstructionsThatThisMachineLacksDoNotMatter) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Target target,
      ParseTarget("llvm -mcpu=x86-64 -mattr=+pku,+sgx,+clzero,+enqcmd,+shstk"));
  KILN_EXPECT_OK(CheckRunsHere(target));
}

TEST(TargetTest, ATripleOfAnotherArchitectureHasItsRegistersAndCaches) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Target target,
      ParseTarget("llvm -mcpu=neoverse-v1 -mtriple=aarch64-linux-gnu"));
  EXPECT_EQ(target.triple, "aarch64-unknown-linux-gnu");
  EXPECT_EQ(target.cpu, "neoverse-v1");
  EXPECT_EQ(target.features, "");
  EXPECT_EQ(target.machine.vectors, kNeonRegisters);
  EXPECT_EQ(target.machine.level(MemoryLevelId::kL1).bytes, 64 << 10);
  EXPECT_TRUE(target.fma);
  EXPECT_FALSE(IsOfThisArchitecture(target));
  EXPECT_EQ(CheckRunsHere(target).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(TargetTest, WithoutACpuATripleMeansTheLeastOne) {
  KILN_ASSERT_OK_AND_ASSIGN(Target target,
                            ParseTarget("llvm -mtriple=aarch64-linux-gnu"));
  EXPECT_EQ(target.cpu, "generic");
}

TEST(TargetTest, TheHostsTripleByAnyVendorIsTheHost) {
  KILN_ASSERT_OK_AND_ASSIGN(Target target,
                            ParseTarget("llvm -mtriple=x86_64-linux-gnu"));
  EXPECT_EQ(target.Fingerprint(), HostTarget().Fingerprint());
}

TEST(TargetTest, RefusesTriplesThatNoCodeIsGeneratedFor) {
  for (const char* triple :
       {"", "foo", "riscv64-linux-gnu", "aarch64_be-linux-gnu",
        "aarch64-apple-darwin", "x86_64-pc-windows-msvc", "i686-linux-gnu",
        "armv7-linux-gnueabihf", "x86_64-linux-gnux32"}) {
    EXPECT_THAT(ParseTarget(std::string("llvm -mtriple=") + triple),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("64-bit x86 or AArch64")))
        << triple;
  }
  EXPECT_THAT(ParseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=haswell"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no CPU \"haswell\" for aarch64")));
  EXPECT_THAT(ParseTarget("llvm -mtriple=aarch64-linux-gnu -mattr=+avx2"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no feature \"avx2\"")));
}

TEST(TargetTest, ItsTextMakesItAgain) {
  for (const char* text :
       {"llvm", "llvm -mcpu=haswell -mattr=-fma -num-cores=2",
        "llvm -mattr=-avx512f -mattr=-avx2",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=+sve"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(text));
    KILN_ASSERT_OK_AND_ASSIGN(const Target again,
                              ParseTarget(target.ToString()));
    EXPECT_EQ(again.Fingerprint(), target.Fingerprint()) << target.ToString();
    EXPECT_EQ(again.ToString(), target.ToString());
  }
}

}  // namespace
}  // namespace kiln
