#include "kiln/base/random.h"

#include "kiln/base/check.h"

namespace kiln {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

uint64_t RandomBits(uint64_t seed, uint64_t stream, uint64_t index) {
  std::array<uint32_t, 4> words =
      Philox4x32({Low(index), High(index), Low(stream), High(stream)},
                 {Low(seed), High(seed)});
  return uint64_t{words[1]} << 32 | words[0];
}

// Lemire, "Fast random integer generation in an interval", 2019: the high half
// of bits * bound, drawing again in the few cases that would tip the scales.
uint64_t Random::Below(uint64_t bound) {
  KILN_CHECK_GT(bound, 0u);
  uint64_t threshold = (0 - bound) % bound;
  while (true) {
    unsigned __int128 product =
        static_cast<unsigned __int128>((*this)()) * bound;
    if (static_cast<uint64_t>(product) >= threshold) {
      return static_cast<uint64_t>(product >> 64);
    }
  }
}

int64_t Random::Between(int64_t low, int64_t high) {
  KILN_CHECK_LE(low, high);
  uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  uint64_t offset = span == max() ? (*this)() : Below(span + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Random::Unit() {
  return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
}

}  // namespace kiln
