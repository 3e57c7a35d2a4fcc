// With injective bindings, as many iterations as the hull has points fill it,
// after those that a predicate drops.
#include "kiln/schedule/analysis/box.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kiln/ir/arith/cases.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/dense.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/stores.h"

namespace kiln {
namespace {

using Box = std::vector<IntSet>;

VarMap BindingMap(const BlockRealizeNode& realize) {
  VarMap map;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    map[realize.block->iters[i].var.get()] = realize.values[i];
  }
  return map;
}

// Expressions over the iterators of a block as ones over loop variables.
class Bindings {
 public:
  explicit Bindings(const BlockRealizeNode& realize) : realize_(realize) {}

  std::vector<Range> operator()(const std::vector<Range>& region) {
    std::vector<Range> mapped;
    mapped.reserve(region.size());
    for (const Range& range : region) {
      mapped.push_back({(*this)(range.min), (*this)(range.extent)});
    }
    return mapped;
  }

 private:
  Expr operator()(const Expr& e) {
    if (e->var_bits == 0) return e;
    if (e.As<VarNode>()) {
      const auto& iters = realize_.block->iters;
      for (size_t i = 0; i < iters.size(); ++i) {
        if (iters[i].var == e) return realize_.values[i];
      }
      return e;
    }
    if (map_.empty()) map_ = BindingMap(realize_);
    return Substitute(e, map_);
  }

  const BlockRealizeNode& realize_;
  VarMap map_;  // made when it is wanted
};

std::optional<int64_t> ConstExtent(const IntSet& set, Analyzer* analyzer) {
  const auto range = ToRange(set, analyzer);
  if (!range) return std::nullopt;
  const Expr extent = analyzer->Simplify(range->extent);
  const int64_t* value = AsInt(extent);
  return value ? std::optional(*value) : std::nullopt;
}

// a * b, or nullopt on overflow or when either is unknown.
std::optional<int64_t> Times(std::optional<int64_t> a,
                             std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || !FoldInt(ExprKind::kMul, *a, *b, &product)) {
    return std::nullopt;
  }
  return product;
}

using Loops = std::vector<const ForNode*>;

bool Moves(const ForNode& loop, const Range& range) {
  const auto uses = [&](const Expr& e) {
    return e.MayUse(loop.var->var_bits) && UsesVar(e, loop.var);
  };
  return uses(range.min) || uses(range.extent);
}

// Iterations of the loops that move the region, times its own size.
std::optional<int64_t> CountPoints(const Loops& loops,
                                   const std::vector<Range>& region) {
  std::optional<int64_t> count = 1;
  const auto times = [&](const Expr& extent) {
    const int64_t* value = AsInt(extent);
    count = Times(count, value ? std::optional(*value) : std::nullopt);
  };
  for (const ForNode* loop : loops) {
    if (MovesAny(*loop, region)) times(loop->extent);
  }
  for (const Range& range : region) times(range.extent);
  return count;
}

// Whether the loops that move the region touch, symbolic extents and all, as
// many points as the box has, if each touches others.
bool HasAsManyPoints(const Loops& loops, const std::vector<Range>& region,
                     const Box& box, Analyzer* analyzer) {
  Expr points = Int(1), volume = Int(1);
  bool symbolic = false;
  for (const ForNode* loop : loops) {
    if (!MovesAny(*loop, region)) continue;
    symbolic |= !AsInt(loop->extent);
    points = Mul(points, loop->extent);
  }
  if (!symbolic) return false;
  for (size_t d = 0; d < box.size(); ++d) {
    points = Mul(points, region[d].extent);
    volume = Mul(volume, Add(Sub(box[d].max, box[d].min), Int(1)));
  }
  return analyzer->CanProveEqual(points, volume);
}

