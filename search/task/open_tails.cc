#include "kiln/search/task/open_tails.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// The conditions of each block that open dimensions decide, by the elements
// that a tile has there: those of the loops that become copies of their body.
class OpenBorders {
 public:
  explicit OpenBorders(const Function& f) : dims_(SymbolicDims(f)) {
    Add(f.body);
  }

  // By block, and border.
  const std::vector<std::vector<int64_t>>& tiles() const { return tiles_; }

 private:
  void Add(const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (loop) loops_.push_back(loop);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      std::vector<int64_t>& tiles = tiles_.emplace_back();
      for (const Expr& condition : ConjunctsOf(realize->predicate)) {
        if (IsOpen(condition)) tiles.push_back(Elements(condition));
      }
    }
    ForEachChild(s, [&](const Stmt& child) { Add(child); });
    if (loop) loops_.pop_back();
  }

  // A fused loop finds its part of an index by an open extent, but where that
  // part ends may be known: fused // ((n + 3) // 4) * 48 + j < 1000.
  bool IsOpen(const Expr& condition) const {
    bool is_open = false;
    Visit(condition, [&](const Expr& e) {
      is_open |= absl::c_any_of(
          dims_, [&](const Var& dim) { return dim.get() == e.get(); });
      const auto* quotient = e.As<BinaryNode>();
      const bool is_part =
          e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
      if (is_part) is_open |= IsOpen(quotient->a);
      return !is_part;
    });
    return is_open;
  }

  int64_t Elements(const Expr& condition) const {
    int64_t elements = 1;
    for (const ForNode* loop : loops_) {
      const bool is_copied = loop->for_kind == ForKind::kUnrolled ||
                             loop->for_kind == ForKind::kVectorized;
      const int64_t* extent = AsInt(loop->extent);
      if (is_copied && extent && UsesVar(condition, loop->var)) {
        elements *= *extent;
      }
    }
    return elements;
  }

  std::vector<Var> dims_;
  std::vector<const ForNode*> loops_;  // around this place
  std::vector<std::vector<int64_t>> tiles_;
};

// Of `size` elements in tiles of so many, the part of the tiles that a border
// cuts short.
double CutShare(int64_t size, int64_t tile) {
  if (tile <= 1 || size % tile == 0) return 0;
  return 1 / static_cast<double>(size / tile + 1);
}

// (n + 11) // 12 * 12
bool IsRoundedUp(const Expr& extent) {
  const auto* product = extent.As<BinaryNode>();
  const auto* quotient = product->a.As<BinaryNode>();
  return product->a.kind() == ExprKind::kFloorDiv && AsInt(product->b) &&
         AsInt(quotient->b) && *AsInt(product->b) == *AsInt(quotient->b);
}

}  // namespace

bool HasTooManyTails(const Function& scheduled) {
  const OpenBorders borders(scheduled);
  return absl::c_any_of(borders.tiles(), [](const auto& tiles) {
    return absl::c_any_of(
        tiles, [](int64_t tile) { return tile - 1 > kMaxTailCounts; });
  });
}

double UncopiedShare(const Function& scheduled, int64_t size) {
  const OpenBorders borders(scheduled);
  double most = 0;
  for (const std::vector<int64_t>& tiles : borders.tiles()) {
    int64_t ways = 1;
    double share = 0;
    for (const int64_t tile : tiles) {
      ways *= tile;
      share += CutShare(size, tile);
    }
    if (ways - 1 > kMaxTailCounts) most = std::max(most, std::min(share, 1.0));
  }
  return most;
}

bool MergesOpenAxes(const Function& scheduled) {
  const auto* root = scheduled.body.As<BlockRealizeNode>();
  if (!root) return false;
  return absl::c_any_of(root->block->alloc_buffers, [](const Buffer& buffer) {
    return absl::c_any_of(buffer->shape, [](const Expr& extent) {
      return extent.kind() == ExprKind::kMul && !IsRoundedUp(extent);
    });
  });
}

}  // namespace kiln
