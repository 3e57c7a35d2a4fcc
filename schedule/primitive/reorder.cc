// Exchanging loops keeps the instances of each block and changes their order
// alone, which counts only between instances that touch the same element. For a
// block, a loop is free where every iterator that it moves is spatial and keeps
// apart the elements that instances touch (SeparatesInstances). Other loops are
// ordered and must keep their sequence, unless reduce iterators alone make them
// so and the block may combine its values in any order:
//
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]     only k is ordered: all six
//                                                 orders are right
//   for i, j: X[i + 1, j] = X[i, j + 1]           i, j are ordered: refused
//   for i, j: X[i, j + 1] = X[i, j]               j is opaque, and alone
//   ordered
//
// Distances of dependences are not computed: X[i + 1, j + 1] = X[i, j] is
// refused too, though either order is right. Two conditions come on top: the
// instance with the init comes before the other terms of its element, and
// several blocks hand values to each other only within one iteration.
#include "kiln/schedule/primitive/reorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/independence.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

constexpr char kName[] = "reorder";

// The loops from the outermost named one to the innermost.
struct Chain {
  Path path;  // to the outermost
  std::vector<const ForNode*> loops;
};

bool IsNamed(const std::vector<LoopId>& ids, LoopId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

absl::Status CheckNames(const std::vector<LoopId>& ids) {
  if (ids.empty()) return BadArgument(kName, "no loops are given");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::find(ids.begin(), ids.begin() + static_cast<long>(i), ids[i]) !=
        ids.begin() + static_cast<long>(i)) {
      return BadArgument(kName, "a loop is named twice");
    }
  }
  return absl::OkStatus();
}

// The named loop that has no other named loop above it.
absl::StatusOr<Path> FindTop(const Function& f,
                             const std::vector<LoopId>& ids) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, ids[0], kName));
  for (size_t i = path.ScopeIndex() + 1; i < path.size(); ++i) {
    const auto* loop = path[i].As<ForNode>();
    if (loop && IsNamed(ids, loop->id)) return path.Prefix(i + 1);
  }
  return path;
}

absl::StatusOr<Chain> FindChain(const Function& f,
                                const std::vector<LoopId>& ids) {
  Chain chain;
  KILN_ASSIGN_OR_RETURN(chain.path, FindTop(f, ids));
  size_t found = 0;
  const Stmt* at = &chain.path.back();
  while (const auto* loop = at->As<ForNode>()) {
    chain.loops.push_back(loop);
    found += IsNamed(ids, loop->id);
    if (found == ids.size()) return chain;
    at = &loop->body;
  }
  for (LoopId id : ids) {
    KILN_RETURN_IF_ERROR(RequireLoop(f, id, kName).status());
  }
  return Refusal(kName,
                 absl::StrCat("not all of the loops are in one chain below ",
                              Describe(*chain.loops[0]),
                              " where each is the only statement of the one "
                              "above"));
}

// The chain with the named loops in their new order.
std::vector<const ForNode*> NewOrder(const Chain& chain,
                                     const std::vector<LoopId>& ids) {
  std::vector<const ForNode*> order;
  order.reserve(chain.loops.size());
  size_t next = 0;
  for (const ForNode* loop : chain.loops) {
    if (!IsNamed(ids, loop->id)) {
      order.push_back(loop);
      continue;
    }
    order.push_back(
        *std::find_if(chain.loops.begin(), chain.loops.end(),
                      [&](const ForNode* l) { return l->id == ids[next]; }));
    ++next;
  }
  return order;
}

bool Moves(const ForNode& loop, const Expr& value) {
  return value.MayUse(loop.var->var_bits) && UsesVar(value, loop.var);
}

absl::Status CheckDomains(const std::vector<const ForNode*>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (AsInt(order[i]->extent) && AsInt(order[i]->min)) continue;
    for (size_t j = i; j < order.size(); ++j) {
      if (UsesVar(order[i]->extent, order[j]->var) ||
          UsesVar(order[i]->min, order[j]->var)) {
        return Refusal(kName, absl::StrCat("the range of ", Describe(*order[i]),
                                           " depends on ", Describe(*order[j]),
                                           ", which would come inside it"));
      }
    }
  }
  return absl::OkStatus();
}

// A loop that moves nothing starts a sum with an init anew in each iteration.
absl::Status CheckReduction(const BlockRealizeNode& realize,
                            const std::vector<const ForNode*>& loops,
                            std::vector<const ForNode*> outside) {
  for (const ForNode* loop : loops) {
    const bool moves =
        std::any_of(realize.values.begin(), realize.values.end(),
                    [&](const Expr& value) { return Moves(*loop, value); });
    if (moves || IsOne(loop->extent)) continue;
    return Refusal(kName,
                   absl::StrCat(Describe(*loop), " moves no iterator of ",
                                Describe(*realize.block),
                                ", which is a reduction: the order "
                                "counts"));
  }
  outside.insert(outside.end(), loops.begin(), loops.end());
  if (Reason reason = WhyInitNotFirst(realize, outside)) {
    return Refusal(kName, *reason);
  }
  return absl::OkStatus();
}

absl::Status CheckBlock(const BlockRealizeNode& realize,
                        const std::vector<const ForNode*>& loops) {
  if (Reason reason = WhyNotAffine(realize, loops)) {
    return Refusal(kName, *reason);
  }
  return absl::OkStatus();
}

