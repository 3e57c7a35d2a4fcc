// Both nests are copies of the old one: the first with all loops and the
// partial results as a spatial iterator more, the second without the other
// loops of the reduction. They stand where the nest stood.
#include "kiln/schedule/primitive/rfactor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/index_order.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {
namespace {

constexpr char kName[] = "rfactor";

struct Target {
  Path path;                          // to the block
  size_t top = 0;                     // in the path: where the nests go
  std::vector<const ForNode*> loops;  // from `top` inwards
  const ForNode* loop = nullptr;      // the one to factor
  Reducer reducer;
  size_t axis = 0;
  // Over the loops that stay: where there is a partial result.
  Expr exists = Bool(true);

  const BlockRealizeNode& realize() const { return *path.realize(); }
  const BlockNode& block() const { return *realize().block; }
};

bool Moves(const BlockRealizeNode& realize, const ForNode& loop,
           IterType type) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type == type &&
        UsesVar(realize.values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

// A loop of the reduction that the second step does without.
bool IsDropped(const Target& target, const ForNode& loop) {
  return &loop != target.loop &&
         Moves(target.realize(), loop, IterType::kReduce);
}

absl::StatusOr<Path> OnlyBlockBelow(const Function& f, const Path& loop) {
  std::vector<BlockId> blocks;
  ForEachBlock(loop.back(), [&](const BlockRealizeNode& realize) {
    blocks.push_back(realize.block->id);
  });
  if (blocks.size() != 1) {
    return Refusal(kName,
                   absl::StrCat(Describe(*loop.loop()), " has ", blocks.size(),
                                " blocks below it; one is wanted"));
  }
  return RequireBlockThatRuns(f, blocks[0], kName);
}

// The nests replace the outermost loop from which on there is nothing but
// loops down to the block.
absl::StatusOr<Target> FindTarget(const Function& f, LoopId id) {
  KILN_ASSIGN_OR_RETURN(const Path loop, RequireLoop(f, id, kName));
  Target target;
  KILN_ASSIGN_OR_RETURN(target.path, OnlyBlockBelow(f, loop));
  target.top = target.path.size() - 1;
  while (target.path[target.top - 1].As<ForNode>()) --target.top;
  if (target.top >= loop.size()) {
    return Refusal(kName, absl::StrCat(Describe(*loop.loop()),
                                       " holds other statements than loops and "
                                       "one block"));
  }
  for (size_t i = target.top; i + 1 < target.path.size(); ++i) {
    target.loops.push_back(target.path[i].As<ForNode>());
  }
  target.loop = target.path[loop.size() - 1].As<ForNode>();
  return target;
}

absl::Status CheckLoop(const Target& target) {
  const ForNode& loop = *target.loop;
  const BlockRealizeNode& realize = target.realize();
  if (loop.for_kind != ForKind::kSerial || !IsZero(loop.min)) {
    return Refusal(kName,
                   absl::StrCat(Describe(loop), " is no serial loop from 0"));
  }
  if (Moves(realize, loop, IterType::kSpatial)) {
    return Refusal(kName,
                   absl::StrCat(Describe(loop), " moves a spatial iterator of ",
                                Describe(*realize.block)));
  }
  if (!Moves(realize, loop, IterType::kReduce) && !IsOne(loop.extent)) {
    return Refusal(kName,
                   absl::StrCat(Describe(loop), " moves no reduce iterator of ",
                                Describe(*realize.block)),
                   "name a loop of the reduction");
  }
  return absl::OkStatus();
}

// The ranges of the reduction's loops become those of iterators and tensors,
// and other loops go on without the ones that are left out.
absl::Status CheckRange(const Target& target, const ForNode& loop) {
  const bool in_reduction = Moves(target.realize(), loop, IterType::kReduce);
  for (const ForNode* other : LoopsAbove(target.path)) {
    if (!in_reduction && !IsDropped(target, *other)) continue;
    if (!UsesVar(loop.min, other->var) && !UsesVar(loop.extent, other->var)) {
      continue;
    }
    return Refusal(kName, absl::StrCat("the range of ", Describe(loop),
                                       " depends on ", Describe(*other)));
  }
  return absl::OkStatus();
}

absl::Status CheckLoops(const Target& target) {
  const BlockRealizeNode& realize = target.realize();
  if (Reason reason =
          WhyDomainsNameLoops(*realize.block, LoopsAbove(target.path))) {
    return Refusal(kName, *reason);
  }
  for (const ForNode* loop : LoopsAbove(target.path)) {
    const bool in_nest =
        std::count(target.loops.begin(), target.loops.end(), loop) > 0;
    if (!in_nest && Moves(realize, *loop, IterType::kReduce)) {
      return Refusal(kName, absl::StrCat(Describe(*loop), " of the reduction ",
                                         "holds other blocks too"));
    }
  }
  bool in_reduction = false;
  for (const ForNode* loop : target.loops) {
    const bool spatial = Moves(realize, *loop, IterType::kSpatial);
    const bool reduce = Moves(realize, *loop, IterType::kReduce);
    in_reduction |= reduce;
    if (spatial && reduce) {
      return Refusal(kName, absl::StrCat(Describe(*loop),
                                         " moves spatial and reduce iterators "
                                         "of ",
                                         Describe(*realize.block)));
    }
    if (in_reduction && !spatial && !reduce && !IsOne(loop->extent)) {
      return Refusal(kName, absl::StrCat(Describe(*loop),
                                         ", inside of the reduction, moves no "
                                         "iterator of ",
                                         Describe(*realize.block)));
    }
    KILN_RETURN_IF_ERROR(CheckRange(target, *loop));
  }
  if (Reason reason =
          WhyDomainsNameLoops(*realize.block, LoopsAbove(target.path))) {
    return Refusal(kName, *reason);
  }
  return absl::OkStatus();
}

// A partial result exists where its init ran: in the first iteration of the
// loops that are left out. Where a condition holds later it has to hold there.
absl::Status CheckCondition(Target* target) {
  VarMap first;
  Analyzer analyzer;
  for (const ForNode* loop : LoopsAbove(target->path)) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
    if (IsDropped(*target, *loop)) first[loop->var.get()] = loop->min;
  }
  for (const Expr& part : ConjunctsOf(target->realize().predicate)) {
    if (IsOne(part)) continue;
    const Expr at_first = analyzer.Simplify(Substitute(part, first));
    if (analyzer.CanProve(at_first)) continue;
    const auto held = analyzer.Assume(part);
    if (!analyzer.CanProve(at_first)) {
      return Refusal(kName,
                     absl::StrCat("a condition of ", Describe(target->block()),
                                  " may skip the init of a partial result"));
    }
    target->exists =
        AsInt(target->exists) ? at_first : And(target->exists, at_first);
  }
  return absl::OkStatus();
}

// Partial results that are of values in between each other's keep the first of
// equal ones where it is the one of the least index.
absl::Status SetOrder(Target* target) {
  if (!target->reducer.keeps_first) return absl::OkStatus();
  for (const ForNode* loop : target->loops) {
    if (loop == target->loop) break;
    if (IsOne(loop->extent) || !IsDropped(*target, *loop)) continue;
    if (IndicesGrow(target->reducer, target->realize(),
                    LoopsAbove(target->path))) {
      target->reducer.combined = target->reducer.lower_index_wins;
      return absl::OkStatus();
    }
    return Refusal(kName,
                   absl::StrCat(Describe(target->block()),
                                " keeps the first of equal values, and the "
                                "partial results would mix their order"),
                   absl::StrCat("factor ", Describe(*loop)));
  }
  return absl::OkStatus();
}

absl::Status SetAxis(int64_t axis, Target* target) {
  const auto rank = static_cast<int64_t>(target->reducer.indices.size());
  if (axis < -(rank + 1) || axis > rank) {
    return BadArgument(kName, absl::StrCat("factor_axis ", axis, " is not in [",
                                           -(rank + 1), ", ", rank, "]"));
  }
  target->axis = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
  return absl::OkStatus();
}

absl::StatusOr<Target> Prepare(const Function& f, LoopId id, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(Target target, FindTarget(f, id));
  const BlockNode& block = target.block();
  const Scope scope(*target.path.scope()->block);
  if (Reason reason = WhyNotReduction(scope, scope.IndexOf(block.id))) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " is no reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckLoop(target));
  KILN_RETURN_IF_ERROR(CheckLoops(target));
  if (Reason reason =
          WhyInitNotFirst(target.realize(), LoopsAbove(target.path))) {
    return Refusal(kName, *reason);
  }
  auto reducer = MatchReducer(block);
  if (!reducer.ok()) {
    return Refusal(kName, std::string(reducer.status().message()));
  }
  target.reducer = *std::move(reducer);
  KILN_RETURN_IF_ERROR(SetOrder(&target));
  KILN_RETURN_IF_ERROR(CheckCondition(&target));
  KILN_RETURN_IF_ERROR(SetAxis(axis, &target));
  return target;
}

template <typename T>
std::vector<T> WithItem(std::vector<T> items, size_t at, T item) {
  items.insert(items.begin() + static_cast<long>(at), std::move(item));
  return items;
}

std::vector<Buffer> PartialBuffers(const Target& target) {
  std::vector<Buffer> buffers;
  for (const Buffer& buffer : target.reducer.buffers) {
    buffers.push_back(
        MakeBuffer(buffer->name + "_rf", buffer->dtype,
                   WithItem(buffer->shape, target.axis, target.loop->extent),
                   buffer->scope));
  }
  return buffers;
}

// One of the two blocks in the making.
struct Step {
  BlockFields fields;
  std::vector<Expr> values;
  VarMap renamed;  // iterators of the old block
};

void AddIter(IterVar iter, Expr value, Step* step) {
  step->fields.iters.push_back(std::move(iter));
  step->values.push_back(std::move(value));
}

IterVar IterOf(const ForNode& loop, IterType type) {
  return {Var("v" + loop.var.name(), loop.var.dtype()),
          {loop.min, loop.extent},
          type};
}

// Whether iterators share loops with one that the factored loop moves, so that
// they have to be taken apart into loops.
std::vector<bool> TakenApart(const Target& target) {
  const BlockRealizeNode& realize = target.realize();
  std::vector<const ForNode*> loops = {target.loop};
  std::vector<bool> apart(realize.values.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < apart.size(); ++i) {
      const bool shares =
          std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
            return UsesVar(realize.values[i], loop->var);
          });
      if (apart[i] || !shares) continue;
      apart[i] = changed = true;
      for (const ForNode* loop : target.loops) {
        if (UsesVar(realize.values[i], loop->var)) loops.push_back(loop);
      }
    }
  }
  return apart;
}

