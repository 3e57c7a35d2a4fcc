// A block runs its init where all reduce iterators have their least values,
// just before the first term. The init may run earlier, in a nest of its own,
// where that nest initializes each element once and before all of its terms. So
// it stands before the given loop, and of the loops from there inwards it
// copies those that move spatial iterators and drops the others:
//
//   for i, k, j: C[i, j] += A[i, k] * B[k, j]     init: C[i, j] = 0
//   =>  at loop k, which the init drops
//   for i:
//     for j_init: C[i, j_init] = 0
//     for k, j: C[i, j] += A[i, k] * B[k, j]
//
// Conditions that name a dropped loop cannot stay in the init, which then may
// write elements without any term, such as B[3] where a sum over k_0 into
// B[k_1] is guarded by T.where(k_0 * 4 + k_1 < 3). MayInitMore() tells where
// that does no harm; elsewhere such a condition is refused if it names a copied
// loop, or one outside, too, and if it may not hold in the first iteration of
// the dropped loops, where the block runs its init.
#include "kiln/schedule/primitive/decompose_reduction.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/init_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "decompose_reduction";

struct Target {
  Path path;                            // to the block
  size_t loop_index;                    // of `loop` in the path
  std::vector<const ForNode*> outside;  // loops of the scope above `loop`
  std::vector<const ForNode*> inside;   // `loop` and those below it
  const BlockRealizeNode& realize() const { return *path.realize(); }
};

absl::StatusOr<Target> FindTarget(const Function& f, BlockId block,
                                  LoopId loop) {
  Target target;
  KILN_ASSIGN_OR_RETURN(target.path, RequireBlock(f, block, kName));
  target.loop_index = 0;
  const int scope = target.path.ScopeIndex();
  for (size_t i = scope + 1; i < target.path.size(); ++i) {
    const auto* node = target.path[i].As<ForNode>();
    if (!node) continue;
    if (node->id == loop) target.loop_index = i;
    (target.loop_index ? target.inside : target.outside).push_back(node);
  }
  if (target.loop_index == 0) {
    KILN_ASSIGN_OR_RETURN(const Path other, RequireLoop(f, loop, kName));
    return Refusal(kName,
                   absl::StrCat(Describe(*other.loop()), " is not above ",
                                Describe(*target.realize().block)),
                   "name one of get_loops(block)");
  }
  return target;
}

bool MovesAny(const ForNode& loop, const BlockRealizeNode& realize) {
  return std::any_of(
      realize.values.begin(), realize.values.end(),
      [&](const Expr& value) { return UsesVar(value, loop.var); });
}

using IsDropped = FunctionRef<bool(const VarNode*)>;

// A loop that goes on around the update alone must not repeat the sum.
absl::Status CheckRepeats(const Target& target) {
  for (const ForNode* loop : target.inside) {
    if (IsOne(loop->extent) || MovesAny(*loop, target.realize())) continue;
    return Refusal(kName,
                   absl::StrCat(Describe(*loop), " moves no iterator of ",
                                Describe(*target.realize().block),
                                ": each of its iterations starts the sum anew"),
                   "name a loop below it");
  }
  return absl::OkStatus();
}

// Loops that the init leaves out must not decide where the others run.
absl::Status CheckRanges(const Target& target, IsDropped dropped) {
  for (const ForNode* loop : target.inside) {
    if (dropped(loop->var.get())) continue;
    if (!UsesVar(loop->min, dropped) && !UsesVar(loop->extent, dropped)) {
      continue;
    }
    return Refusal(kName, absl::StrCat("the range of ", Describe(*loop),
                                       " depends on a loop that the init "
                                       "block leaves out"));
  }
  for (const IterVar& iter : target.realize().block->iters) {
    if (iter.type != IterType::kSpatial ||
        (!UsesVar(iter.domain.min, dropped) &&
         !UsesVar(iter.domain.extent, dropped))) {
      continue;
    }
    return Refusal(kName,
                   absl::StrCat("the domain of iterator `", iter.var.name(),
                                "` depends on a loop that the init block "
                                "leaves out"));
  }
  return absl::OkStatus();
}

