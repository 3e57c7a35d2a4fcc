// Lanes of an index that are at constant distances.
#ifndef KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_
#define KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::lower {

// Elements of so many bits have masked loads on any machine; some have them for
// fewer (VectorRegisters::least_masked_bits).
inline constexpr int kLeastMaskedBits = 32;

// Whether the lanes of an index go a few elements on from one to the next
// (kMostLaneStep), or back by one: a load of them reads whole vectors, and may
// leave lanes out.
inline bool IsNearRamp(const Expr& index) {
  const auto* ramp = index.As<RampNode>();
  const int64_t* step = ramp ? AsInt(ramp->stride) : nullptr;
  return step && (*step == -1 || (*step >= 1 && *step <= kMostLaneStep));
}

// Lane i of an index is base + offsets[i].
struct LaneOffsets {
  Expr base;  // lane 0, in normal form
  std::vector<int64_t> offsets;
};

// Of a vector of int64 indices; nullopt where distances are not constant:
//
//   broadcast(i*8, 4) + ramp(0, 1, 4) // broadcast(2, 4)
//                         base i*8, offsets 0, 0, 1, 1
std::optional<LaneOffsets> OffsetsOfLanes(const Expr& index);

// A wide load, of the elements first, first + 1, ... from that of lane 0 on.
struct LaneWindow {
  int64_t first;
  int lanes;
  friend bool operator==(const LaneWindow&, const LaneWindow&) = default;
};

// Loads that together read the element of each lane, of no more lanes than
// there are `offsets`, and nothing outside of the elements from the least to
// the greatest one; or where some lanes are `masked`, nothing twice.
std::vector<LaneWindow> WindowsOf(const std::vector<int64_t>& offsets,
                                  bool masked);

// The same without masks, of a buffer of `size` elements, 0 if that is not
// known. Where as many loads can begin and end at multiples of a small power of
// two, they do, so that lanes of near indices share them: those of
// i*16 + v // 4 * 4 + k, v in 0 .. 15, do for each k in 0 .. 3.
std::vector<LaneWindow> WindowsOf(const LaneOffsets& lanes, int64_t size);

// Whether some lanes of a load may be left out: those of a near ramp, or those
// of a few rows, four or more of each.
bool IsMaskable(const Expr& index);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_
