#include "kiln/search/task/open_tails.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class TailFinder {
 public:
  explicit TailFinder(const Function& f) : dims_(SymbolicDims(f)) {}

  bool Find(const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (loop) loops_.push_back(loop);
    const auto* realize = s.As<BlockRealizeNode>();
    bool found = realize && absl::c_any_of(ConjunctsOf(realize->predicate),
                                           [&](const Expr& condition) {
                                             return HasTooMany(condition);
                                           });
    ForEachChild(s, [&](const Stmt& child) { found = found || Find(child); });
    if (loop) loops_.pop_back();
    return found;
  }

 private:
  bool HasTooMany(const Expr& condition) const {
    const bool is_open = absl::c_any_of(
        dims_, [&](const Var& dim) { return UsesVar(condition, dim); });
    if (!is_open) return false;
    int64_t lengths = 1;
    for (const ForNode* loop : loops_) {
      const bool is_copied = loop->for_kind == ForKind::kUnrolled ||
                             loop->for_kind == ForKind::kVectorized;
      const int64_t* extent = AsInt(loop->extent);
      if (is_copied && extent && UsesVar(condition, loop->var)) {
        lengths *= *extent;
      }
    }
    return lengths - 1 > kMaxTailCounts;
  }

  std::vector<Var> dims_;
  std::vector<const ForNode*> loops_;  // around this place
};

// (n + 11) // 12 * 12
bool IsRoundedUp(const Expr& extent) {
  const auto* product = extent.As<BinaryNode>();
  const auto* quotient = product->a.As<BinaryNode>();
  return product->a.kind() == ExprKind::kFloorDiv && AsInt(product->b) &&
         AsInt(quotient->b) && *AsInt(product->b) == *AsInt(quotient->b);
}

}  // namespace

bool HasTooManyTails(const Function& scheduled) {
  return TailFinder(scheduled).Find(scheduled.body);
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
