// What code generation does to loops unasked, for those that do it (codegen)
// and those that predict it (search): each limit stands here and nowhere else.
#ifndef KILN_BASE_LOWERING_POLICY_H_
#define KILN_BASE_LOWERING_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kiln/base/machine.h"

namespace kiln {

// A function, or each branch of one for several sizes, is unrolled to at most
// this many statements; a loop that would pass the limit stays a loop.
inline constexpr int64_t kMaxUnrolledStatements = 4096;

// Serial loops that come to no more stores and calls than this are unrolled
// without being asked: an accumulator that loops index can stay in registers
// only where its indices are constants.
inline constexpr int64_t kImplicitSteps = 32;

// A serial loop that stays, of a body of few stores, has copies of that body
// side by side, unasked, that come to no more stores than this; or than
// kImplicitSteps, where it takes more for lanes of what is read to be at the
// same distances again.
inline constexpr int64_t kStepsSideBySide = 8;

// Vectors of sums that are added to in turns, so that none waits for the
// addition before: two additions a cycle of four cycles each.
inline constexpr int64_t kSumsAtOnce = 8;
// Of each part of a sum, in all iterations: fewer cost more than they save.
inline constexpr int64_t kLeastTermsOfPart = 4;
// Parts of each sum of a loop with few vectors of sums.
inline int64_t PartsOfSums(int64_t registers) {
  int64_t parts = 1;
  while (parts * registers < kSumsAtOnce) parts *= 2;
  return parts;
}

// A tile that a border cuts short, whose place is known in a call only, has a
// copy of its loops for each of at most so many lengths.
inline constexpr int64_t kMaxTailCounts = 23;

// Iterations of the innermost loop over the terms of a sum that stand side by
// side with a register tile in each, unasked.
inline constexpr int64_t kMaxTileSteps = 4;

// Shorter loops do not become vectors unasked.
inline constexpr int64_t kMinLanes = 4;
// As many vectors side by side are one operation, at most.
inline constexpr int64_t kMaxVectorsAtOnce = 4;

// How a loop of `extent` iterations over elements of so many bytes becomes
// vectors: a short one that fills registers as one operation, another one a
// register at a time, with a shorter vector for the remaining iterations.
struct ChosenLanes {
  int64_t lanes = 0;   // of one operation; 0: the loop is too short
  double filling = 0;  // useful share of the lanes of all registers
};
inline ChosenLanes ChooseLanes(int64_t extent, int64_t element_bytes,
                               const VectorRegisters& vectors) {
  if (extent < kMinLanes) return {};
  const int64_t width = vectors.Lanes(element_bytes);
  const int64_t registers = extent / width + (extent % width != 0);
  const double filling =
      static_cast<double>(extent) /
      (static_cast<double>(registers) * static_cast<double>(width));
  const bool is_short = registers <= kMaxVectorsAtOnce && extent % width == 0;
  return {is_short ? extent : std::min(extent, width), filling};
}

// Lanes this many elements apart, or fewer, are chosen from wide loads; others
// are loaded one by one. A dense layer of one row with sums of 6 takes 0.7 of
// the time that dots of single rows take, with sums of 8 1.2 (a Sapphire
// Rapids).
inline constexpr int64_t kMostLaneStep = 6;

// Registers for what is computed in a tile of accumulators `vectors` wide, next
// to the accumulators: a vector of each column, and one for an element of all
// lanes. Code generation wants three at least: with two, 14 rows of one vector
// in 16 registers are spilled and take 1.6 times as long
// (c2d:28,28,64,124,3,1,1 on a Zen 3).
inline int64_t OperandRegisters(int64_t vectors) {
  return std::max<int64_t>(vectors + 1, 3);
}

// Whether accumulators, in rows of so many vectors, stay in registers.
inline bool TileFits(int64_t accumulators, int64_t vectors,
                     const VectorRegisters& registers) {
  return accumulators + OperandRegisters(vectors) <= registers.ForTiles();
}

// A panel that is passed over again and again is asked for while the loops pass
// over the one before it, where its bytes are so many: smaller ones are near
// soon, and higher ones leave no room for the next.
inline constexpr int64_t kMinPanelBytes = 8 << 10;
inline constexpr int64_t kMaxPanelBytes = 512 << 10;
inline bool IsAskedForAhead(int64_t panel_bytes) {
  return panel_bytes >= kMinPanelBytes && panel_bytes <= kMaxPanelBytes;
}

// What is used again soon may take this share of a cache; the rest is for what
// passes through.
inline int64_t UsableBytes(const Machine& machine, MemoryLevelId cache) {
  return machine.level(cache).bytes / 2;
}

// Rows `apart` bytes from each other begin in so many places of a way of `way`
// bytes, were they without end: few where `apart` is a multiple of a large
// power of two.
inline int64_t PlacesOfRows(int64_t apart, int64_t way) {
  return way / std::gcd(way, std::max<int64_t>(apart, 1));
}
// The same in the first cache, where more rows than its ways push each other
// out, once they begin in no more places than kFewPlaces.
inline int64_t NearPlacesOfRows(const Machine& machine, int64_t apart) {
  const int64_t bytes = machine.level(MemoryLevelId::kL1).bytes;
  return PlacesOfRows(apart, bytes / machine.l1_ways);
}
inline constexpr int64_t kFewPlaces = 8;

}  // namespace kiln

#endif  // KILN_BASE_LOWERING_POLICY_H_
