#include "kiln/schedule/analysis/reduction_order.h"

#include <algorithm>
#include <cstdint>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

using Loops = std::vector<const ForNode*>;

// The loops of which the value is a sum of positive multiples; empty where it
// is none.
Loops LoopsIn(const Linear& value, const Loops& loops) {
  Loops used;
  for (const ForNode* loop : loops) {
    const int64_t coefficient = value.Coefficient(loop->var.get());
    if (coefficient < 0) return {};
    if (coefficient > 0) used.push_back(loop);
  }
  const auto is_loop = [&](const VarNode* var) {
    return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
      return loop->var.get() == var;
    });
  };
  return value.HidesVar(is_loop) ? Loops() : used;
}

// Whether the value grows as the loops run, each further than all that the
// loops inside of it come to.
bool Grows(const Linear& value, const Loops& used) {
  Linear reach;  // of the loops inside
  for (size_t i = used.size(); i-- > 0;) {
    const int64_t coefficient = value.Coefficient(used[i]->var.get());
    if (!reach.ok || coefficient <= reach.constant) return false;
    if (i == 0) break;
    const int64_t* extent = AsInt(used[i]->extent);
    if (!extent) return false;
    reach.AddConstant(*extent - 1, coefficient);
  }
  return std::all_of(used.begin(), used.end(), [](const ForNode* loop) {
    return AsInt(loop->min) != nullptr;
  });
}

int CountUsers(const BlockRealizeNode& realize, const Var& var) {
  return static_cast<int>(
      std::count_if(realize.values.begin(), realize.values.end(),
                    [&](const Expr& value) { return UsesVar(value, var); }));
}

}  // namespace

bool ReducesInOrder(const BlockRealizeNode& realize, const Loops& loops) {
  auto outermost = loops.begin();  // where loops of the next iterator may stand
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (iter.type != IterType::kReduce || IsOne(iter.domain.extent)) continue;
    const Linear value = ToLinear(realize.values[i]);
    const Loops used = LoopsIn(value, loops);
    if (used.empty() || !Grows(value, used)) return false;
    for (const ForNode* loop : used) {
      if (CountUsers(realize, loop->var) != 1) return false;
      outermost = std::find(outermost, loops.end(), loop);
      if (outermost == loops.end()) return false;
    }
  }
  return true;
}

}  // namespace kiln
