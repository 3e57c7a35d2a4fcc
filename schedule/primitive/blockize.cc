#include "kiln/schedule/primitive/blockize.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/init_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "blockize";

// The nest that becomes a block.
struct Nest {
  Path path;                            // to the loop
  std::vector<const ForNode*> outside;  // loops of the scope above it
  std::vector<const ForNode*> inside;   // it and those below
  const BlockRealizeNode* realize = nullptr;
  const BlockNode& block() const { return *realize->block; }
  std::vector<const ForNode*> Loops() const {
    std::vector<const ForNode*> loops = outside;
    loops.insert(loops.end(), inside.begin(), inside.end());
    return loops;
  }
};

absl::StatusOr<Nest> FindNest(const Function& f, LoopId loop) {
  Nest nest;
  KILN_ASSIGN_OR_RETURN(nest.path, RequireLoop(f, loop, kName));
  nest.outside = LoopsAbove(nest.path);
  const Stmt* s = &nest.path.back();
  while (const auto* inner = s->As<ForNode>()) {
    nest.inside.push_back(inner);
    s = &inner->body;
  }
  nest.realize = s->As<BlockRealizeNode>();
  if (nest.realize) return nest;
  return Refusal(kName, absl::StrCat("below ", Describe(*nest.path.loop()),
                                     " stands something else than one block"));
}

// The iterators of both blocks, and the old ones in terms of them.
struct Division {
  std::vector<IterVar> outer, inner;
  std::vector<Expr> outer_values, inner_values;
  VarMap old;
};

absl::StatusOr<std::vector<SubspaceSplit>> Divide(const Nest& nest) {
  const std::vector<const ForNode*> loops = nest.Loops();
  std::vector<Var> inner;
  for (const ForNode* loop : nest.inside) inner.push_back(loop->var);
  if (Reason reason = WhyNotAffine(*nest.realize, loops)) {
    return Refusal(kName, *reason);
  }
  auto splits = DivideSubspace(nest.realize->values, Ranges(loops), inner,
                               nest.realize->predicate);
  if (splits) return *std::move(splits);
  return Refusal(kName,
                 absl::StrCat("the bindings of ", Describe(nest.block()),
                              " do not divide into loops above and from ",
                              Describe(*nest.path.loop()), " on"),
                 "split where factors divide, and keep what belongs together "
                 "on one side");
}

Division MakeDivision(const Nest& nest,
                      const std::vector<SubspaceSplit>& splits,
                      bool preserve_unit_iters) {
  Division d;
  for (size_t i = 0; i < splits.size(); ++i) {
    const IterVar& iter = nest.block().iters[i];
    const SubspaceSplit& split = splits[i];
    const Var outer(iter.var.name() + "_o", iter.var.dtype());
    const Var inner(iter.var.name() + "_i", iter.var.dtype());
    d.outer.push_back({outer, {Int(0), split.outer_extent}, iter.type});
    d.outer_values.push_back(split.outer);
    const bool is_unit = IsOne(split.inner_extent);
    if (!is_unit || preserve_unit_iters) {
      d.inner.push_back({inner, {Int(0), split.inner_extent}, iter.type});
      d.inner_values.push_back(split.inner);
    }
    const DType dtype = iter.var.dtype();
    const Expr base = IsOne(split.outer_extent) ? Int(0, dtype) : Expr(outer);
    Expr& old = d.old[iter.var.get()];
    if (is_unit) {
      old = base;
    } else {
      old =
          AsInt(base) ? Expr(inner) : Add(Mul(base, split.inner_extent), inner);
    }
  }
  return d;
}

// The nest runs as a whole wherever the loops above it do, but for a predicate
// on those.
absl::Status CheckPredicate(const Nest& nest) {
  const std::vector<const ForNode*> loops = nest.Loops();
  if (MayNotRun(loops, nest.inside)) {
    return Refusal(kName,
                   absl::StrCat("loops from ", Describe(*nest.path.loop()),
                                " on may have no iterations"));
  }
  for (const ForNode* loop : nest.inside) {
    if (!UsesLoop(loop->min, loops) && !UsesLoop(loop->extent, loops)) continue;
    return Refusal(kName, absl::StrCat("the range of ", Describe(*loop),
                                       " depends on another loop"));
  }
  if (Reason reason = WhyDomainsNameLoops(nest.block(), loops)) {
    return Refusal(kName, *reason);
  }
  if (!UsesLoop(nest.realize->predicate, nest.inside)) return absl::OkStatus();
  return Refusal(
      kName,
      absl::StrCat("a condition of ", Describe(nest.block()),
                   " is about loops from ", Describe(*nest.path.loop()), " on"),
      "use factors that divide");
}

