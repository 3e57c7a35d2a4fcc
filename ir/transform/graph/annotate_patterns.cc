// A block is judged by its store and the loads that feed it:
//
//   C[i, j] = A[i, j] + B[j]          A at the same place: element-wise
//   C[i, j] = A[0, j] + B[j]          the same where i is always 0
//   B[i, j] = A[j]                    a part of the indices, in order:
//   broadcast B[i, j] = A[j, i // 4]            of iterators of the store:
//   injective C[i] = C[i] + A[i, k]             whole iterators: a reduction
//   C[i, j] = C[i, j] + A[i, k] * B[k, j]   multiply-add: fusable
//
// A function is as hard as its hardest block; where a block follows a
// reduction (softmax), the whole is a fusable reduction.
#include "kiln/ir/transform/graph/annotate_patterns.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using Loads = std::vector<const LoadNode*>;

struct BlockAccesses {
  std::vector<const StoreNode*> stores;
  Loads loads;  // but for those of what the block writes
};

const StoreNode* FindStore(const BlockAccesses& accesses,
                           const Buffer& buffer) {
  for (const StoreNode* store : accesses.stores) {
    if (store->buffer == buffer) return store;
  }
  return nullptr;
}

BlockAccesses AccessesOf(const BlockNode& block) {
  BlockAccesses accesses;
  Loads all;
  Visit(block.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      accesses.stores.push_back(store);
    }
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& below) {
        if (const auto* load = below.As<LoadNode>()) all.push_back(load);
        return true;
      });
    });
    return true;
  });
  for (const LoadNode* load : all) {
    if (!FindStore(accesses, load->buffer)) accesses.loads.push_back(load);
  }
  return accesses;
}

bool SameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameExpr(a[i], b[i])) return false;
  }
  return true;
}

// Whether the indices of the load are those of the store, some left out.
bool IsBroadcast(const StoreNode& store, const LoadNode& load) {
  size_t at = 0;
  for (const Expr& index : load.indices) {
    if (IsZero(index)) continue;
    if (!index.As<VarNode>()) return false;
    while (at < store.indices.size() && store.indices[at] != index) ++at;
    if (at++ == store.indices.size()) return false;
  }
  return true;
}

bool IsInjective(const StoreNode& store, const LoadNode& load) {
  VarTable<bool> own;
  for (const Expr& index : store.indices) {
    for (const Var& var : FreeVars(index)) own[var.get()] = true;
  }
  for (const Expr& index : load.indices) {
    for (const Var& var : FreeVars(index)) {
      if (own.count(var.get()) == 0) return false;
    }
  }
  return true;
}

// Whether the load reads where the store writes. A dimension of one element
// has one place, which broadcasts write as 0.
bool SamePlace(const StoreNode& store, const LoadNode& load) {
  if (store.indices.size() != load.indices.size()) return false;
  for (size_t d = 0; d < load.indices.size(); ++d) {
    if (SameExpr(store.indices[d], load.indices[d])) continue;
    const bool has_one_place = IsZero(load.indices[d]) &&
                               IsOne(load.buffer->shape[d]) &&
                               IsOne(store.buffer->shape[d]);
    if (!has_one_place) return false;
  }
  return true;
}

OpPattern PatternOf(const StoreNode& store, const LoadNode& load) {
  if (SamePlace(store, load)) return OpPattern::kElementwise;
  if (IsBroadcast(store, load)) return OpPattern::kBroadcast;
  if (IsInjective(store, load)) return OpPattern::kInjective;
  return OpPattern::kOpaque;
}

// The hardest load; a broadcast beside an element-wise one is element-wise.
OpPattern PatternOfLoads(const StoreNode& store, const Loads& loads) {
  OpPattern hardest = OpPattern::kElementwise;
  bool has_elementwise = false;
  for (const LoadNode* load : loads) {
    const OpPattern pattern = PatternOf(store, *load);
    has_elementwise = has_elementwise || pattern == OpPattern::kElementwise;
    hardest = std::max(hardest, pattern);
  }
  const bool is_mixed = hardest == OpPattern::kBroadcast && has_elementwise;
  return is_mixed ? OpPattern::kElementwise : hardest;
}

