// A table of bits that the instruction CPUID tells, from Intel's and AMD's
// manuals. A set of wider registers counts only where the operating system
// keeps them, which XGETBV tells:
//
//   {"avx512vl", {7, 0, kEbx, 31}, kZmm}     leaf 7, bit 31 of EBX, and zmm
//   kept
//
// Linux keeps tiles of matrices for processes that ask for it, if it does.
#include "kiln/base/cpu_features.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace kiln {

#if defined(__x86_64__)
namespace {

enum Register { kEax, kEbx, kEcx, kEdx };

struct Bit {
  uint32_t leaf, subleaf;
  Register place;
  int number;
};

// Registers that the operating system has to keep, as bits of XCR0.
enum Kept : uint64_t {
  kNothing = 0,
  kYmm = 0x6,
  kZmm = 0xe6,
  kTiles = 0x60000,
};

struct Feature {
  const char* name;
  Bit bit;
  Kept kept = kNothing;
};

constexpr uint32_t kExtended = 0x80000001;

constexpr Feature kFeatures[] = {
    {"sse3", {1, 0, kEcx, 0}},
    {"ssse3", {1, 0, kEcx, 9}},
    {"sse4.1", {1, 0, kEcx, 19}},
    {"sse4.2", {1, 0, kEcx, 20}},
    {"movbe", {1, 0, kEcx, 22}},
    {"popcnt", {1, 0, kEcx, 23}},
    {"lzcnt", {kExtended, 0, kEcx, 5}},
    {"sse4a", {kExtended, 0, kEcx, 6}},
    {"tbm", {kExtended, 0, kEcx, 21}},
    {"bmi", {7, 0, kEbx, 3}},
    {"bmi2", {7, 0, kEbx, 8}},
    {"adx", {7, 0, kEbx, 19}},
    {"gfni", {7, 0, kEcx, 8}},
    {"avx", {1, 0, kEcx, 28}, kYmm},
    {"fma", {1, 0, kEcx, 12}, kYmm},
    {"f16c", {1, 0, kEcx, 29}, kYmm},
    {"xop", {kExtended, 0, kEcx, 11}, kYmm},
    {"fma4", {kExtended, 0, kEcx, 16}, kYmm},
    {"avx2", {7, 0, kEbx, 5}, kYmm},
    {"avxvnni", {7, 1, kEax, 4}, kYmm},
    {"avxifma", {7, 1, kEax, 23}, kYmm},
    {"avxvnniint8", {7, 1, kEdx, 4}, kYmm},
    {"avxneconvert", {7, 1, kEdx, 5}, kYmm},
    {"avxvnniint16", {7, 1, kEdx, 10}, kYmm},
    {"avx512f", {7, 0, kEbx, 16}, kZmm},
    {"avx512dq", {7, 0, kEbx, 17}, kZmm},
    {"avx512ifma", {7, 0, kEbx, 21}, kZmm},
    {"avx512cd", {7, 0, kEbx, 28}, kZmm},
    {"avx512bw", {7, 0, kEbx, 30}, kZmm},
    {"avx512vl", {7, 0, kEbx, 31}, kZmm},
    {"avx512vbmi", {7, 0, kEcx, 1}, kZmm},
    {"avx512vbmi2", {7, 0, kEcx, 6}, kZmm},
    {"avx512vnni", {7, 0, kEcx, 11}, kZmm},
    {"avx512bitalg", {7, 0, kEcx, 12}, kZmm},
    {"avx512vpopcntdq", {7, 0, kEcx, 14}, kZmm},
    {"avx512vp2intersect", {7, 0, kEdx, 8}, kZmm},
    {"avx512fp16", {7, 0, kEdx, 23}, kZmm},
    {"avx512bf16", {7, 1, kEax, 5}, kZmm},
    {"amx-tile", {7, 0, kEdx, 24}, kTiles},
    {"amx-int8", {7, 0, kEdx, 25}, kTiles},
    {"amx-bf16", {7, 0, kEdx, 22}, kTiles},
    {"amx-fp16", {7, 1, kEax, 21}, kTiles},
    {"amx-complex", {7, 1, kEdx, 8}, kTiles},
};

bool IsSet(const Bit& bit) {
  uint32_t words[4] = {};
  const uint32_t most = __get_cpuid_max(bit.leaf & 0x80000000, nullptr);
  if (most < bit.leaf) return false;
  if (bit.subleaf > 0) {
    __cpuid_count(bit.leaf, 0, words[0], words[1], words[2], words[3]);
    if (words[0] < bit.subleaf) return false;  // of leaf 7: the last subleaf
  }
  __cpuid_count(bit.leaf, bit.subleaf, words[0], words[1], words[2], words[3]);
  return (words[bit.place] >> bit.number & 1) != 0;
}

// XCR0; 0 where the operating system does not use it.
uint64_t KeptRegisters() {
  constexpr Bit kOsXsave = {1, 0, kEcx, 27};
  if (!IsSet(kOsXsave)) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// arch_prctl(ARCH_GET_XCOMP_SUPP): whether a process gets XFEATURE_XTILEDATA
// where it asks for it.
bool AreTilesKept() {
  constexpr int64_t kSupported = 0x1021;
  constexpr int kTileData = 18;
  uint64_t kept = 0;
  return syscall(SYS_arch_prctl, kSupported, &kept) == 0 &&
         (kept >> kTileData & 1) != 0;
}

bool Has(const std::string& name) {
  for (const Feature& feature : kFeatures) {
    if (name != feature.name) continue;
    return IsSet(feature.bit) &&
           (feature.kept == kNothing ||
            (KeptRegisters() & feature.kept) == feature.kept) &&
           (feature.kept != kTiles || AreTilesKept());
  }
  return false;
}

}  // namespace

std::vector<std::string> KnownCpuFeatures() {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) names.push_back(feature.name);
  return names;
}

#else
namespace {
bool Has(const std::string&) { return false; }
}  // namespace

std::vector<std::string> KnownCpuFeatures() { return {}; }
#endif

std::vector<std::string> MissingCpuFeatures(
    const std::vector<std::string>& wanted) {
  std::vector<std::string> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [](const std::string& name) { return !Has(name); });
  return missing;
}

}  // namespace kiln