// Which iterators are spatial and keep what the block's instances touch apart.
std::vector<bool> Separating(const BlockNode& block) {
  std::vector<bool> separates(block.iters.size());
  for (size_t i = 0; i < separates.size(); ++i) {
    separates[i] = block.iters[i].type == IterType::kSpatial &&
                   SeparatesInstances(block, i);
  }
  return separates;
}

// Whether instances in different iterations of the loop may touch the same
// element, so that their order counts. `reduces` tells whether that is only
// because reduce iterators move.
bool IsOrdered(const ForNode& loop, const BlockRealizeNode& realize,
               const std::vector<bool>& separates, bool* reduces) {
  if (IsOne(loop.extent)) return false;
  bool moves = false, ordered = false;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (!Moves(loop, realize.values[i])) continue;
    moves = true;
    if (separates[i]) continue;
    ordered = true;
    if (realize.block->iters[i].type != IterType::kReduce) *reduces = false;
  }
  if (!moves) *reduces = false;
  return ordered || !moves;
}

// Loops whose order counts keep it, unless they only say in which order values
// are combined.
absl::Status CheckOrder(const Chain& chain,
                        const std::vector<const ForNode*>& order,
                        const BlockRealizeNode& realize) {
  bool reduces = true;
  std::vector<const ForNode*> before, after;
  const std::vector<bool> separates = Separating(*realize.block);
  for (const ForNode* loop : chain.loops) {
    if (IsOrdered(*loop, realize, separates, &reduces)) before.push_back(loop);
  }
  if (before.size() < 2) return absl::OkStatus();
  for (const ForNode* loop : order) {
    if (std::find(before.begin(), before.end(), loop) != before.end()) {
      after.push_back(loop);
    }
  }
  if (before == after || (reduces && CombinesAtWill(*realize.block))) {
    return absl::OkStatus();
  }
  const auto changed =
      std::mismatch(before.begin(), before.end(), after.begin());
  return Refusal(
      kName,
      absl::StrCat("iterations of ", Describe(**changed.first), " and of ",
                   Describe(**changed.second), " touch the same elements in ",
                   Describe(*realize.block), ", so that their order counts"),
      absl::StrCat("keep these two loops in their order, or mark the block "
                   "with T.block_attr({\"",
                   kDisjointWrites, "\": True}) if they do not"));
}

absl::Status CheckBlocks(const Chain& chain,
                         const std::vector<const ForNode*>& order,
                         const Scope& local) {
  if (!local.only_loops_and_blocks) {
    return Refusal(kName, absl::StrCat(Describe(*chain.loops[0]),
                                       " holds statements other than loops "
                                       "and blocks"));
  }
  for (const ScopeBlock& block : local.blocks) {
    KILN_RETURN_IF_ERROR(CheckBlock(*block.realize, block.loops));
    if (block.block().init) {
      KILN_RETURN_IF_ERROR(
          CheckReduction(*block.realize, block.loops, LoopsAbove(chain.path)));
    }
    KILN_RETURN_IF_ERROR(CheckOrder(chain, order, *block.realize));
  }
  if (local.blocks.size() < 2) return absl::OkStatus();
  const Scope inside(*local.block, chain.loops.back()->body);
  if (Reason reason = WhyFlowCrosses(inside)) {
    return Refusal(kName, *reason, "reorder before the blocks come together");
  }
  return absl::OkStatus();
}

// A fused loop that moves spatial and reduce iterators starts each sum at a
// place of its own; in another order the init would not come first.
absl::Status CheckStarts(const Chain& chain, const Scope& local) {
  for (const ScopeBlock& block : local.blocks) {
    if (!block.block().init) continue;
    for (const ForNode* loop : chain.loops) {
      bool spatial = false, reduce = false;
      for (size_t i = 0; i < block.realize->values.size(); ++i) {
        if (!Moves(*loop, block.realize->values[i])) continue;
        const bool is = block.block().iters[i].type == IterType::kSpatial;
        (is ? spatial : reduce) = true;
      }
      if (!spatial || !reduce) continue;
      return Refusal(
          kName,
          absl::StrCat(Describe(*loop),
                       " moves spatial and reduce iterators "
                       "of ",
                       Describe(block.block()),
                       ", so that its sums start at different times"),
          "decompose the reduction first");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Function> Reorder(const Function& f,
                                 const std::vector<LoopId>& ids) {
  KILN_RETURN_IF_ERROR(CheckNames(ids));
  KILN_ASSIGN_OR_RETURN(const Chain chain, FindChain(f, ids));
  if (ids.size() == 1) return f;
  const std::vector<const ForNode*> order = NewOrder(chain, ids);
  KILN_RETURN_IF_ERROR(CheckDomains(order));
  const Scope local(*chain.path.scope()->block, chain.path.back());
  KILN_RETURN_IF_ERROR(CheckBlocks(chain, order, local));
  KILN_RETURN_IF_ERROR(CheckStarts(chain, local));
  Stmt body = chain.loops.back()->body;
  for (size_t i = order.size(); i-- > 0;) {
    body = WithBody(*order[i], std::move(body));
  }
  return ReplaceAt(f, chain.path, std::move(body));
}

}  // namespace kiln
