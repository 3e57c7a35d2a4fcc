#include "kiln/ir/transform/graph/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace kiln {
namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundedUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool Meet(const MemoryLife& a, const MemoryLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Placed {
  const MemoryLife* life;
  int64_t begin, end;
};

// Where `life` goes among `placed`, which is ordered by begin.
int64_t OffsetFor(const MemoryLife& life, const std::vector<Placed>& placed) {
  const int64_t size = RoundedUp(life.bytes);
  int64_t taken = 0, best = -1, best_gap = 0;
  for (const Placed& other : placed) {
    if (!Meet(life, *other.life)) continue;
    const int64_t gap = other.begin - taken;
    if (gap >= size && (best < 0 || gap < best_gap)) {
      best = taken;
      best_gap = gap;
    }
    taken = std::max(taken, other.end);
  }
  return best < 0 ? taken : best;
}

}  // namespace

Arena PlaceInArena(const std::vector<MemoryLife>& lives) {
  std::vector<size_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lives[a].bytes > lives[b].bytes;
  });
  Arena arena;
  arena.offsets.resize(lives.size());
  std::vector<Placed> placed;
  for (const size_t i : order) {
    const int64_t begin = OffsetFor(lives[i], placed);
    const Placed place{&lives[i], begin, begin + RoundedUp(lives[i].bytes)};
    arena.offsets[i] = begin;
    arena.bytes = std::max(arena.bytes, place.end);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), place,
                                   [](const Placed& a, const Placed& b) {
                                     return a.begin < b.begin;
                                   }),
                  place);
  }
  return arena;
}

int64_t LargestLiveSum(const std::vector<MemoryLife>& lives) {
  std::map<size_t, int64_t> changes;
  for (const MemoryLife& life : lives) {
    changes[life.first] += life.bytes;
    changes[life.last + 1] -= life.bytes;
  }
  int64_t sum = 0, largest = 0;
  for (const auto& [step, change] : changes) {
    sum += change;
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace kiln