const ForNode* LoopOf(const Target& target, const Var& var) {
  for (const ForNode* loop : target.loops) {
    if (loop->var == var) return loop;
  }
  return nullptr;
}

// The iterators of the block of partial results.
Step PartialIters(const Target& target, Var* factor) {
  Step step;
  VarMap of_loop;
  const IterVar partial = IterOf(*target.loop, IterType::kSpatial);
  *factor = partial.var;
  of_loop[target.loop->var.get()] = partial.var;
  AddIter(partial, target.loop->var, &step);
  const BlockRealizeNode& realize = target.realize();
  const std::vector<bool> apart = TakenApart(target);
  for (size_t i = 0; i < apart.size(); ++i) {
    IterVar iter = realize.block->iters[i];
    const VarNode* old = iter.var.get();
    if (!apart[i]) {
      iter.var = Var(iter.var.name(), iter.var.dtype());
      step.renamed[old] = iter.var;
      AddIter(std::move(iter), realize.values[i], &step);
      continue;
    }
    for (const Var& var : FreeVars(realize.values[i])) {
      const ForNode* loop = LoopOf(target, var);
      if (!loop || of_loop.count(var.get())) continue;
      IterVar part = IterOf(*loop, IterType::kReduce);
      of_loop[var.get()] = part.var;
      AddIter(std::move(part), var, &step);
    }
    step.renamed[old] = Substitute(realize.values[i], of_loop);
  }
  return step;
}

