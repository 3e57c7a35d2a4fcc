#include "kiln/schedule/rewrite/inlining.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

bool AnyVector(const std::vector<Expr>& indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [](const Expr& e) { return !e.dtype().is_scalar(); });
}

bool SharesData(const Buffer& a, const Buffer& b) {
  return a != b && a->data && a->data == b->data;
}

Reason WhyNotPlain(const Expr& e, const Buffer& buffer) {
  if (const auto* load = e.As<LoadNode>()) {
    if (load->buffer == buffer && AnyVector(load->indices)) {
      return absl::StrCat("`", buffer->name, "` is read as a vector");
    }
    if (SharesData(load->buffer, buffer)) {
      return absl::StrCat("`", buffer->name, "` is read through another view");
    }
  }
  const auto* call = e.As<CallNode>();
  if (call && call->op == Intrinsic::kAddressOf) {
    const auto* load = call->args[0].As<LoadNode>();
    if (load && load->buffer == buffer) {
      return absl::StrCat("the address of `", buffer->name, "` is taken");
    }
  }
  if (buffer->data && e == buffer->data) {
    return absl::StrCat("`", buffer->name, "` is used by its address");
  }
  return std::nullopt;
}

Reason WhyNotPlainHere(const Stmt& s, const Buffer& buffer) {
  if (const auto* store = s.As<StoreNode>()) {
    if (store->buffer == buffer && AnyVector(store->indices)) {
      return absl::StrCat("`", buffer->name, "` is written as a vector");
    }
    if (SharesData(store->buffer, buffer)) {
      return absl::StrCat("`", buffer->name,
                          "` is written through another view");
    }
  }
  const auto* realize = s.As<BlockRealizeNode>();
  if (!realize) return std::nullopt;
  for (const MatchBufferRegion& match : realize->block->match_buffers) {
    if (match.source.buffer == buffer) {
      return absl::StrCat(Describe(*realize->block), " matches a region of `",
                          buffer->name, "`");
    }
  }
  return std::nullopt;
}

// Solves dimensions that are one iterator each; false when others are left.
bool SolvePlain(const BlockNode& block, const std::vector<Expr>& indices,
                const std::vector<Expr>& values, VarMap* map) {
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto* var = indices[d].As<VarNode>();
    const bool is_iter =
        std::any_of(block.iters.begin(), block.iters.end(),
                    [&](const IterVar& iter) { return iter.var.get() == var; });
    if (!is_iter) {
      if (!FreeVars(indices[d]).empty()) return false;
      continue;
    }
    if (!map->emplace(var, values[d]).second) return false;
  }
  return std::all_of(
      block.iters.begin(), block.iters.end(),
      [&](const IterVar& iter) { return map->count(iter.var.get()) > 0; });
}

// The map from offsets within the iterators' domains to offsets of indices
// from their first value, which is what the inversion wants.
struct Centered {
  std::vector<Expr> indices, values;
  std::vector<LoopRange> loops;
};

Centered Center(const BlockNode& block, const std::vector<Expr>& indices,
                const std::vector<Expr>& values, const VarMap& fixed) {
  Centered result;
  VarMap first, shifted;
  for (const IterVar& iter : block.iters) {
    if (fixed.count(iter.var.get())) continue;
    first[iter.var.get()] = iter.domain.min;
    const bool is_zero = IsZero(iter.domain.min);
    shifted[iter.var.get()] =
        is_zero ? Expr(iter.var) : Add(iter.domain.min, iter.var);
    result.loops.push_back({iter.var, {Int(0), iter.domain.extent}});
  }
  Analyzer analyzer;
  for (size_t d = 0; d < indices.size(); ++d) {
    const bool moves = UsesVar(
        indices[d], [&](const VarNode* var) { return first.count(var) > 0; });
    if (!moves) continue;
    const Expr base = analyzer.Simplify(Substitute(indices[d], first));
    const Expr index = Substitute(indices[d], shifted);
    const bool at_zero = IsZero(base);
    result.indices.push_back(at_zero ? index
                                     : analyzer.Simplify(Sub(index, base)));
    result.values.push_back(at_zero ? values[d] : Sub(values[d], base));
  }
  return result;
}

