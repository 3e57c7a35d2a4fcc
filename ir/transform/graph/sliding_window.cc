#include "kiln/ir/transform/graph/sliding_window.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

constexpr int64_t kMostTaps = 64;

// The blocks of the function that reduce anything.
std::vector<const BlockNode*> Reductions(const Function& f) {
  std::vector<const BlockNode*> found;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return true;
    const bool reduces = absl::c_any_of(
        realize->block->iters,
        [](const IterVar& iter) { return iter.type == IterType::kReduce; });
    if (reduces) found.push_back(realize->block.get());
    return true;
  });
  return found;
}

// The number of terms of each element; 0 where it is not known.
int64_t TapsOf(const BlockNode& block) {
  int64_t taps = 1;
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kReduce) continue;
    const int64_t* extent = AsInt(iter.domain.extent);
    if (!extent || *extent > kMostTaps) return 0;
    taps *= *extent;
  }
  return taps;
}

// Whether all that the block reads and writes has the same last index, an
// iterator.
bool WorksByChannel(const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  if (!store || store->indices.size() < 2) return false;
  const Expr& channel = store->indices.back();
  if (!channel.As<VarNode>()) return false;
  Analyzer analyzer;
  for (const IterVar& iter : block.iters) analyzer.Bind(iter.var, iter.domain);
  bool same = true;
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    same = same &&
           (!load || analyzer.CanProveEqual(load->indices.back(), channel));
    return same;
  });
  return same;
}

}  // namespace

bool IsSlidingWindow(const Function& f) {
  const std::vector<const BlockNode*> sums = Reductions(f);
  if (sums.size() != 1 || !sums[0]->init) return false;
  const int64_t taps = TapsOf(*sums[0]);
  return taps > 1 && taps <= kMostTaps && WorksByChannel(*sums[0]);
}

}  // namespace kiln