std::vector<Expr> Loads(const std::vector<Buffer>& buffers,
                        const std::vector<Expr>& indices) {
  std::vector<Expr> loads;
  for (const Buffer& buffer : buffers) loads.push_back(Load(buffer, indices));
  return loads;
}

// Stores all values after all of them are known.
Stmt StoreAll(const std::vector<Buffer>& buffers,
              const std::vector<Expr>& values,
              const std::vector<Expr>& indices) {
  if (buffers.size() == 1) return MakeStore(buffers[0], values[0], indices);
  std::vector<Var> vars;
  std::vector<Stmt> stores;
  for (size_t i = 0; i < buffers.size(); ++i) {
    vars.emplace_back("v_" + buffers[i]->name, buffers[i]->dtype);
    stores.push_back(MakeStore(buffers[i], vars[i], indices));
  }
  Stmt body = MakeSeq(std::move(stores));
  for (size_t i = buffers.size(); i-- > 0;) {
    body = MakeLet(vars[i], values[i], std::move(body));
  }
  return body;
}

Stmt InitAll(const std::vector<Buffer>& buffers, const Reducer& reducer,
             const std::vector<Expr>& indices) {
  std::vector<Stmt> stores;
  for (size_t i = 0; i < buffers.size(); ++i) {
    stores.push_back(MakeStore(buffers[i], reducer.initial[i], indices));
  }
  return MakeSeq(std::move(stores));
}