// Whether the block writes elements of `buffer` at most once each while loop
// `loop` runs: an iterator that indexes the buffer on its own is all that the
// loop drives.
bool WritesOnceUnder(const ScopeBlock& block, const Buffer& buffer,
                     const ForNode& loop) {
  if (WhyNotAffine(block)) return false;
  bool driven = false;
  for (size_t i = 0; i < block.realize->values.size(); ++i) {
    if (!UsesVar(block.realize->values[i], loop.var)) continue;
    const IterVar& iter = block.block().iters[i];
    if (iter.type != IterType::kSpatial) return false;
    for (const BufferRegion& region : block.block().writes) {
      if (region.buffer != buffer) continue;
      const bool indexes = std::any_of(
          region.region.begin(), region.region.end(),
          [&](const Range& r) { return r.min == iter.var && IsOne(r.extent); });
      if (!indexes) return false;
      driven = true;
    }
  }
  return driven;
}

bool HasLoop(const ScopeBlock& block, const ForNode* loop) {
  return std::find(block.loops.begin(), block.loops.end(), loop) !=
         block.loops.end();
}

// The loops of `a` that `b` stands under as well, but `c` does not.
std::vector<const ForNode*> LoopsLacking(const ScopeBlock& a,
                                         const ScopeBlock& b,
                                         const ScopeBlock& c) {
  std::vector<const ForNode*> loops;
  for (const ForNode* loop : a.loops) {
    if (HasLoop(b, loop) && !HasLoop(c, loop)) loops.push_back(loop);
  }
  return loops;
}

Reason WhyInputChanges(const Scope& scope, int producer, int consumer,
                       const Buffer& input) {
  for (int writer : scope.Writers(input)) {
    if (writer == producer) continue;
    const ScopeBlock& block = scope.blocks[writer];
    if (writer > producer) {
      return absl::StrCat(Describe(block.block()), " overwrites `", input->name,
                          "` later");
    }
    for (const ForNode* loop :
         LoopsLacking(block, scope.blocks[producer], scope.blocks[consumer])) {
      if (WritesOnceUnder(block, input, *loop)) continue;
      return absl::StrCat(Describe(block.block()), " writes `", input->name,
                          "` anew in each iteration of ", Describe(*loop),
                          ", which ", Describe(scope.blocks[consumer].block()),
                          " does not stand under");
    }
  }
  return std::nullopt;
}

}  // namespace

Reason WhyNotPlainAccess(const Stmt& s, const Buffer& buffer) {
  Reason reason;
  Visit(s, [&](const Stmt& part) {
    if (!reason) reason = WhyNotPlainHere(part, buffer);
    return !reason;
  });
  if (reason) return reason;
  const uint32_t address = buffer->data ? buffer->data->var_bits : 0;
  const auto look = [&](const Expr& part) {
    if (reason || (!part->has_loads && !part.MayUse(address))) return false;
    reason = WhyNotPlain(part, buffer);
    return !reason;
  };
  Visit(s, [&](const Stmt& part) {
    ForEachExpr(part, [&](const Expr& e) {
      if (e->has_loads || e.MayUse(address)) Visit(e, look);
    });
    return !reason;
  });
  return reason;
}

std::optional<VarMap> SolveIters(const BlockNode& block,
                                 const std::vector<Expr>& indices,
                                 const std::vector<Expr>& values) {
  VarMap fixed;
  for (const IterVar& iter : block.iters) {
    if (IsOne(iter.domain.extent)) fixed[iter.var.get()] = iter.domain.min;
  }
  std::vector<Expr> rest;
  for (const Expr& index : indices) rest.push_back(Substitute(index, fixed));
  VarMap map = fixed;
  if (SolvePlain(block, rest, values, &map)) return map;
  const Centered centered = Center(block, rest, values, fixed);
  const auto inverse =
      InvertIterMap(centered.indices, centered.loops, centered.values);
  if (!inverse) return std::nullopt;
  for (size_t i = 0; i < centered.loops.size(); ++i) {
    const VarNode* var = centered.loops[i].var.get();
    for (const IterVar& iter : block.iters) {
      if (iter.var.get() != var) continue;
      fixed[var] = IsZero(iter.domain.min)
                       ? (*inverse)[i]
                       : Add(iter.domain.min, (*inverse)[i]);
    }
  }
  return fixed;
}