std::vector<const ForNode*> KeptLoops(const Target& target, IsDropped dropped) {
  std::vector<const ForNode*> kept = target.outside;
  for (const ForNode* loop : target.inside) {
    if (!dropped(loop->var.get())) kept.push_back(loop);
  }
  return kept;
}

// Whether all that the init writes is in the tensor, wherever its iterators are
// in their domains; a tensor may hold what the update reaches alone.
bool StoresInRange(const BlockNode& block) {
  Analyzer analyzer;
  for (const IterVar& iter : block.iters) {
    analyzer.Bind(iter.var, iter.domain);
  }
  bool in_range = true;
  Visit(block.init, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    for (size_t d = 0; store && d < store->indices.size(); ++d) {
      const Expr& at = store->indices[d];
      in_range = in_range && analyzer.CanProveLessEqual(Int(0), at) &&
                 analyzer.CanProveLess(at, store->buffer->shape[d]);
    }
    return in_range;
  });
  return in_range;
}

// Whether the init may run where conditions that it drops keep the update from
// running: what it writes there is the scope's own, is in range, and belongs
// to no other iteration.
bool MayInitMore(const Target& target, IsDropped dropped) {
  const Scope scope(*target.path.scope()->block);
  const BlockRealizeNode& realize = target.realize();
  if (scope.IsOutput(scope.IndexOf(realize.block->id)) ||
      !StoresInRange(*realize.block)) {
    return false;
  }
  const Expr left = KeepConjuncts(realize.predicate, dropped);
  const auto loops = KeptLoops(target, dropped);
  Analyzer analyzer;
  for (const ForNode* loop : loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  const auto held = analyzer.Assume(left);
  std::vector<Expr> values;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (iter.type != IterType::kSpatial) continue;
    const Expr& value = values.emplace_back(realize.values[i]);
    const Expr end = Add(iter.domain.min, iter.domain.extent);
    if (!analyzer.CanProveLessEqual(iter.domain.min, value) ||
        !analyzer.CanProveLess(value, end)) {
      return false;
    }
  }
  const bool all_move =
      std::all_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
        return IsOne(loop->extent) ||
               MovesIterator(*loop, realize, IterType::kSpatial);
      });
  return all_move &&
         CheckIterMap(values, Ranges(loops), left, IterMapLevel::kInjective)
             .ok();
}

// Where loops that the init leaves out have no iterations, no sum begins.
absl::Status CheckDroppedRun(const Target& target, IsDropped dropped) {
  std::vector<const ForNode*> loops = target.outside, left_out;
  for (const ForNode* loop : target.inside) {
    loops.push_back(loop);
    if (dropped(loop->var.get())) left_out.push_back(loop);
  }
  if (!MayNotRun(loops, left_out) || MayInitMore(target, dropped)) {
    return absl::OkStatus();
  }
  return Refusal(kName, absl::StrCat("loops of the reduction around ",
                                     Describe(*target.realize().block),
                                     " may have no iterations"));
}

// Whether a condition of loops that the init leaves out holds in the first
// iteration of all of them, in which the block runs its init.
bool HoldsWhereInitRuns(const Target& target, const Expr& condition) {
  Analyzer analyzer;
  std::vector<const ForNode*> loops = target.outside;
  loops.insert(loops.end(), target.inside.begin(), target.inside.end());
  const LoopsRun run(loops, &analyzer);
  VarMap first;
  for (const ForNode* loop : target.inside) first[loop->var.get()] = loop->min;
  return analyzer.CanProve(Substitute(condition, first));
}

