#include "kiln/ir/te/region.h"

#include <algorithm>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::te {
namespace {

struct Offset {
  Expr base;  // null: a constant
  int64_t constant = 0;
};

// index = base + constant, for sums whose last term is a constant.
Offset SplitOffset(const Expr& index) {
  if (const int64_t* value = AsInt(index)) return {nullptr, *value};
  const auto* sum = index.As<BinaryNode>();
  const int64_t* last = sum ? AsInt(sum->b) : nullptr;
  if (last && index.kind() == ExprKind::kAdd) return {sum->a, *last};
  if (last && index.kind() == ExprKind::kSub) return {sum->a, -*last};
  return {index, 0};
}

bool HasLoad(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& node) {
    found = found || node.kind() == ExprKind::kLoad;
    return !found;
  });
  return found;
}

// Whether the index is read from a tensor and taken as it is, but for sums and
// products: a point all the same. What is computed of it otherwise may be any.
bool IsLoadedPoint(const Expr& e) {
  if (e.kind() == ExprKind::kLoad || !HasLoad(e)) return true;
  const auto* binary = e.As<BinaryNode>();
  if (binary) return IsLoadedPoint(binary->a) && IsLoadedPoint(binary->b);
  const auto* cast = e.As<CastNode>();
  return cast && IsLoadedPoint(cast->value);
}

Range Whole(const BufferNode& buffer, size_t d) {
  return {Int(0), buffer.shape[d]};
}

// The least range over `range` and the point `index`.
Range Widen(const Range& range, const Expr& index, const BufferNode& buffer,
            size_t d) {
  if (SameExpr(range.min, index)) return range;
  if (HasLoad(range.min) || HasLoad(index)) return Whole(buffer, d);
  const int64_t* extent = AsInt(range.extent);
  const Offset a = SplitOffset(range.min), b = SplitOffset(index);
  const bool same_base = a.base ? b.base && SameExpr(a.base, b.base) : !b.base;
  if (!extent || !same_base) return Whole(buffer, d);
  const int64_t begin = std::min(a.constant, b.constant);
  const int64_t end = std::max(a.constant + *extent, b.constant + 1);
  return {b.constant < a.constant ? index : range.min, Int(end - begin)};
}

void AddLoad(const LoadNode& load, std::vector<BufferRegion>* regions) {
  const BufferNode& buffer = *load.buffer;
  auto found = std::find_if(
      regions->begin(), regions->end(),
      [&](const BufferRegion& r) { return r.buffer == load.buffer; });
  const bool is_new = found == regions->end();
  if (is_new) {
    regions->push_back({load.buffer, PointRegion(load.indices)});
    found = std::prev(regions->end());
  }
  for (size_t d = 0; d < load.indices.size(); ++d) {
    Range& range = found->region[d];
    const Expr& index = load.indices[d];
    range = IsLoadedPoint(index) ? Widen(range, index, buffer, d)
                                 : Whole(buffer, d);
  }
}

}  // namespace

std::vector<BufferRegion> ReadRegions(const Expr& e) {
  std::vector<BufferRegion> regions;
  Visit(e, [&](const Expr& node) {
    if (const auto* load = node.As<LoadNode>()) AddLoad(*load, &regions);
    return true;
  });
  return regions;
}

}  // namespace kiln::te