const Expr& WithoutCast(const Expr& e) {
  const auto* cast = e.As<CastNode>();
  return cast ? cast->value : e;
}

// C[...] + a * b, casts aside.
bool IsMultiplyAdd(const StoreNode& store) {
  const auto* sum = store.value.As<BinaryNode>();
  if (!sum || sum->kind != ExprKind::kAdd) return false;
  const auto* self = WithoutCast(sum->a).As<LoadNode>();
  const auto* product = WithoutCast(sum->b).As<BinaryNode>();
  return self && self->buffer == store.buffer &&
         SameIndices(self->indices, store.indices) && product &&
         product->kind == ExprKind::kMul;
}

// Whether every load reads whole iterators, those that are reduced as well.
bool ReadsWholeIterators(const Loads& loads) {
  return std::all_of(loads.begin(), loads.end(), [](const LoadNode* load) {
    return std::all_of(
        load->indices.begin(), load->indices.end(),
        [](const Expr& e) { return e.As<VarNode>() || AsInt(e); });
  });
}

OpPattern PatternOfReduction(const BlockNode& block,
                             const BlockAccesses& accesses) {
  const bool reduces = std::any_of(
      block.iters.begin(), block.iters.end(),
      [](const IterVar& iter) { return iter.type == IterType::kReduce; });
  if (!reduces) return OpPattern::kOpaque;
  const bool is_plain = !IsMultiplyAdd(*accesses.stores.back()) &&
                        ReadsWholeIterators(accesses.loads);
  return is_plain ? OpPattern::kReduction : OpPattern::kFusableReduction;
}

class FunctionPattern {
 public:
  OpPattern Of(const Function& f) {
    Visit(f.body, [&](const Stmt& s) {
      const auto* realize = s.As<BlockRealizeNode>();
      if (!realize || realize->block->iters.empty()) return true;
      Add(*realize->block);
      return false;
    });
    return num_blocks_ > 0 ? pattern_ : OpPattern::kOpaque;
  }

 private:
  void Add(const BlockNode& block) {
    ++num_blocks_;
    const BlockAccesses accesses = AccessesOf(block);
    if (!StoresToOnePlace(accesses)) {
      pattern_ = OpPattern::kOpaque;
      return;
    }
    OpPattern pattern =
        PatternOfLoads(*accesses.stores.front(), accesses.loads);
    if (pattern == OpPattern::kOpaque) {
      pattern = PatternOfReduction(block, accesses);
    } else if (pattern_ == OpPattern::kReduction) {
      pattern = OpPattern::kFusableReduction;
    }
    pattern_ = std::max(pattern_, pattern);
  }

  static bool StoresToOnePlace(const BlockAccesses& accesses) {
    for (const StoreNode* store : accesses.stores) {
      if (!SameIndices(store->indices, accesses.stores[0]->indices)) {
        return false;
      }
    }
    return !accesses.stores.empty();
  }

  OpPattern pattern_ = OpPattern::kElementwise;
  int num_blocks_ = 0;
};

}  // namespace

OpPattern PatternOf(const Function& f) {
  if (!f.body.As<BlockRealizeNode>()) return OpPattern::kOpaque;
  return FunctionPattern().Of(f);
}

absl::StatusOr<Module> AnnotatePatterns(const Module& module) {
  Module out = module;
  for (Function& f : out.functions) {
    if (f.attrs.count(kOpPatternAttr) > 0) continue;
    f.attrs[kOpPatternAttr] =
        Int(static_cast<int64_t>(PatternOf(f)), DType::Int(32));
  }
  return out;
}

Module WithoutPatterns(Module module) {
  for (Function& f : module.functions) f.attrs.erase(kOpPatternAttr);
  return module;
}

}  // namespace kiln
