// One dimension may do: all accesses of a buffer within [c * v + low,
// c * v + high) with high - low <= |c|. Else the indices together have to be an
// injective map of the iterators, such as (f // 8, f % 8).
#include "kiln/schedule/analysis/separation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

using Regions = std::vector<const BufferRegion*>;

Regions AccessesOf(const BlockNode& block, const Buffer& buffer) {
  Regions accesses;
  for (const auto* regions : {&block.writes, &block.reads}) {
    for (const BufferRegion& region : *regions) {
      if (region.buffer == buffer) accesses.push_back(&region);
    }
  }
  return accesses;
}

bool UsesIterators(const Expr& e, const BlockNode& block) {
  return e->var_bits != 0 && UsesVar(e, [&](const VarNode* var) {
           return std::any_of(
               block.iters.begin(), block.iters.end(), [&](const IterVar& i) {
                 return i.var.get() == var && !IsOne(i.domain.extent);
               });
         });
}

bool IsDigit(const Expr& e) {
  return e->kind == ExprKind::kFloorDiv || e->kind == ExprKind::kFloorMod;
}

// Whether dimension `d` alone keeps instances with different `var` apart.
bool SeparatesAlong(const BlockNode& block, const Var& var,
                    const Regions& accesses, size_t d) {
  const auto is_plain = [&](const BufferRegion* access) {
    const Range& range = access->region[d];
    return range.min == var && IsOne(range.extent);
  };
  if (std::all_of(accesses.begin(), accesses.end(), is_plain)) return true;
  // A digit of `var` goes in no even steps: not worth the algebra below.
  const Expr& first = accesses[0]->region[d].min;
  if (IsDigit(first) || !first.MayUse(var->var_bits)) return false;
  Analyzer analyzer;
  std::optional<int64_t> step, low, high;
  for (const BufferRegion* access : accesses) {
    const Range& range = access->region[d];
    if (!range.min.MayUse(var->var_bits)) return false;
    const auto moved = StrideOf(range.min, var, &analyzer);
    if (!moved || *moved == 0 || (step && *step != *moved)) return false;
    step = moved;
    const Expr rest = analyzer.Simplify(Sub(range.min, Mul(var, Int(*step))));
    const int64_t *at = AsInt(rest), *extent = AsInt(range.extent);
    if (!at || !extent) {
      // One access at a place that stands still while iterators run.
      return accesses.size() == 1 && extent && *extent <= std::abs(*step) &&
             !UsesIterators(rest, block);
    }
    low = std::min(low.value_or(*at), *at);
    high = std::max(high.value_or(*at + *extent), *at + *extent);
  }
  return step && *high - *low <= std::abs(*step);
}

// The same index in all accesses.
bool IsCommonPoint(const Regions& accesses, size_t d) {
  return std::all_of(accesses.begin(), accesses.end(), [&](const auto* access) {
    const Range& range = access->region[d];
    return IsOne(range.extent) &&
           (range.min == accesses[0]->region[d].min ||
            SameExpr(range.min, accesses[0]->region[d].min));
  });
}

bool HasLoad(const Expr& e) {
  bool loads = false;
  Visit(e, [&](const Expr& inner) {
    loads = loads || inner.As<LoadNode>() || inner.As<CallNode>();
    return !loads;
  });
  return loads;
}

// Whether all indices together are an injective map of `var` and the other
// iterators in them.
bool SeparateTogether(const BlockNode& block, const Var& var,
                      const Regions& accesses) {
  std::vector<Expr> indices;
  for (size_t d = 0; d < accesses[0]->region.size(); ++d) {
    const Expr& index = accesses[0]->region[d].min;
    if (!UsesIterators(index, block) || HasLoad(index)) continue;
    if (IsCommonPoint(accesses, d)) indices.push_back(index);
  }
  const auto uses = [&](const Var& v) {
    return std::any_of(indices.begin(), indices.end(),
                       [&](const Expr& e) { return UsesVar(e, v); });
  };
  if (!uses(var)) return false;
  std::vector<LoopRange> ranges;
  for (const IterVar& iter : block.iters) {
    if (uses(iter.var)) ranges.push_back({iter.var, iter.domain});
  }
  return CheckIterMap(indices, ranges, Bool(true), IterMapLevel::kInjective)
      .ok();
}

bool SeparatesIn(const BlockNode& block, const Var& var, const Buffer& buffer) {
  const Regions accesses = AccessesOf(block, buffer);
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    if (SeparatesAlong(block, var, accesses, d)) return true;
  }
  return SeparateTogether(block, var, accesses);
}

// op of `value = buffer[indices] op e`, where e does not load the buffer.
std::optional<ExprKind> CombinationOf(const StoreNode& store) {
  const auto* op = store.value.As<BinaryNode>();
  if (!op) return std::nullopt;
  const auto is_old = [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    return load && load->buffer == store.buffer &&
           std::equal(load->indices.begin(), load->indices.end(),
                      store.indices.begin(), store.indices.end(), SameExpr);
  };
  const auto loads_it = [&](const Expr& e) {
    bool found = false;
    Visit(e, [&](const Expr& inner) {
      const auto* load = inner.As<LoadNode>();
      found = found || (load && load->buffer == store.buffer);
      return !found;
    });
    return found;
  };
  const bool is_left = is_old(op->a) && !loads_it(op->b);
  const bool is_right = is_old(op->b) && !loads_it(op->a);
  if (op->kind == ExprKind::kSub && is_left) return ExprKind::kAdd;
  const bool commutes =
      op->kind == ExprKind::kAdd || op->kind == ExprKind::kMul ||
      op->kind == ExprKind::kMin || op->kind == ExprKind::kMax;
  if (!commutes || (!is_left && !is_right)) return std::nullopt;
  return op->kind;
}

}  // namespace

bool IsMarkedDisjoint(const BlockNode& block) {
  const auto at = block.annotations.find(kDisjointWrites);
  if (at == block.annotations.end()) return false;
  const Expr* value = at->second.expr();
  return value && IsOne(*value);
}

bool SeparatesInstances(const BlockNode& block, size_t iter) {
  if (IsMarkedDisjoint(block) && block.iters[iter].type == IterType::kSpatial) {
    return true;
  }
  const Var& var = block.iters[iter].var;
  return std::all_of(block.writes.begin(), block.writes.end(),
                     [&](const BufferRegion& written) {
                       return SeparatesIn(block, var, written.buffer);
                     });
}

std::optional<std::string> WhyInstancesMeet(const BlockNode& block) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (iter.type != IterType::kSpatial || IsOne(iter.domain.extent) ||
        SeparatesInstances(block, i)) {
      continue;
    }
    return absl::StrCat("instances that differ in `", iter.var.name(),
                        "` may touch the same ", "element of what ",
                        Describe(block),
                        " writes (if they do not, say so: T.block_attr({\"",
                        kDisjointWrites, "\": True}))");
  }
  return std::nullopt;
}

bool CombinesInAnyOrder(const BlockNode& block) {
  std::map<const BufferNode*, ExprKind> kinds;
  bool combines = true;
  Visit(block.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (!combines || !store) return combines;
    const bool is_written = std::any_of(
        block.writes.begin(), block.writes.end(),
        [&](const BufferRegion& r) { return r.buffer == store->buffer; });
    if (!is_written) return true;
    const auto kind = CombinationOf(*store);
    combines = kind &&
               kinds.emplace(store->buffer.get(), *kind).first->second == *kind;
    return combines;
  });
  return combines;
}

}  // namespace kiln
