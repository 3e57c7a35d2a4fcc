// Bindings are injective over the loops where their values determine every loop
// variable. So the solver is told that all bindings are known, and asked
// whether each variable follows. An injective map of N points into a box of N
// points reaches all of the box; hence, for a bijection, points and box are
// counted.
//
//   loops i < 15, j < 9 where f < 128, with f = i*9 + j;
//   bindings f // 16 and f % 16
//     both together give f, f gives i = f // 9 and j = f % 9: injective
//     values in 0..7 and 0..15: a box of 128, and 128 points: bijective
//   where f < 127: 127 points in a box of 128, refused
//
// Whether a map is injective is tried by the digits of its loops first
// (iter_map_digits.cc), which needs no analyzer. Both methods are incomplete:
// (i + j, i - j) is injective, but neither sum tells a digit, and it is
// refused.
#include "kiln/ir/arith/iter_map.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/arith/iter_map_digits.h"
#include "kiln/ir/arith/iter_map_solver.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

bool IsTrue(const Expr& predicate) {
  return !predicate || IsConst(predicate, 1);
}

absl::Status NotAffine(size_t index) {
  return absl::InvalidArgumentError(absl::StrCat(
      "binding ", index,
      " is not quasi-affine: only sums of loop variables, constant multiples, "
      "// and % by values that do not change in the loops are understood"));
}

absl::Status NotDetermined(const LoopRange& loop) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the bindings do not determine loop ", std::string(loop.var.name()),
      ": several of its iterations may give the same values"));
}

// The number of points of the loops where the predicate holds, as an
// expression; null where that is not understood. A conjunct such as
// i * 8 + j < 120 counts when i and j run through 0, 1, ... without a gap.
class PointCount {
 public:
  PointCount(const std::vector<LoopRange>& loops, Context* context)
      : loops_(loops), context_(*context), counted_(loops.size(), false) {}

  Expr Count(const Expr& predicate) {
    Expr count = Int(1);
    if (!IsTrue(predicate) && !CountPredicate(predicate, &count)) {
      return nullptr;
    }
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (!counted_[i])
        count = Mul(count, Cast(DType::Index(), loops_[i].range.extent));
    }
    return count;
  }

 private:
  bool CountPredicate(const Expr& predicate, Expr* count) {
    const auto* e = predicate.As<BinaryNode>();
    if (!e) return IsTrue(predicate);
    if (predicate.kind() == ExprKind::kAnd) {
      return CountPredicate(e->a, count) && CountPredicate(e->b, count);
    }
    if (predicate.kind() != ExprKind::kLT || !IsExactInt(e->a.dtype())) {
      return false;
    }
    const Linear sum = context_.LinearOf(e->a);
    const Expr limit = context_.Simplify(e->b);
    Expr total = Int(1);
    if (!sum.ok || sum.constant != 0 || !CountSum(sum, &total)) return false;
    Linear excess = context_.LinearOf(Cast(DType::Index(), limit));
    excess.Add(context_.LinearOf(total), -1);
    if (!excess.ok || context_.BoundOf(excess).max > 0) return false;
    *count = Mul(*count, Cast(DType::Index(), limit));
    return true;
  }

  // Whether the sum runs through 0 .. total - 1, each once.
  bool CountSum(Linear sum, Expr* total) {
    SortTerms(&sum);
    for (size_t i = sum.terms.size(); i-- > 0;) {
      const size_t loop = FindLoop(sum.terms[i].atom);
      if (loop == loops_.size() || counted_[loop]) return false;
      if (!IsZero(loops_[loop].range.min)) return false;
      if (!IsConst(*total, sum.terms[i].coefficient)) return false;
      counted_[loop] = true;
      *total = Mul(Cast(DType::Index(), loops_[loop].range.extent), *total);
    }
    return true;
  }

  size_t FindLoop(const Expr& atom) const {
    size_t i = 0;
    while (i < loops_.size() && loops_[i].var.get() != atom.get()) ++i;
    return i;
  }

  const std::vector<LoopRange>& loops_;
  Context& context_;
  std::vector<bool> counted_;
};