// Whether the region is another one in each iteration of the loops that move
// it: an index from data, or i // 2, may come again. Where it is wider than a
// point, it moves by multiples of its width.
bool IsInjective(const Loops& loops, const std::vector<Range>& region,
                 Analyzer* analyzer) {
  Loops moving;
  for (const ForNode* loop : loops) {
    if (MovesAny(*loop, region)) moving.push_back(loop);
  }
  std::vector<Expr> at;
  for (const Range& range : region) {
    if (std::none_of(moving.begin(), moving.end(), [&](const ForNode* loop) {
          return Moves(*loop, range);
        })) {
      continue;
    }
    if (IsOne(range.extent)) {
      at.push_back(range.min);
      continue;
    }
    const Expr rest = analyzer->Simplify(FloorMod(range.min, range.extent));
    if (!AsInt(range.extent) || !AsInt(rest)) return false;
    at.push_back(analyzer->Simplify(FloorDiv(range.min, range.extent)));
  }
  return CheckIterMap(at, Ranges(moving), Bool(true), IterMapLevel::kInjective)
      .ok();
}

// Of the loops that `condition` is about: how many of their iterations it
// leaves. They number an index that takes each of its values once, so that
// those below a bound can be counted. nullopt for other conditions.
std::optional<int64_t> CountLeft(const Expr& condition, const Loops& about,
                                 Analyzer* analyzer) {
  const auto* node = condition.As<BinaryNode>();
  if (!node || (node->kind != ExprKind::kLT && node->kind != ExprKind::kLE)) {
    return std::nullopt;
  }
  Expr index = Sub(node->a, node->b);  // holds where this is negative
  if (node->kind == ExprKind::kLE) index = Sub(index, Int(1));
  Domains domains;
  std::optional<int64_t> iterations = 1;
  for (const ForNode* loop : about) {
    domains[loop->var.get()] = {loop->min, loop->extent};
    const int64_t* extent = AsInt(loop->extent);
    iterations =
        Times(iterations, extent ? std::optional(*extent) : std::nullopt);
  }
  index = analyzer->Simplify(index);
  const IntSet set = EvalSet(index, domains, analyzer);
  const auto values = ConstExtent(set, analyzer);
  const int64_t* min = set.min ? AsInt(set.min) : nullptr;
  if (!iterations || values != iterations || !min || !IsDense(index, about)) {
    return std::nullopt;
  }
  return std::clamp<int64_t>(-*min, 0, *iterations);
}

// How many iterations the condition leaves of those loops that it is about and
// that move the region; takes them off the list `free`. What loops from
// outside decide holds.
std::optional<int64_t> CountCondition(const Expr& condition,
                                      const std::vector<Range>& region,
                                      const Loops& loops, Loops* free,
                                      Analyzer* analyzer) {
  if (IsOne(condition)) return 1;
  Loops about;
  for (const ForNode* loop : loops) {
    if (!UsesVar(condition, loop->var)) continue;
    const auto at = std::find(free->begin(), free->end(), loop);
    if (at == free->end()) return std::nullopt;  // another one is about it
    about.push_back(loop);
    free->erase(at);
  }
  if (about.empty()) return 1;
  const auto moving = std::count_if(
      about.begin(), about.end(),
      [&](const ForNode* loop) { return MovesAny(*loop, region); });
  const auto left = CountLeft(condition, about, analyzer);
  if (!left || moving == std::ssize(about)) return left;
  return moving == 0 && *left > 0 ? std::optional<int64_t>(1) : std::nullopt;
}

// The same for all conjuncts of a predicate.
std::optional<int64_t> CountConditions(const Expr& predicate,
                                       const std::vector<Range>& region,
                                       const Loops& loops, Loops* free,
                                       Analyzer* analyzer) {
  std::optional<int64_t> left = 1;
  for (const Expr& e : ConjunctsOf(predicate)) {
    left = Times(left, CountCondition(e, region, loops, free, analyzer));
  }
  return left;
}

Domains DomainsOf(const Loops& loops) {
  Domains domains;
  for (const ForNode* loop : loops) {
    domains.emplace(loop->var.get(), Range{loop->min, loop->extent});
  }
  return domains;
}

}  // namespace

bool MovesAny(const ForNode& loop, const std::vector<Range>& region) {
  return std::any_of(region.begin(), region.end(),
                     [&](const Range& range) { return Moves(loop, range); });
}

Loops LoopsFrom(const ScopeBlock& block, size_t depth) {
  return Loops(block.loops.begin() + static_cast<long>(depth),
               block.loops.end());
}

