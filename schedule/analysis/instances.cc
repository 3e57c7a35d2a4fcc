// Whether loops reach the whole domain of a block is asked of boxes: the box of
// iterators that the loops' values span, less what a predicate cuts off, is
// compared with the box of the domains, and counted where values may repeat.
#include "kiln/schedule/analysis/instances.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/predicate_bounds.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

bool IsReduced(const ScopeBlock& block, const ForNode& loop) {
  const std::vector<IterVar>& iters = block.block().iters;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].type != IterType::kSpatial &&
        UsesVar(block.realize->values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

bool IsUsed(const ScopeBlock& block, const ForNode& loop) {
  const std::vector<Expr>& values = block.realize->values;
  return std::any_of(values.begin(), values.end(), [&](const Expr& value) {
    return UsesVar(value, loop.var);
  });
}

// Whether loops, some of symbolic extent, and domains have as many points for
// sure: then all loops run where there is an instance.
bool HasAsManyIterations(const ScopeBlock& block) {
  Analyzer analyzer;
  Expr iterations = Int(1), instances = Int(1);
  bool symbolic = false;
  for (const ForNode* loop : block.loops) {
    symbolic |= !AsInt(loop->extent);
    iterations = Mul(iterations, loop->extent);
  }
  if (!symbolic) return false;
  for (const IterVar& iter : block.block().iters) {
    instances = Mul(instances, iter.domain.extent);
  }
  return analyzer.CanProveEqual(iterations, instances);
}

// Whether the predicate leaves nothing out of the domains, all of which the
// loops would run without it.
bool RunsAllOf(const ScopeBlock& block, const std::vector<Range>& points,
               const std::vector<IntSet>& run) {
  if (IsOne(block.realize->predicate)) return true;
  Analyzer analyzer;
  const PredicateBounds limits = PredicateBoundsOf(block, points, 0);
  if (!limits.complete || !IsOne(limits.runs)) {
    return FillsBoxByCount(block, points, 0, run, &analyzer);
  }
  return std::all_of(
      limits.cuts.begin(), limits.cuts.end(), [&](const PredicateBound& c) {
        const Range& domain = block.block().iters[c.dim].domain;
        const Expr end = Add(domain.min, domain.extent);
        return c.end ? analyzer.CanProveLessEqual(end, c.end)
                     : analyzer.CanProveLessEqual(c.begin, domain.min);
      });
}

// Whether one dimension of what the block writes moves along with the iterator.
bool IsTold(const BlockNode& block, const Var& iter) {
  Analyzer analyzer;
  for (const BufferRegion& write : block.writes) {
    for (const Range& range : write.region) {
      if (StrideOf(range.min, iter, &analyzer).value_or(0) != 0) return true;
    }
  }
  return false;
}

}  // namespace

Reason WhyNotAllRun(const ScopeBlock& block) {
  Analyzer analyzer;
  std::optional<LoopsRun> loops_run;
  if (HasAsManyIterations(block)) loops_run.emplace(block.loops, &analyzer);
  BufferRegion points;  // of the space of the iterators
  std::vector<IntSet> domain;
  for (const IterVar& iter : block.block().iters) {
    points.region.push_back({iter.var, Int(1)});
    const Expr end = Add(iter.domain.min, iter.domain.extent);
    domain.push_back({iter.domain.min, analyzer.Simplify(Sub(end, Int(1)))});
  }
  const std::vector<IntSet> run = TouchedBox(block, points, 0, &analyzer);
  if (!Contains(run, domain, &analyzer)) {
    return absl::StrCat("only a part of the instances of ",
                        Describe(block.block()), " run");
  }
  for (const IntSet& set : run) {
    if (!set.IsBounded()) return "iterators without bounds";
  }
  if (FillsBox(block, points, 0, run, &analyzer) &&
      RunsAllOf(block, InLoopVariables(block, points), run)) {
    return std::nullopt;
  }
  return absl::StrCat("not all instances of ", Describe(block.block()),
                      " run for sure");
}

bool HasPlainPredicate(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  if (const int64_t* known = AsInt(realize.predicate)) return *known != 0;
  Analyzer analyzer;
  for (const ForNode* loop : block.loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  std::vector<Analyzer::Assumption> held;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const Range& domain = realize.block->iters[i].domain;
    held.push_back(analyzer.Assume(LE(domain.min, realize.values[i])));
    held.push_back(
        analyzer.Assume(LT(realize.values[i], Add(domain.min, domain.extent))));
  }
  const bool plain = analyzer.CanProve(realize.predicate);
  while (!held.empty()) held.pop_back();
  return plain;
}

Reason WhyNotSummedOnce(const ScopeBlock& block, size_t shared) {
  const auto begin = block.loops.begin();
  const auto first = std::find_if(
      begin, begin + static_cast<long>(shared),
      [&](const ForNode* loop) { return IsReduced(block, *loop); });
  if (first == begin + static_cast<long>(shared)) return std::nullopt;
  for (auto loop = first; loop != block.loops.end(); ++loop) {
    if (IsOne((*loop)->extent) || IsUsed(block, **loop)) continue;
    return absl::StrCat(Describe(**loop), " would add up the same again");
  }
  if (Reason reason = WhyNotAffine(block)) return reason;
  return WhyInitNotFirst(*block.realize, block.loops);
}

bool MayWriteAgain(const BlockNode& block) {
  return std::any_of(
      block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
        return !IsOne(iter.domain.extent) && !IsTold(block, iter.var);
      });
}

}  // namespace kiln
