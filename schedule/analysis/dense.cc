#include "kiln/schedule/analysis/dense.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct Term {
  int64_t step;    // how far one iteration moves the value, positive
  int64_t extent;  // iterations; kMax: not known, at least one
};

using Loops = std::vector<const ForNode*>;

const ForNode* LoopOf(const Expr& e, const Loops& loops) {
  for (const ForNode* loop : loops) {
    if (loop->var == e) return loop;
  }
  return nullptr;
}

bool IsFixed(const Expr& e, const Loops& loops) { return !UsesLoop(e, loops); }

using Terms = absl::InlinedVector<Term, 8>;

bool AddVar(const Expr& var, int64_t factor, const Loops& loops, Terms* terms) {
  const ForNode* loop = LoopOf(var, loops);
  if (!loop) return true;
  const int64_t* extent = AsInt(loop->extent);
  if (!extent && !IsFixed(loop->extent, loops)) return false;
  terms->push_back({std::abs(factor), extent ? *extent : kMax});
  return true;
}

// Adds the terms of e * factor; false when it is no such sum.
bool AddTerms(const Expr& e, int64_t factor, const Loops& loops, Terms* terms) {
  if (e->var_bits == 0) return true;
  if (e.As<VarNode>()) return AddVar(e, factor, loops, terms);
  const auto* node = e.As<BinaryNode>();
  if (!node) return IsFixed(e, loops);
  if (node->kind == ExprKind::kAdd || node->kind == ExprKind::kSub) {
    const int64_t sign = node->kind == ExprKind::kAdd ? 1 : -1;
    return AddTerms(node->a, factor, loops, terms) &&
           AddTerms(node->b, sign * factor, loops, terms);
  }
  const int64_t* by = AsInt(node->b);
  int64_t product = 0;
  if (node->kind != ExprKind::kMul || !by ||
      !FoldInt(ExprKind::kMul, factor, *by, &product) ||
      std::abs(product) > (int64_t{1} << 60)) {
    return IsFixed(e, loops);
  }
  return AddTerms(node->a, product, loops, terms);
}

}  // namespace

bool IsDense(const Expr& e, int64_t width, const Loops& loops) {
  Terms terms;
  if (!AddTerms(e, 1, loops, &terms)) return false;
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return std::pair(a.step, a.extent) < std::pair(b.step, b.extent);
  });
  int64_t filled = width;
  for (const Term& term : terms) {
    if (term.extent == 1 || term.step == 0) continue;
    if (term.step > filled) return false;
    if (term.extent == kMax) continue;
    int64_t more = 0;
    const bool fits =
        FoldInt(ExprKind::kMul, term.step, term.extent - 1, &more) &&
        FoldInt(ExprKind::kAdd, filled, more, &filled);
    if (!fits) filled = kMax;
  }
  return true;
}

bool IsDense(const Expr& e, const Loops& loops) { return IsDense(e, 1, loops); }

}  // namespace kiln
