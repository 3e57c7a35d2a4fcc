#include "kiln/schedule/analysis/independence.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

bool Names(const BlockNode& block, const Buffer& buffer) {
  return ReadsBuffer(block, buffer) || WritesBuffer(block, buffer);
}

// Counts the blocks of a subtree that name `buffer`.
int CountUsers(const Stmt& subtree, const Buffer& buffer) {
  int count = 0;
  ForEachBlock(subtree, [&](const BlockRealizeNode& realize) {
    count += Names(*realize.block, buffer);
  });
  return count;
}

// The reason why a loop that moves iterator `iter` is no plain spatial one.
Reason WhyWrongIterator(const ScopeBlock& block, const Var& loop_var,
                        bool allow_reduction, bool* moves_spatial) {
  const BlockRealizeNode& realize = *block.realize;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (!UsesVar(realize.values[i], loop_var)) continue;
    const IterVar& iter = realize.block->iters[i];
    if (iter.type == IterType::kSpatial) {
      *moves_spatial = true;
    } else if (iter.type != IterType::kReduce || !allow_reduction) {
      return absl::StrCat("it moves iterator `", iter.var.name(), "` of ",
                          Describe(*realize.block), ", which is not spatial");
    } else {
      *moves_spatial = true;
    }
  }
  return std::nullopt;
}

bool WritesOnlyPrivate(const BlockNode& scope, const Stmt& subtree,
                       const BlockNode& block) {
  return std::all_of(block.writes.begin(), block.writes.end(),
                     [&](const BufferRegion& region) {
                       return LivesWithin(scope, subtree, region.buffer);
                     });
}

// Whether the block's predicate leaves one iteration of the loop at most, with
// the loops around it where they are.
bool RunsInOneIteration(const Path& path, const ScopeBlock& block) {
  const ForNode& loop = *path.loop();
  if (IsOne(block.realize->predicate)) return false;
  Analyzer analyzer;
  for (const ForNode* outer : LoopsAbove(path)) {
    analyzer.Bind(outer->var, {outer->min, outer->extent});
  }
  for (const ForNode* inner : block.loops) {
    analyzer.Bind(inner->var, {inner->min, inner->extent});
  }
  const auto held = analyzer.Assume(block.realize->predicate);
  return analyzer.CanProveLessEqual(loop.var, loop.min);
}

// The block with the loops as spatial iterators of its own, the outermost as
// the last one: its regions may name them instead of iterators. Null where a
// bound of a loop is no constant.
Block WithLoopsAsIterators(const ScopeBlock& block) {
  BlockFields fields = block.block().fields();
  for (size_t i = block.loops.size(); i-- > 0;) {
    const ForNode& loop = *block.loops[i];
    if (!AsInt(loop.min) || !AsInt(loop.extent)) return nullptr;
    fields.iters.push_back(
        {loop.var, {loop.min, loop.extent}, IterType::kSpatial});
  }
  return MakeBlock(std::move(fields));
}

bool NamesInRegions(const BlockNode& block, const Var& var) {
  return std::any_of(
      block.writes.begin(), block.writes.end(),
      [&](const BufferRegion& written) {
        return std::any_of(
            written.region.begin(), written.region.end(),
            [&](const Range& range) { return UsesVar(range.min, var); });
      });
}

Reason WhyBlockDepends(const BlockNode& scope, const Path& path,
                       const ScopeBlock& block, IndependenceOptions options) {
  const Stmt& loop_stmt = path.back();
  const ForNode& loop = *loop_stmt.As<ForNode>();
  bool moves = false;
  if (Reason reason =
          WhyWrongIterator(block, loop.var, options.allow_reduction, &moves)) {
    return reason;
  }
  if (WritesOnlyPrivate(scope, loop_stmt, block.block())) {
    return std::nullopt;
  }
  if (!moves && !RunsInOneIteration(path, block)) {
    if (NamesInRegions(block.block(), loop.var)) {
      return absl::StrCat(Describe(block.block()), " uses `", loop.var.name(),
                          "` itself, and instances that differ in it may touch "
                          "the same elements of what it writes");
    }
    return absl::StrCat("every iteration of it writes the same elements in ",
                        Describe(block.block()));
  }
  // A reduction has proved to be affine as such.
  return block.block().init ? std::nullopt : WhyNotAffine(block);
}