void BindIters(const BlockNode& block, Analyzer* analyzer) {
  for (const IterVar& iter : block.iters) {
    if (!IsOne(iter.domain.extent)) analyzer->Bind(iter.var, iter.domain);
  }
}

// Whether it is known which bound of two regions is the outer one: a T.min that
// stays says nothing to those who read the region.
bool IsDecided(const Range& range) {
  bool decided = true;
  for (const Expr& bound : {range.min, range.extent}) {
    Visit(bound, [&](const Expr& e) {
      decided =
          decided && e->kind != ExprKind::kMin && e->kind != ExprKind::kMax;
      return decided;
    });
  }
  return decided;
}

void AddRegion(std::vector<BufferRegion>* regions, const BufferRegion& region,
               Analyzer* analyzer) {
  for (BufferRegion& known : *regions) {
    if (known.buffer != region.buffer) continue;
    for (size_t d = 0; d < known.region.size(); ++d) {
      Range& a = known.region[d];
      const Range& b = region.region[d];
      const auto last = [&](const Range& r) {
        return IsOne(r.extent)
                   ? r.min
                   : analyzer->Simplify(Sub(Add(r.min, r.extent), Int(1)));
      };
      const auto both = ToRange(
          UnionSet({a.min, last(a)}, {b.min, last(b)}, analyzer), analyzer);
      a = both && IsDecided(*both) ? *both
                                   : Range{Int(0), region.buffer->shape[d]};
    }
    return;
  }
  regions->push_back(region);
}

BufferRegion Hull(const BufferRegion& region,
                  const std::vector<LoopRange>& domains, Analyzer* analyzer) {
  if (domains.empty()) return region;
  Domains map;
  for (const LoopRange& domain : domains) {
    map[domain.var.get()] = domain.range;
    analyzer->Bind(domain.var, domain.range);
  }
  const std::vector<IntSet> sets =
      EvalRegion(region.region, map, Bool(true), analyzer);
  BufferRegion hull{region.buffer, {}};
  for (size_t d = 0; d < sets.size(); ++d) {
    const auto range = ToRange(sets[d], analyzer);
    hull.region.push_back(range ? *range
                                : Range{Int(0), region.buffer->shape[d]});
  }
  return hull;
}

bool HasLoads(const Stmt& s) {
  bool found = false;
  ForEachExpr(s, [&](const Expr& e) { found = found || e->has_loads; });
  return found;
}

Expr ReplaceLoads(const Expr& e, const Buffer& buffer,
                  FunctionRef<Expr(const LoadNode&)> replace) {
  if (!LoadsFrom(e, buffer)) return e;
  Expr below = MapOperands(
      e, [&](const Expr& x) { return ReplaceLoads(x, buffer, replace); });
  const auto* load = below.As<LoadNode>();
  if (!load || load->buffer != buffer) return below;
  return replace(*load);
}

const StoreNode* OnlyStore(const BlockNode& block) {
  if (block.init || !block.alloc_buffers.empty() ||
      !block.match_buffers.empty()) {
    return nullptr;
  }
  const auto* store = block.body.As<StoreNode>();
  return store && !AnyVector(store->indices) ? store : nullptr;
}

Reason WhyNotMovable(const Scope& scope, int producer,
                     const std::vector<int>& consumers) {
  const ScopeBlock& block = scope.blocks[producer];
  for (int consumer : consumers) {
    for (const BufferRegion& read : block.block().reads) {
      if (Reason reason =
              WhyInputChanges(scope, producer, consumer, read.buffer)) {
        return reason;
      }
    }
    for (const ForNode* loop : block.loops) {
      if (HasLoop(scope.blocks[consumer], loop)) continue;
      bool used = false;
      VisitExprs(block.block().body, [&](const Expr& e) {
        used = used || e == loop->var;
        return !used;
      });
      if (!used) continue;
      return absl::StrCat("its body uses ", Describe(*loop), ", which ",
                          Describe(scope.blocks[consumer].block()),
                          " does not stand under");
    }
  }
  return std::nullopt;
}

}  // namespace kiln