std::vector<BufferRegion> Points(const std::vector<Buffer>& buffers,
                                 const std::vector<Expr>& indices) {
  std::vector<BufferRegion> regions;
  for (const Buffer& buffer : buffers) {
    regions.push_back({buffer, PointRegion(indices)});
  }
  return regions;
}

// The block that computes the partial results. Without further loops of the
// reduction each is one operand.
Stmt PartialBlock(const Target& target, const std::vector<Buffer>& partial,
                  BlockId id) {
  const BlockNode& old = target.block();
  const Reducer& reducer = target.reducer;
  Var factor;
  Step step = PartialIters(target, &factor);
  const auto renamed = [&](const Expr& e) {
    return Substitute(e, step.renamed);
  };
  std::vector<Expr> indices;
  for (const Expr& e : reducer.indices) indices.push_back(renamed(e));
  indices = WithItem(std::move(indices), target.axis, Expr(factor));
  BlockFields& fields = step.fields;
  fields.id = id;
  fields.name = old.name + "_rf";
  fields.annotations = old.annotations;
  for (const BufferRegion& read : old.reads) {
    if (WritesBuffer(old, read.buffer)) continue;
    fields.reads.push_back(MapRegion(read, renamed));
  }
  fields.writes = Points(partial, indices);
  const bool reduces = std::any_of(
      fields.iters.begin(), fields.iters.end(),
      [](const IterVar& iter) { return iter.type == IterType::kReduce; });
  if (reduces) fields.init = InitAll(partial, reducer, indices);
  for (size_t i = 0; i < partial.size(); ++i) {
    step.renamed[reducer.left[i].get()] = Load(partial[i], indices);
  }
  std::vector<Expr> values;
  for (const Expr& e : reduces ? reducer.updates : reducer.operands) {
    values.push_back(renamed(e));
  }
  fields.body = StoreAll(partial, values, indices);
  return MakeRealize(std::move(step.values), target.realize().predicate,
                     MakeBlock(std::move(fields)));
}

