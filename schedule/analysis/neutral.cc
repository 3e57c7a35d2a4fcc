// What rfactor makes of a sum of n values, in 16 partial sums of which the last
// ones are empty where n < 16:
//
//   for j in 16: P[j] = 0                                     the init
//   for j in 16, k in (n+15)//16: P[j] += A[k*16+j] where k*16 + j < n
//   for j in 16: C += P[j] where j < n                        the block
//
// Where j < n is false no instance of the update writes P[j]: its own condition
// and j being the same say so. P[j] is 0 there, and may be added.
#include "kiln/schedule/analysis/neutral.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/instances.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// The blocks of the example.
struct Partial {
  const ScopeBlock& init;
  const ScopeBlock& update;
  const ScopeBlock& block;
  const LoadNode& load;  // what the block combines
};

void BindLoops(const std::vector<const ForNode*>& loops, Analyzer* analyzer) {
  for (const ForNode* loop : loops) {
    analyzer->Bind(loop->var, {loop->min, loop->extent});
  }
}

Expr InLoops(const Expr& e, const ScopeBlock& block) {
  VarMap values;
  for (size_t i = 0; i < block.realize->values.size(); ++i) {
    values[block.block().iters[i].var.get()] = block.realize->values[i];
  }
  return Substitute(e, values);
}

// Whether the block stores `value` to every element of `buffer`, and does
// nothing else.
bool Sets(const ScopeBlock& block, const Buffer& buffer, const Expr& value) {
  const auto* store = block.block().body.As<StoreNode>();
  if (block.block().init || !store || store->buffer != buffer ||
      !SameExpr(store->value, value) || WhyNotAllRun(block)) {
    return false;
  }
  std::vector<const VarNode*> used;
  for (size_t d = 0; d < store->indices.size(); ++d) {
    if (IsOne(buffer->shape[d])) continue;
    const Expr& index = store->indices[d];
    const auto& iters = block.block().iters;
    const auto iter =
        std::find_if(iters.begin(), iters.end(),
                     [&](const auto& i) { return i.var.get() == index.get(); });
    if (iter == iters.end() || !IsZero(iter->domain.min) ||
        !SameExpr(iter->domain.extent, buffer->shape[d]) ||
        std::count(used.begin(), used.end(), iter->var.get()) > 0) {
      return false;
    }
    used.push_back(iter->var.get());
  }
  return true;
}

bool ShareLoops(const ScopeBlock& a, const ScopeBlock& b) {
  return !a.loops.empty() && !b.loops.empty() &&
         a.loops.front()->id == b.loops.front()->id;
}

// The loop variables of the block that index what it combines, as the update
// makes them where it writes the same element. False when the update writes
// more than one element at a time.
bool SameElement(const Partial& p, const BufferRegion& written, VarMap* same) {
  Analyzer analyzer;
  BindLoops(p.block.loops, &analyzer);
  for (size_t d = 0; d < written.region.size(); ++d) {
    if (!IsOne(written.region[d].extent)) return false;
    const Expr index = analyzer.Simplify(InLoops(p.load.indices[d], p.block));
    if (const auto* var = index.As<VarNode>()) {
      (*same)[var] = InLoops(written.region[d].min, p.update);
    }
  }
  return true;
}

// Whether `condition` of the block holds wherever the update writes what an
// instance of the block combines.
bool HoldsWhereUpdated(const Partial& p, const Expr& condition) {
  for (const BufferRegion& written : p.update.block().writes) {
    if (written.buffer != p.load.buffer) continue;
    VarMap same;
    if (!SameElement(p, written, &same)) return false;
    const bool all_known = std::none_of(
        p.block.loops.begin(), p.block.loops.end(), [&](const ForNode* loop) {
          return !IsOne(loop->extent) && UsesVar(condition, loop->var) &&
                 same.count(loop->var.get()) == 0;
        });
    if (!all_known) return false;
    Analyzer analyzer;
    BindLoops(p.update.loops, &analyzer);
    BindLoops(p.block.loops, &analyzer);
    const auto held = analyzer.Assume(p.update.realize->predicate);
    if (!analyzer.CanProve(Substitute(condition, same))) return false;
  }
  return true;
}

bool IsSpatial(const ScopeBlock& block, const ForNode& loop) {
  const auto& iters = block.block().iters;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].type == IterType::kSpatial &&
        UsesVar(block.realize->values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

// Whether `condition` holds in the first iteration of the loops that only
// reduce, wherever the update's loops run and `plain` holds for some.
bool HoldsAtFirst(const Partial& p, const Expr& condition, const Expr& plain) {
  Analyzer analyzer;
  BindLoops(p.block.loops, &analyzer);
  VarMap first;
  for (const ForNode* loop : p.block.loops) {
    if (!IsSpatial(p.block, *loop)) first[loop->var.get()] = loop->min;
  }
  const LoopsRun run(p.update.loops, &analyzer);
  const auto held = analyzer.Assume(plain);
  return analyzer.CanProve(Substitute(condition, first));
}

ScopeBlock Under(const ScopeBlock& block, const Expr& condition, Stmt* keep) {
  *keep = MakeRealize(block.realize->values, condition, block.realize->block);
  return {keep->As<BlockRealizeNode>(), block.loops};
}

// Whether the condition, but for what keeps iterators in their domains, leaves
// out only what the update never writes, and something of each result remains.
bool LeavesOutEmpty(const Partial& p) {
  Expr plain = Bool(true);
  std::vector<Expr> others;
  Stmt keep;
  for (const Expr& part : ConjunctsOf(p.block.realize->predicate)) {
    if (HasPlainPredicate(Under(p.block, part, &keep))) {
      plain = IsOne(plain) ? part : Conjunction(plain, part);
    } else if (!part->has_loads && HoldsWhereUpdated(p, part)) {
      others.push_back(part);
    } else {
      return false;
    }
  }
  if (WhyNotAllRun(Under(p.block, plain, &keep))) return false;
  const auto at_first = [&](const Expr& part) {
    return HoldsAtFirst(p, part, plain);
  };
  return at_first(plain) && std::all_of(others.begin(), others.end(), at_first);
}

}  // namespace

Reason WhyConditionMatters(const Scope& scope, int index) {
  const ScopeBlock& block = scope.blocks[index];
  const std::string reason =
      absl::StrCat("what the condition of ", Describe(block.block()),
                   " leaves out may count");
  const auto reducer = MatchReducer(block.block());
  if (WhyNotReduction(scope, index) || !reducer.ok() ||
      reducer->operands.size() != 1 || reducer->keeps_first) {
    return reason;
  }
  const auto* load = reducer->operands[0].As<LoadNode>();
  if (!load || load->buffer == reducer->buffers[0]) return reason;
  for (const Expr& i : load->indices) {
    if (i->has_loads) return reason;
  }
  const std::vector<int> writers = scope.Writers(load->buffer);
  if (writers.size() != 2 || writers[1] >= index) return reason;
  const Partial p{scope.blocks[writers[0]], scope.blocks[writers[1]], block,
                  *load};
  if (ShareLoops(p.init, block) || ShareLoops(p.update, block) ||
      !Sets(p.init, load->buffer, reducer->initial[0]) || !LeavesOutEmpty(p)) {
    return reason;
  }
  return std::nullopt;
}

}  // namespace kiln
