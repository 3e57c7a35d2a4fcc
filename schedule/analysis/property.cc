// Checks in the order of their cost: iterator types, then regions, then the
// iterator map.
#include "kiln/schedule/analysis/property.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

Reason WhyNotOnlyWriter(const Scope& scope, int index) {
  const BlockNode& block = scope.blocks[index].block();
  for (const BufferRegion& written : block.writes) {
    for (const ScopeBlock& other : scope.blocks) {
      if (&other.block() != &block &&
          WritesBuffer(other.block(), written.buffer)) {
        return absl::StrCat(Describe(other.block()), " writes `",
                            written.buffer->name, "` too");
      }
    }
  }
  return std::nullopt;
}

Reason WhyNotIterTypes(const BlockNode& block, bool allow_reduce) {
  for (const IterVar& iter : block.iters) {
    const bool fits = iter.type == IterType::kSpatial ||
                      (allow_reduce && iter.type == IterType::kReduce);
    if (!fits) {
      return absl::StrCat("iterator `", iter.var.name(), "` is not spatial",
                          allow_reduce ? " or reduce" : "");
    }
  }
  return std::nullopt;
}

bool IsReduceIter(const BlockNode& block, const VarNode* var) {
  return std::any_of(
      block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
        return iter.type == IterType::kReduce && iter.var.get() == var;
      });
}

Reason WhyReduceIndexesWrites(const BlockNode& block) {
  const auto is_reduce = [&](const VarNode* var) {
    return IsReduceIter(block, var);
  };
  Reason reason;
  const auto check = [&](const Buffer& buffer, const Expr& index) {
    if (!reason && UsesVar(index, is_reduce)) {
      reason = absl::StrCat("a reduce iterator indexes `", buffer->name,
                            "`, which the block writes");
    }
  };
  for (const BufferRegion& written : block.writes) {
    for (const Range& range : written.region) check(written.buffer, range.min);
  }
  Visit(block.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (store && WritesBuffer(block, store->buffer)) {
      for (const Expr& index : store->indices) check(store->buffer, index);
    }
    return true;
  });
  return reason;
}

// Whether the values are constants and different loop variables, which is
// affine at sight.
bool IsPlainlyAffine(const BlockRealizeNode& realize) {
  const auto& values = realize.values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (AsInt(values[i])) continue;
    if (!values[i].As<VarNode>()) return false;
    if (std::find(values.begin(), values.begin() + static_cast<long>(i),
                  values[i]) != values.begin() + static_cast<long>(i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Reason WhyNotComplete(const Scope& scope, int index) {
  const BlockNode& block = scope.blocks[index].block();
  if (Reason reason = WhyNotIterTypes(block, false)) return reason;
  for (const BufferRegion& written : block.writes) {
    if (ReadsBuffer(block, written.buffer)) {
      return absl::StrCat("it reads `", written.buffer->name,
                          "`, which it writes");
    }
  }
  if (Reason reason = WhyInstancesMeet(block)) return reason;
  return WhyNotOnlyWriter(scope, index);
}

Reason WhyNotReduction(const Scope& scope, int index) {
  const BlockNode& block = scope.blocks[index].block();
  if (!block.init) return "it has no init";
  if (Reason reason = WhyNotIterTypes(block, true)) return reason;
  if (Reason reason = WhyNotOnlyWriter(scope, index)) return reason;
  if (Reason reason = WhyReduceIndexesWrites(block)) return reason;
  if (Reason reason = WhyInstancesMeet(block)) return reason;
  return WhyNotAffine(scope.blocks[index]);
}

Reason WhyNotCompleteOrReduction(const Scope& scope, int index) {
  if (scope.blocks[index].block().init) return WhyNotReduction(scope, index);
  return WhyNotComplete(scope, index);
}

Reason WhyNotCompactDataflow(const BlockNode& scope, const Stmt& subtree) {
  const Scope local(scope, subtree);
  for (size_t i = 0; i < local.blocks.size(); ++i) {
    if (Reason reason = WhyNotCompleteOrReduction(local, static_cast<int>(i))) {
      return absl::StrCat(Describe(local.blocks[i].block()),
                          " is neither complete nor a reduction: ", *reason);
    }
  }
  return std::nullopt;
}

std::vector<LoopRange> Ranges(const std::vector<const ForNode*>& loops) {
  std::vector<LoopRange> ranges;
  ranges.reserve(loops.size());
  for (const ForNode* loop : loops) {
    ranges.push_back({loop->var, {loop->min, loop->extent}});
  }
  return ranges;
}

Reason WhyNotAffine(const BlockRealizeNode& realize,
                    const std::vector<const ForNode*>& loops) {
  if (IsPlainlyAffine(realize)) return std::nullopt;
  std::vector<const ForNode*> used;
  used.reserve(loops.size());
  for (const ForNode* loop : loops) {
    const bool is_used = std::any_of(
        realize.values.begin(), realize.values.end(), [&](const Expr& value) {
          return value.MayUse(loop->var->var_bits) && UsesVar(value, loop->var);
        });
    if (is_used) used.push_back(loop);
  }
  const absl::Status status =
      CheckIterMap(realize.values, Ranges(used), realize.predicate,
                   IterMapLevel::kInjective);
  if (status.ok()) return std::nullopt;
  return absl::StrCat("the bindings of ", Describe(*realize.block),
                      " are not affine: ", status.message());
}

Reason WhyNotAffine(const ScopeBlock& block) {
  return WhyNotAffine(*block.realize, block.loops);
}

Reason WhyDomainsNameLoops(const BlockNode& block,
                           const std::vector<const ForNode*>& loops) {
  for (const IterVar& iter : block.iters) {
    if (UsesLoop(iter.domain.min, loops) ||
        UsesLoop(iter.domain.extent, loops)) {
      return absl::StrCat("the domain of iterator `", iter.var.name(), "` of ",
                          Describe(block), " depends on a loop around it");
    }
  }
  return std::nullopt;
}

Reason WhyInitNotFirst(const BlockRealizeNode& realize,
                       const std::vector<const ForNode*>& loops) {
  VarMap first;
  for (const ForNode* loop : loops) first[loop->var.get()] = loop->min;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (iter.type != IterType::kReduce) continue;
    const Expr value = Substitute(realize.values[i], first);
    const int64_t* have = AsInt(value);
    const int64_t* want = AsInt(iter.domain.min);
    const bool same = have && want
                          ? *have == *want
                          : Analyzer().CanProveEqual(value, iter.domain.min);
    if (same) continue;
    return absl::StrCat("the loops do not begin where iterator `",
                        iter.var.name(), "` of ", Describe(*realize.block),
                        " does, so its init does not come first");
  }
  return std::nullopt;
}

bool HasTrivialBinding(const BlockRealizeNode& realize) {
  return IsPlainlyAffine(realize) &&
         std::all_of(realize.values.begin(), realize.values.end(),
                     [](const Expr& value) { return value.As<VarNode>(); });
}

}  // namespace kiln
