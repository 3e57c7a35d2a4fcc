// Random numbers by counter: the value at (seed, stream, index) is a pure
// function of the three, so that a search gives the same decisions whatever
// the number of threads and the order in which they run.
//
// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011.
#ifndef KILN_BASE_RANDOM_H_
#define KILN_BASE_RANDOM_H_

#include <array>
#include <cstdint>
#include <limits>

namespace kiln {

// Ten rounds of Philox over four 32-bit words.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

// The 64 random bits at (seed, stream, index).
uint64_t RandomBits(uint64_t seed, uint64_t stream, uint64_t index);

// Walks along the indices of one (seed, stream). A C++ random bit generator.
class Random {
 public:
  using result_type = uint64_t;

  explicit Random(uint64_t seed, uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t operator()() { return RandomBits(seed_, stream_, index_++); }

  // Below `bound`, which is at least 1; each value is equally likely.
  uint64_t Below(uint64_t bound);

  // In [low, high], both included; low <= high.
  int64_t Between(int64_t low, int64_t high);

  // In [0, 1), a multiple of 2^-53.
  double Unit();

  // How many numbers were drawn so far.
  uint64_t index() const { return index_; }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t index_ = 0;
};

}  // namespace kiln

#endif  // KILN_BASE_RANDOM_H_