bool MovesReduction(const ForNode& loop, const BlockRealizeNode& realize) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type == IterType::kReduce &&
        UsesVar(realize.values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

// Whether each run of the loops around the block begins its sums: those that
// move reduce iterators do have iterations, and no condition leaves some out.
bool BeginsSums(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  return absl::c_all_of(block.loops, [&](const ForNode* loop) {
    if (!MovesReduction(*loop, realize)) return true;
    const int64_t* extent = AsInt(loop->extent);
    return AsInt(loop->min) && extent && *extent > 0 &&
           !UsesVar(realize.predicate, loop->var);
  });
}

// Why the block is neither complete nor a reduction below the loop, nor within
// each of its iterations, where these have elements of their own: they may sum
// up the same ones once more, as strips of an image do at their borders.
Reason WhyNotWhole(const BlockNode& scope, const Path& path, const Scope& local,
                   int index) {
  Reason reason = WhyNotCompleteOrReduction(local, index);
  const BlockNode& block = local.blocks[index].block();
  if (!reason || !WritesOnlyPrivate(scope, path.back(), block)) return reason;
  const Scope iteration(scope, path.loop()->body);
  const bool is_whole = BeginsSums(iteration.blocks[index]) &&
                        !WhyNotCompleteOrReduction(iteration, index);
  return is_whole ? std::nullopt : reason;
}

// Whether iterations of the loop stand for other elements each, whatever else
// the block does to its own: updates in place, sums without an init.
bool IsSeparated(const ForNode& loop, const ScopeBlock& block) {
  bool moves = false;
  for (size_t i = 0; i < block.realize->values.size(); ++i) {
    if (!UsesVar(block.realize->values[i], loop.var)) continue;
    moves = true;
    if (block.block().iters[i].type != IterType::kSpatial ||
        !SeparatesInstances(block.block(), i)) {
      return false;
    }
  }
  if (!moves && NamesInRegions(block.block(), loop.var)) {
    const Block own = WithLoopsAsIterators(block);
    moves = own && SeparatesInstances(*own, own->iters.size() - 1);
  }
  return moves && !WhyNotAffine(block);
}

}  // namespace

bool LivesWithin(const BlockNode& scope, const Stmt& subtree,
                 const Buffer& buffer) {
  const auto& local = scope.alloc_buffers;
  if (std::find(local.begin(), local.end(), buffer) == local.end()) {
    return false;
  }
  return CountUsers(subtree, buffer) == CountUsers(scope.body, buffer);
}

Reason WhyFlowCrosses(const Scope& local) {
  if (local.blocks.size() < 2) return std::nullopt;
  bool flows = false;
  for (const Dependence& d : local.Dependences()) {
    flows = true;
    if (d.kind == DependenceKind::kRaw) continue;
    return absl::StrCat(Describe(local.blocks[d.target].block()),
                        " overwrites what ",
                        Describe(local.blocks[d.source].block()), " uses");
  }
  if (!flows) return std::nullopt;
  for (size_t i = 0; i < local.blocks.size(); ++i) {
    if (Reason reason = WhyNotCovered(local, static_cast<int>(i))) {
      return reason;
    }
  }
  return std::nullopt;
}

Reason WhyNotIndependent(const Path& path, IndependenceOptions options) {
  if (IsOne(path.loop()->extent)) return std::nullopt;
  const BlockNode& scope = *path.scope()->block;
  const Scope local(scope, path.back());
  if (!local.only_loops_and_blocks) {
    return "it holds statements other than loops and blocks";
  }
  if (local.blocks.size() == 1 && IsSeparated(*path.loop(), local.blocks[0])) {
    return std::nullopt;
  }
  for (size_t i = 0; i < local.blocks.size(); ++i) {
    const ScopeBlock& block = local.blocks[i];
    if (Reason reason = WhyNotWhole(scope, path, local, static_cast<int>(i))) {
      return absl::StrCat(Describe(block.block()),
                          " is neither complete nor a reduction: ", *reason);
    }
    if (Reason reason = WhyBlockDepends(scope, path, block, options)) {
      return reason;
    }
  }
  return WhyFlowCrosses(local);
}

}  // namespace kiln