std::optional<std::vector<Range>> WithoutQuotients(
    const std::vector<Range>& region, const Loops& loops) {
  bool any = false;
  for (const Range& range : region) {
    Visit(range.min, [&](const Expr& e) {
      any |= e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
      return !any;
    });
  }
  if (!any) return std::nullopt;
  Analyzer analyzer;
  for (const ForNode* loop : loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  std::vector<Range> simple = region;
  for (Range& range : simple) range.min = analyzer.Simplify(range.min);
  return simple;
}

std::vector<Range> InLoopVariables(const ScopeBlock& block,
                                   const BufferRegion& region) {
  return Bindings(*block.realize)(region.region);
}

std::vector<IntSet> TouchedBox(const ScopeBlock& block,
                               const BufferRegion& region, size_t depth,
                               Analyzer* analyzer) {
  return EvalRegion(InLoopVariables(block, region),
                    DomainsOf(LoopsFrom(block, depth)),
                    block.realize->predicate, analyzer);
}

std::vector<IntSet> TouchedBoxByConjuncts(const ScopeBlock& block,
                                          const BufferRegion& region,
                                          size_t depth, Analyzer* analyzer) {
  const std::vector<Range> touched = InLoopVariables(block, region);
  const Domains domains = DomainsOf(LoopsFrom(block, depth));
  Box box = EvalRegion(touched, domains, Bool(true), analyzer);
  for (const Expr& conjunct : ConjunctsOf(block.realize->predicate)) {
    const Box one = EvalRegion(touched, domains, conjunct, analyzer);
    for (size_t d = 0; d < box.size(); ++d) {
      if (!box[d].IsBounded() || !one[d].IsBounded()) continue;
      box[d].min = analyzer->Simplify(Max(box[d].min, one[d].min));
      box[d].max = analyzer->Simplify(Min(box[d].max, one[d].max));
    }
  }
  return box;
}

bool FillsBox(const ScopeBlock& block, const BufferRegion& written,
              size_t depth, const Box& box, Analyzer* analyzer) {
  if (written.buffer && !StoresAll(block.block(), written)) return false;
  const Loops loops = LoopsFrom(block, depth);
  const std::vector<Range> region = InLoopVariables(block, written);
  if (IsDenseBox(loops, region)) return true;
  const auto simple = WithoutQuotients(region, block.loops);
  if (simple && IsDenseBox(loops, *simple)) return true;
  return FillsBoxByCount(block, region, depth, box, analyzer);
}

bool FillsBoxByCount(const ScopeBlock& block, const std::vector<Range>& region,
                     size_t depth, const Box& box, Analyzer* analyzer) {
  const Loops loops = LoopsFrom(block, depth);
  if (WhyNotAffine(*block.realize, loops)) return false;
  if (IsOne(block.realize->predicate) &&
      HasAsManyPoints(loops, region, box, analyzer)) {
    return IsInjective(loops, region, analyzer);
  }
  std::optional<int64_t> volume = 1;
  for (const IntSet& set : box) {
    volume = Times(volume, ConstExtent(set, analyzer));
  }
  Loops free = loops;
  const auto left =
      CountConditions(block.realize->predicate, region, loops, &free, analyzer);
  const auto points = Times(left, CountPoints(free, region));
  return volume && points && *points >= *volume &&
         IsInjective(loops, region, analyzer);
}

bool IsDenseBox(const Loops& loops, const std::vector<Range>& region) {
  for (const Range& range : region) {
    const int64_t* width = AsInt(range.extent);
    const bool dense =
        width ? IsDense(range.min, *width, loops)
              : std::none_of(loops.begin(), loops.end(), [&](const auto* loop) {
                  return Moves(*loop, range);
                });
    if (!dense) return false;
  }
  return std::all_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
    return std::count_if(region.begin(), region.end(), [&](const Range& range) {
             return Moves(*loop, range);
           }) <= 1;
  });
}

bool Contains(const std::vector<IntSet>& outer,
              const std::vector<IntSet>& inner, Analyzer* analyzer) {
  for (size_t d = 0; d < outer.size(); ++d) {
    if (!outer[d].IsBounded() || !inner[d].IsBounded()) return false;
    const bool within =
        CanProveLessEqualByCases(outer[d].min, inner[d].min, analyzer) &&
        CanProveLessEqualByCases(inner[d].max, outer[d].max, analyzer);
    if (!within) return false;
  }
  return true;
}

}  // namespace kiln