// Whether the values fill a box from 0 on that has as many points as the
// loops.
absl::Status CheckDense(const std::vector<Linear>& sums,
                        const std::vector<LoopRange>& loops,
                        const Expr& predicate, IterMapSolver* solver) {
  Context unassumed;
  for (const LoopRange& loop : loops) {
    unassumed.BindRange(loop.var, loop.range);
  }
  const Expr points = PointCount(loops, &unassumed).Count(predicate);
  Expr volume = Int(1);
  for (size_t i = 0; i < sums.size(); ++i) {
    const ConstBound bound = solver->context().BoundOf(sums[i]);
    if (bound.min != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("binding ", i, " does not start at 0"));
    }
    const Expr extent = solver->ExtentOf(sums[i]);
    if (!extent) {
      return absl::InvalidArgumentError(
          absl::StrCat("binding ", i, " is not bounded"));
    }
    volume = Mul(volume, extent);
  }
  if (points) {
    Linear difference = unassumed.LinearOf(points);
    difference.Add(unassumed.LinearOf(volume), -1);
    if (difference.ok && difference.is_constant() && difference.constant == 0) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "the bindings do not fill a dense range each: some values are never "
      "reached");
}

}  // namespace

absl::Status CheckIterMap(const std::vector<Expr>& bindings,
                          const std::vector<LoopRange>& loops,
                          const Expr& predicate, IterMapLevel level) {
  if (level != IterMapLevel::kBijective && DetermineByDigits(bindings, loops)) {
    return absl::OkStatus();
  }
  IterMapSolver solver(loops, predicate);
  std::vector<Linear> sums;
  sums.reserve(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (!IsExactInt(bindings[i].dtype())) return NotAffine(i);
    sums.push_back(solver.context().LinearOf(bindings[i]));
    if (!solver.IsQuasiAffine(sums.back())) return NotAffine(i);
  }
  if (level == IterMapLevel::kNoCheck) return absl::OkStatus();
  for (const Linear& sum : sums) solver.Know(sum, nullptr);
  solver.Solve();
  for (const LoopRange& loop : loops) {
    const ConstBound bound = solver.context().BoundOf(loop.var);
    if (bound.min >= bound.max && bound.min != ConstBound::kNegInf) continue;
    if (!solver.IsKnown(loop.var.get())) return NotDetermined(loop);
  }
  if (level != IterMapLevel::kBijective) return absl::OkStatus();
  return CheckDense(sums, loops, predicate, &solver);
}

std::vector<Expr> SimplifyIterMap(const std::vector<Expr>& bindings,
                                  const std::vector<LoopRange>& loops,
                                  const Expr& predicate) {
  Context context;
  for (const LoopRange& loop : loops) context.BindRange(loop.var, loop.range);
  if (!IsTrue(predicate)) context.Assume(predicate, true);
  std::vector<Expr> result;
  result.reserve(bindings.size());
  for (const Expr& binding : bindings) {
    result.push_back(context.Simplify(binding));
  }
  return result;
}

std::optional<std::vector<Expr>> InvertIterMap(
    const std::vector<Expr>& bindings, const std::vector<LoopRange>& loops,
    const std::vector<Expr>& outputs) {
  if (outputs.size() != bindings.size() ||
      !CheckIterMap(bindings, loops, nullptr, IterMapLevel::kBijective).ok()) {
    return std::nullopt;
  }
  IterMapSolver solver(loops, nullptr);
  Context simplifier;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Linear sum = solver.context().LinearOf(bindings[i]);
    const auto* output = outputs[i].As<VarNode>();
    const Expr extent = solver.ExtentOf(sum);
    if (output && extent) {
      simplifier.BindRange(Var(output), Range{Int(0, output->dtype),
                                              Cast(output->dtype, extent)});
    }
    solver.Know(sum, outputs[i]);
  }
  solver.Solve();
  std::vector<Expr> result;
  result.reserve(loops.size());
  for (const LoopRange& loop : loops) {
    const Expr value = solver.ValueOf(loop.var.get());
    if (!value && !IsOne(loop.range.extent)) return std::nullopt;
    result.push_back(value ? simplifier.Simplify(value) : loop.range.min);
  }
  return result;
}

}  // namespace kiln