// The same as MayInitMore, of one condition that holds in the first iteration
// of all loops that it names: iterators that none of these loops moves are what
// they are in that iteration, so that those that they do move remain to be
// looked at. Of
//
//   for i in (n * 3), k_0 in (n + 7) // 8, k_1 in 8:
//     B(i // n, i % n, k_1) over k_0    where k_0 * 8 + k_1 < n
//
// that is the last: 8 values for 8 iterations, in range.
bool MayInitMoreFor(const Target& target, const Expr& condition,
                    IsDropped dropped) {
  const Scope scope(*target.path.scope()->block);
  const BlockRealizeNode& realize = target.realize();
  if (scope.IsOutput(scope.IndexOf(realize.block->id)) ||
      !StoresInRange(*realize.block) ||
      !HoldsWhereInitRuns(target, condition)) {
    return false;
  }
  Analyzer analyzer;
  std::vector<const ForNode*> tied;
  for (const ForNode* loop : target.inside) {
    if (dropped(loop->var.get()) || !UsesVar(condition, loop->var)) continue;
    tied.push_back(loop);
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  const auto is_tied = [&](const VarNode* var) {
    return std::any_of(tied.begin(), tied.end(), [&](const ForNode* loop) {
      return loop->var.get() == var;
    });
  };
  std::vector<Expr> values;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const Expr& value = realize.values[i];
    const IterVar& iter = realize.block->iters[i];
    if (iter.type != IterType::kSpatial || !UsesVar(value, is_tied)) continue;
    values.push_back(value);
    const Expr end = Add(iter.domain.min, iter.domain.extent);
    const auto other = [&](const VarNode* var) { return !is_tied(var); };
    if (UsesVar(value, other) ||
        !analyzer.CanProveLessEqual(iter.domain.min, value) ||
        !analyzer.CanProveLess(value, end)) {
      return false;
    }
  }
  return CheckIterMap(values, Ranges(tied), Bool(true),
                      IterMapLevel::kInjective)
      .ok();
}

absl::Status CheckCondition(const Target& target, const Expr& condition,
                            IsDropped dropped) {
  const auto is_kept = [&](const VarNode* var) {
    const auto is_loop = [&](const ForNode* l) { return l->var.get() == var; };
    return !dropped(var) &&
           (std::any_of(target.inside.begin(), target.inside.end(), is_loop) ||
            std::any_of(target.outside.begin(), target.outside.end(), is_loop));
  };
  if (!UsesVar(condition, dropped) || MayInitMore(target, dropped) ||
      MayInitMoreFor(target, condition, dropped)) {
    return absl::OkStatus();
  }
  if (!UsesVar(condition, is_kept)) {
    if (HoldsWhereInitRuns(target, condition)) return absl::OkStatus();
    return Refusal(
        kName,
        absl::StrCat("a condition of ", Describe(*target.realize().block),
                     " may leave out the iteration that runs its "
                     "init, which the init block would run"));
  }
  return Refusal(
      kName, absl::StrCat("a condition of ", Describe(*target.realize().block),
                          " ties loops of the init block to loops that it "
                          "leaves out"));
}

absl::Status CheckInitNest(const Target& target) {
  const auto dropped = [&](const VarNode* var) {
    return std::any_of(
        target.inside.begin(), target.inside.end(), [&](const ForNode* l) {
          return l->var.get() == var &&
                 !MovesIterator(*l, target.realize(), IterType::kSpatial);
        });
  };
  KILN_RETURN_IF_ERROR(CheckRepeats(target));
  if (Reason reason = WhyInitNotFirst(target.realize(), target.inside)) {
    return Refusal(kName, *reason);
  }
  KILN_RETURN_IF_ERROR(CheckRanges(target, dropped));
  KILN_RETURN_IF_ERROR(CheckDroppedRun(target, dropped));
  if (IsOne(target.realize().predicate)) return absl::OkStatus();
  for (const Expr& e : ConjunctsOf(target.realize().predicate)) {
    KILN_RETURN_IF_ERROR(CheckCondition(target, e, dropped));
  }
  return absl::OkStatus();
}

