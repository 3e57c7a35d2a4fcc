#include "kiln/codegen/lower/vector/near_lanes.h"

#include <algorithm>
#include <numeric>

#include "absl/numeric/bits.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/interval.h"

namespace kiln::lower {
namespace {

// Between two lanes; more is no index of a buffer.
constexpr int64_t kMaxDistance = int64_t{1} << 40;
constexpr int64_t kMostAligned = 16;
constexpr int64_t kLeastLoaded = 2;

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

// The lanes of registers that hold the windows.
uint64_t RegistersOf(const std::vector<LaneWindow>& windows) {
  uint64_t lanes = 0;
  for (const LaneWindow& window : windows) {
    lanes += absl::bit_ceil(static_cast<uint64_t>(window.lanes));
  }
  return lanes;
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
    if (!distance.is_constant() || distance.constant > kMaxDistance ||
        distance.constant < -kMaxDistance) {
      return std::nullopt;
    }
    lanes.offsets.push_back(distance.constant);
  }
  lanes.base = normalizer.Build(std::move(first));
  return lanes;
}

namespace {

// Of `count` lanes at most, all elements of `sorted`.
std::vector<LaneWindow> WindowsOver(std::vector<int64_t> sorted, int64_t count,
                                    bool masked) {
  std::sort(sorted.begin(), sorted.end());
  const int64_t span = sorted.back() + 1 - sorted.front();
  std::vector<LaneWindow> windows;
  for (auto next = sorted.begin(); next != sorted.end();) {
    const int64_t first = *next;
    const auto past = std::lower_bound(next, sorted.end(), first + count);
    const int64_t needed =
        std::max(*(past - 1) + 1 - first, std::min(span, kLeastLoaded));
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

}  // namespace

std::vector<LaneWindow> WindowsOf(const std::vector<int64_t>& offsets,
                                  bool masked) {
  return WindowsOver(offsets, static_cast<int64_t>(offsets.size()), masked);
}

std::vector<LaneWindow> WindowsOf(const LaneOffsets& lanes, int64_t size) {
  const std::vector<LaneWindow> exact = WindowsOf(lanes.offsets, false);
  const Linear base = ToLinear(lanes.base);
  int64_t multiple = std::gcd(size, kMostAligned);
  for (const Term& term : base.terms) {
    multiple = std::gcd(multiple, term.coefficient);
  }
  const auto [least, greatest] =
      std::minmax_element(lanes.offsets.begin(), lanes.offsets.end());
  if (size <= 0 || *least == *greatest) return exact;
  for (; multiple > 1; multiple /= 2) {
    const auto past = [&](int64_t offset) {
      return FloorRemainder(base.constant + offset, multiple);
    };
    std::vector<int64_t> rounded = lanes.offsets;
    rounded.push_back(*least - past(*least));
    rounded.push_back(*greatest + multiple - 1 - past(*greatest));
    const std::vector<LaneWindow> windows =
        WindowsOver(rounded, static_cast<int64_t>(lanes.offsets.size()), false);
    if (RegistersOf(windows) <= RegistersOf(exact)) return windows;
  }
  return exact;
}

bool IsMaskable(const Expr& index) {
  constexpr size_t kLeastLanesOfRow = 4;
  if (IsNearRamp(index)) return true;
  const std::optional<LaneOffsets> lanes = OffsetsOfLanes(index);
  return lanes && !index.As<RampNode>() && !index.As<BroadcastNode>() &&
         WindowsOf(lanes->offsets, true).size() * kLeastLanesOfRow <=
             lanes->offsets.size();
}

}  // namespace kiln::lower