// The block that combines the partial results; the old block's id.
Stmt FinalBlock(const Target& target, const std::vector<Buffer>& partial) {
  const BlockRealizeNode& realize = target.realize();
  const BlockNode& old = target.block();
  const Reducer& reducer = target.reducer;
  Step step;
  const IterVar factor = IterOf(*target.loop, IterType::kReduce);
  AddIter(factor, target.loop->var, &step);
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (old.iters[i].type != IterType::kSpatial) continue;
    AddIter(old.iters[i], realize.values[i], &step);
  }
  const std::vector<Expr> from =
      WithItem(reducer.indices, target.axis, Expr(factor.var));
  BlockFields& fields = step.fields;
  fields.id = old.id;
  fields.name = old.name;
  fields.annotations = old.annotations;
  fields.reads = Points(partial, from);
  fields.writes = Points(reducer.buffers, reducer.indices);
  fields.init = InitAll(reducer.buffers, reducer, reducer.indices);
  fields.body =
      StoreAll(reducer.buffers,
               reducer.Combine(Loads(reducer.buffers, reducer.indices),
                               Loads(partial, from)),
               reducer.indices);
  return MakeRealize(std::move(step.values), target.exists,
                     MakeBlock(std::move(fields)));
}

// All loops anew around the block of partial results.
Stmt PartialNest(const Target& target, Stmt body, Function* f) {
  VarMap renamed;
  for (const ForNode* loop : target.loops) {
    renamed[loop->var.get()] = Var(loop->var.name(), loop->var.dtype());
  }
  const auto* realize = body.As<BlockRealizeNode>();
  std::vector<Expr> values;
  for (const Expr& e : realize->values) {
    values.push_back(Substitute(e, renamed));
  }
  Stmt nest =
      MakeRealize(std::move(values), Substitute(realize->predicate, renamed),
                  realize->block);
  std::vector<LoopId> ids;
  for (size_t i = 0; i < target.loops.size(); ++i) ids.push_back(f->NewId());
  for (size_t i = target.loops.size(); i-- > 0;) {
    ForFields fields = target.loops[i]->fields();
    fields.id = ids[i];
    fields.min = Substitute(fields.min, renamed);
    fields.extent = Substitute(fields.extent, renamed);
    fields.var = Var(renamed[fields.var.get()].As<VarNode>());
    fields.body = std::move(nest);
    nest = MakeFor(std::move(fields));
  }
  return nest;
}

// The loops that stay around the block that combines.
Stmt FinalNest(const Target& target, Stmt nest) {
  for (size_t i = target.loops.size(); i-- > 0;) {
    if (IsDropped(target, *target.loops[i])) continue;
    ForFields fields = target.loops[i]->fields();
    fields.body = std::move(nest);
    nest = MakeFor(std::move(fields));
  }
  return nest;
}

Function WithNests(Function f, const Target& target, Stmt nests,
                   const std::vector<Buffer>& partial) {
  const int scope = target.path.ScopeIndex();
  const Path inner = target.path.Part(scope, target.top - scope + 1);
  const Stmt changed = ReplaceAt(inner, std::move(nests));
  const auto* realize = changed.As<BlockRealizeNode>();
  BlockFields fields = realize->block->fields();
  fields.alloc_buffers.insert(fields.alloc_buffers.end(), partial.begin(),
                              partial.end());
  return ReplaceAt(std::move(f), target.path.Prefix(scope + 1),
                   WithBlock(*realize, std::move(fields)));
}

}  // namespace

absl::StatusOr<RfactorResult> Rfactor(const Function& f, LoopId loop,
                                      int64_t factor_axis) {
  KILN_ASSIGN_OR_RETURN(const Target target, Prepare(f, loop, factor_axis));
  RfactorResult result{f, 0};
  result.rf_block = result.function.NewId();
  const std::vector<Buffer> partial = PartialBuffers(target);
  Stmt first = PartialNest(
      target, PartialBlock(target, partial, result.rf_block), &result.function);
  Stmt second = FinalNest(target, FinalBlock(target, partial));
  result.function =
      WithNests(std::move(result.function), target,
                MakeSeq({std::move(first), std::move(second)}), partial);
  return result;
}

}  // namespace kiln
