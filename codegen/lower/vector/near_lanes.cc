#include "kiln/codegen/lower/vector/near_lanes.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "kiln/ir/arith/index_normalizer.h"

namespace kiln::lower {
namespace {

// The scalar that lane `lane` of `e` has; null for expressions that indices of
// vectors do not have.
Expr LaneOf(const Expr& e, int lane) {
  if (e.dtype().is_scalar()) return e;
  if (const auto* ramp = e.As<RampNode>()) {
    return Add(ramp->base, Mul(ramp->stride, Int(lane)));
  }
  if (const auto* broadcast = e.As<BroadcastNode>()) return broadcast->value;
  if (!IsBinary(e.kind())) return nullptr;
  const auto* node = e.As<BinaryNode>();
  Expr a = LaneOf(node->a, lane), b = LaneOf(node->b, lane);
  return a && b ? Binary(e.kind(), a, b) : nullptr;
}

}  // namespace

std::optional<LaneOffsets> OffsetsOfLanes(const Expr& index) {
  LaneOffsets lanes;
  if (index.dtype().Element() != DType::Index()) return std::nullopt;
  IndexNormalizer normalizer;
  Linear first;
  for (int lane = 0; lane < index.dtype().lanes(); ++lane) {
    const Expr scalar = LaneOf(index, lane);
    if (!scalar) return std::nullopt;
    const Linear form = normalizer.Linearize(scalar);
    if (lane == 0) first = form;
    const Linear distance = Difference(form, first);
    if (!distance.is_constant()) return std::nullopt;
    lanes.offsets.push_back(distance.constant);
  }
  lanes.base = normalizer.Build(std::move(first));
  return lanes;
}

std::vector<LaneWindow> WindowsOf(const std::vector<int64_t>& offsets,
                                  bool masked) {
  const int64_t count = static_cast<int64_t>(offsets.size());
  std::vector<int64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  const int64_t span = sorted.back() + 1 - sorted.front();
  std::vector<LaneWindow> windows;
  for (auto next = sorted.begin(); next != sorted.end();) {
    const int64_t first = *next;
    const auto past = std::lower_bound(next, sorted.end(), first + count);
    const int64_t needed = *(past - 1) + 1 - first;
    // A power of two, where so many elements exist.
    const int64_t rounded =
        static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(needed)));
    const int64_t lanes = masked ? count : std::min({rounded, span, count});
    windows.push_back(
        {masked ? first : std::min(first, sorted.back() + 1 - lanes),
         static_cast<int>(lanes)});
    next = past;
  }
  return windows;
}

}  // namespace kiln::lower
