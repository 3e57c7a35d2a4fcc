#include "kiln/schedule/analysis/dense.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Of one loop.
struct Move {
  int64_t step;    // how far one iteration moves the value, positive
  int64_t extent;  // iterations; kMax: not known, at least one
};

using Loops = std::vector<const ForNode*>;
using Moves = absl::InlinedVector<Move, 8>;

const ForNode* LoopOf(const Expr& e, const Loops& loops) {
  for (const ForNode* loop : loops) {
    if (loop->var == e) return loop;
  }
  return nullptr;
}

// nullopt when `e` is no sum of multiples of loops and of what they leave.
std::optional<Moves> MovesOf(const Expr& e, const Loops& loops) {
  Linear linear;
  Decompose(e, 1, &linear);
  if (!linear.ok) return std::nullopt;
  Moves moves;
  for (const Term& term : linear.terms) {
    const ForNode* loop = LoopOf(term.atom, loops);
    if (!loop) {
      if (UsesLoop(term.atom, loops)) return std::nullopt;
      continue;
    }
    const int64_t* extent = AsInt(loop->extent);
    if (!extent && UsesLoop(loop->extent, loops)) return std::nullopt;
    moves.push_back({std::abs(term.coefficient), extent ? *extent : kMax});
  }
  return moves;
}

}  // namespace

bool IsDense(const Expr& e, int64_t width, const Loops& loops) {
  std::optional<Moves> moves = MovesOf(e, loops);
  if (!moves) return false;
  std::sort(moves->begin(), moves->end(), [](const Move& a, const Move& b) {
    return std::pair(a.step, a.extent) < std::pair(b.step, b.extent);
  });
  int64_t filled = width;
  for (const Move& move : *moves) {
    if (move.extent == 1) continue;
    if (move.step > filled) return false;
    if (move.extent == kMax) continue;
    int64_t more = 0;
    const bool fits =
        FoldInt(ExprKind::kMul, move.step, move.extent - 1, &more) &&
        FoldInt(ExprKind::kAdd, filled, more, &filled);
    if (!fits) filled = kMax;
  }
  return true;
}

bool IsDense(const Expr& e, const Loops& loops) { return IsDense(e, 1, loops); }

}  // namespace kiln