// What the nest writes is all of a box, as the new block says.
absl::Status CheckWrites(const Nest& nest) {
  const ScopeBlock block{nest.realize, nest.Loops()};
  const size_t depth = nest.outside.size();
  Analyzer analyzer;
  for (const ForNode* loop : block.loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  for (const BufferRegion& write : nest.block().writes) {
    const std::vector<IntSet> box = TouchedBox(block, write, depth, &analyzer);
    const bool bounded =
        std::all_of(box.begin(), box.end(),
                    [](const IntSet& set) { return set.IsBounded(); });
    if (bounded && FillsBox(block, write, depth, box, &analyzer)) continue;
    return Refusal(kName, absl::StrCat(Describe(nest.block()),
                                       " leaves gaps in what it writes of `",
                                       write.buffer->name, "`"));
  }
  return absl::OkStatus();
}

// `region` while the inner iterators run; a dimension without bounds becomes
// the whole tensor's.
BufferRegion HullOf(const BufferRegion& region, const Division& division,
                    Analyzer* analyzer) {
  Domains domains;
  for (const IterVar& iter : division.inner) {
    domains[iter.var.get()] = iter.domain;
  }
  const BufferRegion inner = MapRegion(
      region, [&](const Expr& e) { return Substitute(e, division.old); });
  const std::vector<IntSet> sets =
      EvalRegion(inner.region, domains, nullptr, analyzer);
  BufferRegion hull = FullRegion(region.buffer);
  for (size_t i = 0; i < sets.size(); ++i) {
    std::optional<Range> range = ToRange(sets[i], analyzer);
    if (range) {
      hull.region[i] = {analyzer->Simplify(range->min),
                        analyzer->Simplify(range->extent)};
    }
  }
  return hull;
}

// The old block with its new iterators.
BlockFields InnerBlock(const Nest& nest, const Division& division) {
  Analyzer analyzer;
  for (const IterVar& iter : division.outer)
    analyzer.Bind(iter.var, iter.domain);
  for (const IterVar& iter : division.inner)
    analyzer.Bind(iter.var, iter.domain);
  const auto region = [&](const BufferRegion& r) {
    return MapRegion(r, [&](const Expr& e) {
      return analyzer.Simplify(Substitute(e, division.old));
    });
  };
  BlockFields fields = nest.block().fields();
  fields.iters = division.inner;
  for (BufferRegion& r : fields.reads) r = region(r);
  for (BufferRegion& r : fields.writes) r = region(r);
  for (MatchBufferRegion& match : fields.match_buffers) {
    match.source = region(match.source);
  }
  if (fields.init) fields.init = Substitute(fields.init, division.old);
  fields.body = Substitute(fields.body, division.old);
  return fields;
}

// The nest of the block: `inner` under its loops.
Stmt UnderLoops(const Nest& nest, const Division& division, Block inner) {
  Stmt s = MakeRealize(division.inner_values, Bool(true), std::move(inner));
  for (size_t i = nest.inside.size(); i-- > 0;) {
    ForFields fields = nest.inside[i]->fields();
    fields.body = std::move(s);
    s = MakeFor(std::move(fields));
  }
  return s;
}

absl::StatusOr<Stmt> OuterRealize(const Nest& nest, const Division& division,
                                  Function* f, BlockId* id) {
  Analyzer analyzer;
  for (const IterVar& iter : division.outer)
    analyzer.Bind(iter.var, iter.domain);
  BlockFields inner = InnerBlock(nest, division);
  BlockFields outer;
  outer.id = *id = f->NewId();
  outer.name = nest.block().name + "_o";
  outer.iters = division.outer;
  for (const BufferRegion& r : nest.block().reads) {
    outer.reads.push_back(HullOf(r, division, &analyzer));
  }
  for (const BufferRegion& r : nest.block().writes) {
    outer.writes.push_back(HullOf(r, division, &analyzer));
  }
  if (inner.init) {
    const Stmt whole = MakeRealize(division.inner_values, Bool(true),
                                   MakeBlock(std::move(inner)));
    const auto& realize = *whole.As<BlockRealizeNode>();
    if (Reason reason = WhyInitNotFirst(realize, nest.inside)) {
      return Refusal(kName, *reason);
    }
    BlockId init;
    outer.init = MakeInitNest(realize, nest.inside, f, &init);
    inner = UpdateFields(*realize.block);
  }
  outer.body = UnderLoops(nest, division, MakeBlock(std::move(inner)));
  return MakeRealize(division.outer_values, nest.realize->predicate,
                     MakeBlock(std::move(outer)));
}

}  // namespace

absl::StatusOr<BlockizeResult> Blockize(const Function& f, LoopId loop,
                                        bool preserve_unit_iters) {
  KILN_ASSIGN_OR_RETURN(const Nest nest, FindNest(f, loop));
  KILN_RETURN_IF_ERROR(CheckPredicate(nest));
  KILN_ASSIGN_OR_RETURN(const std::vector<SubspaceSplit> splits, Divide(nest));
  KILN_RETURN_IF_ERROR(CheckWrites(nest));
  const Division division = MakeDivision(nest, splits, preserve_unit_iters);
  BlockizeResult result{f, 0};
  KILN_ASSIGN_OR_RETURN(
      Stmt realize,
      OuterRealize(nest, division, &result.function, &result.block));
  result.function.body = ReplaceAt(nest.path, std::move(realize));
  return result;
}

}  // namespace kiln