// Whether another block below `loop` names what the block writes.
bool HasNeighbors(const Scope& below, const BlockNode& block) {
  const auto names = [&](const ScopeBlock& other) {
    return &other.block() != &block &&
           absl::c_any_of(block.writes, [&](const BufferRegion& written) {
             return ReadsBuffer(other.block(), written.buffer) ||
                    WritesBuffer(other.block(), written.buffer);
           });
  };
  return absl::c_any_of(below.blocks, names);
}

// A reduction of the scope, or of what is below `loop` where nobody else looks
// there: loops outside may come back to an element and sum it up once more, as
// tiles of rows do that share rows at their borders.
Reason WhyNotReductionHere(const Target& target) {
  const BlockNode& block = *target.realize().block;
  const BlockNode& around = *target.path.scope()->block;
  const Scope scope(around);
  Reason reason = WhyNotReduction(scope, scope.IndexOf(block.id));
  if (!reason) return std::nullopt;
  const Scope below(around, target.path[target.loop_index]);
  if (HasNeighbors(below, block) ||
      WhyNotReduction(below, below.IndexOf(block.id))) {
    return reason;
  }
  return std::nullopt;
}

absl::Status Check(const Target& target) {
  const BlockRealizeNode& realize = target.realize();
  const BlockNode& block = *realize.block;
  if (Reason reason = WhyNotReductionHere(target)) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " is no reduction: ", *reason));
  }
  for (const ForNode* loop : target.outside) {
    if (MovesIterator(*loop, realize, IterType::kReduce)) {
      return Refusal(
          kName,
          absl::StrCat(Describe(*loop),
                       ", which stands above the given loop, moves "
                       "a reduce iterator: the sum would start anew "
                       "in each of its iterations"),
          absl::StrCat("name ", Describe(*loop), " or a loop above it"));
    }
  }
  return CheckInitNest(target);
}

// The blocks around but for the root read, where they write it, what the update
// adds to.
Function WithReadsAround(Function f, const Path& path, const Buffer& buffer) {
  const int scope = path.ScopeIndex();
  if (scope <= 0) return f;
  const auto& realize = *path[scope].As<BlockRealizeNode>();
  BlockFields fields = realize.block->fields();
  if (!fields.init && !ReadsBuffer(*realize.block, buffer)) {
    for (const BufferRegion& write : realize.block->writes) {
      if (write.buffer == buffer) fields.reads.push_back(write);
    }
  }
  const BlockId id = fields.id;
  f.body =
      ReplaceAt(path.Prefix(scope + 1), WithBlock(realize, std::move(fields)));
  const Path around = *FindBlock(f, id);
  return WithReadsAround(std::move(f), around, buffer);
}

}  // namespace

absl::StatusOr<DecomposeReductionResult> DecomposeReduction(const Function& f,
                                                            BlockId block,
                                                            LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Target target, FindTarget(f, block, loop));
  KILN_RETURN_IF_ERROR(Check(target));
  DecomposeReductionResult result{f, 0};
  Stmt init = MakeInitNest(target.realize(), target.inside, &result.function,
                           &result.init);
  BlockFields sums = UpdateFields(*target.realize().block);
  sums.name += "_update";
  Stmt update = WithBlock(target.realize(), std::move(sums));
  for (size_t i = target.path.size() - 1; i > target.loop_index; --i) {
    update = ReplaceChild(target.path[i - 1], target.path[i], update);
  }
  result.function.body =
      ReplaceAt(target.path.Prefix(target.loop_index + 1),
                MakeSeq({std::move(init), std::move(update)}));
  if (target.path.scope()->block->id == f.root().id) return result;
  for (const BufferRegion& sum : target.realize().block->writes) {
    const Path path = *FindBlock(result.function, block);
    result.function =
        WithReadsAround(std::move(result.function), path, sum.buffer);
  }
  return result;
}

}  // namespace kiln
