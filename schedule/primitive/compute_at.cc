// Both directions are one movement: ask which box of a buffer the blocks that
// stay need or leave in one iteration of the loop, run the moved block over
// just the iterations that touch that box, and put it between its producers
// and its consumers. What came out is judged once more at the end: every read
// of the moved block and of its consumers has to be covered.
#include "kiln/schedule/primitive/compute_at.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/same.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/independence.h"
#include "kiln/schedule/analysis/instances.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/neutral.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/reduction_order.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/block_domain.h"
#include "kiln/schedule/rewrite/init_nest.h"
#include "kiln/schedule/rewrite/kept_condition.h"
#include "kiln/schedule/rewrite/overtaken.h"

namespace kiln {
namespace {

constexpr std::string_view kForward = "compute_at";
constexpr std::string_view kReverse = "reverse_compute_at";

// One call: what moves where.
struct Move {
  std::string_view primitive;
  bool is_reverse;
  Path block, loop;
  ComputeAtOptions options;
  Expr kept;  // a condition over the block's iterators that goes with it
  const BlockNode& moved() const { return *block.realize()->block; }
  const BlockNode& scope() const { return *block.scope()->block; }
  std::string name() const { return Describe(moved()); }
};

bool StandsUnder(const ScopeBlock& block, LoopId loop) {
  return std::any_of(block.loops.begin(), block.loops.end(),
                     [&](const ForNode* l) { return l->id == loop; });
}

absl::StatusOr<Move> Prepare(const Function& f, BlockId block, LoopId loop,
                             ComputeAtOptions options, bool is_reverse) {
  Move move{
      is_reverse ? kReverse : kForward, is_reverse, {}, {}, options, nullptr};
  KILN_ASSIGN_OR_RETURN(move.block,
                        RequireBlockThatRuns(f, block, move.primitive));
  KILN_ASSIGN_OR_RETURN(move.loop, RequireLoop(f, loop, move.primitive));
  if (!move.block.scope()) {
    return Refusal(move.primitive, "the root block cannot move");
  }
  if (move.loop.scope() != move.block.scope()) {
    return Refusal(move.primitive, absl::StrCat(move.name(), " and ",
                                                Describe(*move.loop.loop()),
                                                " stand in different blocks"));
  }
  const std::vector<LoopId> above = LoopIdsAbove(move.block);
  if (std::find(above.begin(), above.end(), loop) != above.end()) {
    return Refusal(move.primitive,
                   absl::StrCat(Describe(*move.loop.loop()), " is a loop of ",
                                move.name(), " already"),
                   "name a loop of the blocks that use or make its tensors");
  }
  return move;
}

// Whether the condition of a moved consumer leaves out nothing that counts.
bool MayRunAll(const Move& move, const Scope& scope, int block) {
  return move.is_reverse && !IsOne(scope.blocks[block].realize->predicate) &&
         !WhyConditionMatters(scope, block);
}

// A predicate that only keeps iterators in their domains holds by itself in
// the new loops. Any other is part of the meaning and goes with the block:
// that over its iterators, if it can be told so; else null.
Expr KeptCondition(const Move& move, const Scope& scope, int block) {
  return HasPlainPredicate(scope.blocks[block]) || MayRunAll(move, scope, block)
             ? nullptr
             : ConditionOfIters(scope.blocks[block]);
}

absl::Status CheckPredicate(const Move& move, const Scope& scope, int block) {
  if (HasPlainPredicate(scope.blocks[block]) || MayRunAll(move, scope, block) ||
      move.kept) {
    return absl::OkStatus();
  }
  return Refusal(move.primitive,
                 absl::StrCat(move.name(),
                              " runs under a condition that its "
                              "iterators' domains do not imply"));
}

absl::Status CheckMoved(const Move& move, const Scope& scope, int block) {
  if (!scope.only_loops_and_blocks) {
    return Refusal(move.primitive,
                   "the enclosing block holds statements other than loops and "
                   "blocks");
  }
  if (Reason reason = WhyNotCompleteOrReduction(scope, block)) {
    return Refusal(
        move.primitive,
        absl::StrCat(move.name(),
                     " is neither complete nor a reduction: ", *reason));
  }
  if (Reason reason =
          WhyDomainsNameLoops(move.moved(), scope.blocks[block].loops)) {
    return Refusal(move.primitive, *reason);
  }
  // Loops made anew would run those that its own loops leave out, and write
  // what nobody had, or another value.
  if (move.is_reverse || MayWriteAgain(move.moved())) {
    const Reason reason = move.kept ? WhyNotAllRunButFor(scope.blocks[block])
                                    : WhyNotAllRun(scope.blocks[block]);
    if (reason && !MayRunAll(move, scope, block)) {
      return Refusal(move.primitive, *reason);
    }
  }
  if (!move.is_reverse && scope.IsOutput(block)) {
    return Refusal(move.primitive,
                   absl::StrCat(move.name(),
                                " writes an output of the "
                                "enclosing block"),
                   "move its producers with reverse_compute_at instead");
  }
  return absl::OkStatus();
}

// The moved block's consumers (or, in reverse, producers) stand under the
// loop.
absl::Status CheckPartners(const Move& move, const Scope& scope,
                           const std::vector<int>& partners) {
  const LoopId loop = move.loop.loop()->id;
  const char* role = move.is_reverse ? "producer" : "consumer";
  if (partners.empty()) {
    return Refusal(move.primitive, absl::StrCat(move.name(), " has no ", role,
                                                " in the enclosing block"));
  }
  for (int partner : partners) {
    if (StandsUnder(scope.blocks[partner], loop)) continue;
    return Refusal(
        move.primitive,
        absl::StrCat("the ", role, " ", Describe(scope.blocks[partner].block()),
                     " does not stand under ", Describe(*move.loop.loop())),
        "choose a loop that all of them share");
  }
  return absl::OkStatus();
}

// Writers of what the moved block reads all come before it now; if one came
// after, moving could change which value is read.
absl::Status CheckInputs(const Move& move, const Scope& scope, int block) {
  for (const BufferRegion& read : move.moved().reads) {
    for (int writer : scope.Writers(read.buffer)) {
      if (writer <= block) continue;
      return Refusal(move.primitive,
                     absl::StrCat(Describe(scope.blocks[writer].block()),
                                  " overwrites ", read.buffer->name, " after ",
                                  move.name(), " has read it"));
    }
  }
  return absl::OkStatus();
}

std::vector<const ForNode*> LoopsTo(const Path& loop) {
  std::vector<const ForNode*> loops = LoopsAbove(loop);
  loops.push_back(loop.loop());
  return loops;
}

// The position of `loop` among the loops of `block`, plus one.
size_t DepthBelow(const ScopeBlock& block, LoopId loop) {
  for (size_t i = 0; i < block.loops.size(); ++i) {
    if (block.loops[i]->id == loop) return i + 1;
  }
  return block.loops.size();
}

void UnionInto(std::vector<IntSet>* box, const std::vector<IntSet>& other,
               Analyzer* analyzer) {
  if (box->empty()) {
    *box = other;
    return;
  }
  for (size_t i = 0; i < box->size(); ++i) {
    (*box)[i] = UnionSet((*box)[i], other[i], analyzer);
  }
}

// Whether threads of `loop` share memory of this scope, so that they work on
// one box together: threads of a block share its shared memory, the lanes of a
// warp its registers. What lies in global memory each makes for itself, as it
// would with registers.
bool ShareMemory(const ForNode& loop, std::string_view scope) {
  if (loop.for_kind != ForKind::kThreadBinding) return false;
  const std::string_view tag = loop.thread_tag;
  const bool is_thread =
      tag.substr(0, 10) == "threadIdx." || tag.substr(0, 7) == "vthread";
  if (scope == "shared" || scope == "shared.dyn") return is_thread;
  return scope == "warp" && tag == "threadIdx.x";
}

// The box over all threads that share the memory of `buffer`.
void WidenOverThreads(const Move& move, const Buffer& buffer,
                      std::vector<IntSet>* box, Analyzer* analyzer) {
  std::vector<const ForNode*> above = LoopsAbove(move.loop);
  above.push_back(move.loop.loop());
  Domains threads;
  for (const ForNode* loop : above) {
    if (ShareMemory(*loop, buffer->scope)) {
      threads[loop->var.get()] = {loop->min, loop->extent};
    }
  }
  if (threads.empty()) return;
  for (IntSet& set : *box) {
    if (!set.IsBounded()) continue;
    set = {EvalSet(set.min, threads, analyzer).min,
           EvalSet(set.max, threads, analyzer).max};
  }
}

// Whether bounds of new loops may hold `e`: what it loads lies within its
// tensor for sure and nobody writes it in this scope. Consumers may load an
// index from data under a condition, or after another block has made it.
bool MayStandAbove(const Expr& e, const Scope& scope, Analyzer* analyzer) {
  bool safe = true;
  if (!e || !e->has_loads) return safe;
  kiln::Visit(e, [&](const Expr& inner) {
    const auto* load = inner.As<LoadNode>();
    if (!safe || !load) return safe;
    const BufferNode& buffer = *load->buffer;
    safe = scope.Writers(load->buffer).empty();
    for (size_t d = 0; safe && d < buffer.shape.size(); ++d) {
      safe = analyzer->CanProveLessEqual(Int(0), load->indices[d]) &&
             analyzer->CanProve(LT(load->indices[d], buffer.shape[d]));
    }
    return safe;
  });
  return safe;
}

// The box of `buffer` that the partners touch in one iteration of the loop.
std::vector<IntSet> RequiredBox(const Move& move, const Scope& scope,
                                const std::vector<int>& partners,
                                const Buffer& buffer, Analyzer* analyzer) {
  std::vector<IntSet> box;
  for (int partner : partners) {
    const ScopeBlock& block = scope.blocks[partner];
    const auto& regions =
        move.is_reverse ? block.block().writes : block.block().reads;
    const size_t depth = DepthBelow(block, move.loop.loop()->id);
    for (const BufferRegion& region : regions) {
      if (region.buffer != buffer) continue;
      UnionInto(&box, TouchedBox(block, region, depth, analyzer), analyzer);
    }
  }
  if (!move.is_reverse) WidenOverThreads(move, buffer, &box, analyzer);
  for (IntSet& set : box) {
    if (!MayStandAbove(set.min, scope, analyzer) ||
        !MayStandAbove(set.max, scope, analyzer)) {
      set = {};
    }
  }
  return box;
}

// What to run of the moved block.
struct Narrowed {
  IterDomains domains;
  // Whether one of its regions asks for just these, so that they hold all that
  // touches what the partners touch of that one.
  bool by_one = false;
};

Narrowed DomainsOf(const Move& move, const Scope& scope,
                   const std::vector<int>& partners, Analyzer* analyzer) {
  const BlockNode& block = move.moved();
  Narrowed result{IterDomains(block.iters.size())};
  std::vector<IterDomains> single;
  for (const BufferRegion& region :
       move.is_reverse ? block.reads : block.writes) {
    const std::vector<IntSet> box =
        RequiredBox(move, scope, partners, region.buffer, analyzer);
    if (box.empty()) continue;
    IterDomains domains(block.iters.size());
    NarrowDomains(block, region, box, &domains, analyzer);
    if (!single.empty()) {
      NarrowDomains(block, region, box, &result.domains, analyzer);
    } else {
      result.domains = domains;
    }
    single.push_back(std::move(domains));
  }
  result.by_one = std::any_of(
      single.begin(), single.end(),
      [&](const IterDomains& one) { return SameDomains(one, result.domains); });
  return result;
}

// Names a block of the enclosing scope that statement `s` holds, by id.
bool Holds(const Stmt& s, const std::vector<BlockId>& ids) {
  bool found = false;
  ForEachBlock(s, [&](const BlockRealizeNode& realize) {
    found = found || std::count(ids.begin(), ids.end(), realize.block->id) > 0;
  });
  return found;
}

std::vector<Stmt> ChildrenOf(const ForNode& loop) {
  const auto* seq = loop.body.As<SeqNode>();
  return seq ? seq->stmts : std::vector<Stmt>{loop.body};
}

std::vector<BlockId> IdsOf(const Scope& scope, const std::vector<int>& blocks) {
  std::vector<BlockId> ids;
  for (int block : blocks) ids.push_back(scope.blocks[block].block().id);
  return ids;
}

// Where among `children` the moved block goes.
absl::StatusOr<int> Position(const Move& move,
                             const std::vector<Stmt>& children,
                             const std::vector<BlockId>& producers,
                             const std::vector<BlockId>& consumers) {
  int first = 0, last = static_cast<int>(children.size());
  for (int i = 0; i < static_cast<int>(children.size()); ++i) {
    if (Holds(children[i], producers)) first = i + 1;
    if (Holds(children[i], consumers)) last = std::min(last, i);
  }
  if (first > last) {
    return Refusal(move.primitive,
                   absl::StrCat("under ", Describe(*move.loop.loop()),
                                " no position comes after the producers of ",
                                move.name(), " and before its consumers"));
  }
  if (move.options.index == -1) return last;
  if (move.options.index == -2) return first;
  if (move.options.index < first || move.options.index > last) {
    return Refusal(move.primitive,
                   absl::StrCat("position ", move.options.index,
                                " is not between ", first, " and ", last));
  }
  return move.options.index;
}

// `f` without the block at its old place.
absl::StatusOr<Function> TakeAway(const Move& move, const Function& f) {
  std::optional<Removal> removal = RemoveAt(move.block);
  if (!removal) {
    return Refusal(move.primitive, absl::StrCat(move.name(),
                                                " is all that the enclosing "
                                                "block does"));
  }
  return ReplaceAt(f, removal->path, removal->replacement);
}

absl::StatusOr<Function> Insert(const Move& move, Function f, Stmt stmt,
                                const std::vector<BlockId>& producers,
                                const std::vector<BlockId>& consumers) {
  KILN_ASSIGN_OR_RETURN(Path loop,
                        RequireLoop(f, move.loop.loop()->id, move.primitive));
  std::vector<Stmt> children = ChildrenOf(*loop.loop());
  KILN_ASSIGN_OR_RETURN(int position,
                        Position(move, children, producers, consumers));
  children.insert(children.begin() + position, std::move(stmt));
  ForFields fields = loop.loop()->fields();
  fields.body = MakeSeq(std::move(children));
  return ReplaceAt(std::move(f), loop, MakeFor(std::move(fields)));
}

// A loop that `producer` and `consumer` share and that runs through reduce
// iterators of the producer.
const ForNode* SharedReduceLoop(const ScopeBlock& producer,
                                const ScopeBlock& consumer) {
  for (const ForNode* loop : producer.loops) {
    if (!StandsUnder(consumer, loop->id)) return nullptr;
    for (size_t i = 0; i < producer.realize->values.size(); ++i) {
      if (producer.block().iters[i].type != IterType::kSpatial &&
          UsesVar(producer.realize->values[i], loop->var)) {
        return loop;
      }
    }
  }
  return nullptr;
}

absl::Status CheckComplete(const Move& move, const Scope& scope, int producer,
                           int consumer) {
  const ForNode* loop =
      SharedReduceLoop(scope.blocks[producer], scope.blocks[consumer]);
  if (!loop) return absl::OkStatus();
  return Refusal(
      move.primitive,
      absl::StrCat(Describe(*loop), " reduces ",
                   Describe(scope.blocks[producer].block()), ", so that ",
                   Describe(scope.blocks[consumer].block()),
                   " under it would read a part of the sum"),
      "choose a loop outside of the reduction");
}

// The loops of a moved consumer reach every instance that it had. They do where
// an instance cannot but read what the producers make; one that reads nothing
// of them (the zeros of a padding, say) may be lost.
absl::Status CheckWhole(const Move& move, const Scope& before, bool by_one,
                        const ScopeBlock& after) {
  const int block = before.IndexOf(move.moved().id);
  if (!WhyNotAllRun(after)) return absl::OkStatus();
  if (by_one && !WhyNotAllCovered(before, block)) return absl::OkStatus();
  return Refusal(
      move.primitive,
      absl::StrCat(move.name(),
                   " has instances that touch nothing of its "
                   "producers, or not what one iteration of ",
                   Describe(*move.loop.loop()), " makes, and would lose them"));
}

absl::Status CheckSums(const Move& move, const ScopeBlock& block) {
  const Reason reason =
      WhyNotSummedOnce(block, DepthBelow(block, move.loop.loop()->id));
  if (!reason) return absl::OkStatus();
  return Refusal(
      move.primitive,
      absl::StrCat(move.name(), " would not sum up as it did: ", *reason));
}

// What its partners name of a buffer may lie outside of it, where they never
// use it.
absl::Status CheckNeeded(const Move& move, const Path& path) {
  const int64_t* runs = AsInt(path.realize()->predicate);
  if (!runs || *runs) return absl::OkStatus();
  return Refusal(move.primitive,
                 absl::StrCat("under ", Describe(*move.loop.loop()),
                              " no instance of ", move.name(), " is needed"),
                 "leave it where it is");
}

// The new loops run what is needed of the block, before the condition that goes
// with it.
absl::Status CheckRuns(const Move& move, const Scope& before, bool by_one,
                       const Path& path) {
  KILN_RETURN_IF_ERROR(CheckNeeded(move, path));
  if (!move.is_reverse) return absl::OkStatus();
  const Scope scope(*path.scope()->block);
  return CheckWhole(move, before, by_one,
                    scope.blocks[scope.IndexOf(move.moved().id)]);
}

// Everything that the moved block and its consumers read is there and final.
absl::Status CheckResult(const Move& move, const Path& path) {
  const Scope scope(*path.scope()->block);
  const int block = scope.IndexOf(move.moved().id);
  if (move.is_reverse) {
    KILN_RETURN_IF_ERROR(CheckSums(move, scope.blocks[block]));
  }
  std::vector<int> readers = scope.Consumers(block);
  for (int consumer : readers) {
    KILN_RETURN_IF_ERROR(CheckComplete(move, scope, block, consumer));
  }
  for (int producer : scope.Producers(block)) {
    KILN_RETURN_IF_ERROR(CheckComplete(move, scope, producer, block));
  }
  readers.push_back(block);
  for (int reader : readers) {
    if (Reason reason = WhyNotCovered(scope, reader)) {
      return Refusal(
          move.primitive,
          absl::StrCat("afterwards ", Describe(scope.blocks[reader].block()),
                       " would read what is not written yet: ", *reason));
    }
  }
  return absl::OkStatus();
}

// Iterations of parallel loops above the block must not share one of its sums,
// nor elements that it writes there though they were written once before.
absl::Status CheckLoopKinds(const Move& move, const Function& result,
                            const Path& path) {
  for (const ForNode* loop : LoopsAbove(path)) {
    const bool in_order = loop->for_kind == ForKind::kSerial ||
                          loop->for_kind == ForKind::kUnrolled ||
                          loop->thread_tag.starts_with("threadIdx");
    if (in_order) continue;
    const std::string together = absl::StrCat("iterations of ", Describe(*loop),
                                              " run at the same time");
    if (MovesIterator(*loop, *path.realize(), IterType::kReduce)) {
      return Refusal(move.primitive,
                     absl::StrCat(together, ", and would share the sums of ",
                                  move.name()));
    }
    if (!move.is_reverse) continue;
    const auto at = FindLoop(result, loop->id);
    if (Reason reason = WhyNotIndependent(*at)) {
      return Refusal(move.primitive, absl::StrCat(together, ": ", *reason),
                     "make the loop parallel afterwards");
    }
  }
  return absl::OkStatus();
}

// Values that cannot be combined in any order keep theirs.
absl::Status CheckReductionOrder(const Move& move, const ScopeBlock& before,
                                 const Path& after) {
  if ((ReducesInOrder(*before.realize, before.loops) &&
       ReducesInOrder(*after.realize(), LoopsAbove(after))) ||
      CombinesAtWill(before.block())) {
    return absl::OkStatus();
  }
  return Refusal(move.primitive,
                 absl::StrCat("the order counts in which ", move.name(),
                              " reduces its values, and would be another"),
                 "reorder its loops as its reduce iterators stand first, or "
                 "leave it where it is");
}

absl::StatusOr<Function> Apply(const Function& f, BlockId block_id,
                               LoopId loop_id, ComputeAtOptions options,
                               bool is_reverse) {
  KILN_ASSIGN_OR_RETURN(Move move,
                        Prepare(f, block_id, loop_id, options, is_reverse));
  const Scope scope(move.scope());
  const int block = scope.IndexOf(block_id);
  move.kept = KeptCondition(move, scope, block);
  KILN_RETURN_IF_ERROR(CheckMoved(move, scope, block));
  const std::vector<int> producers = scope.Producers(block);
  const std::vector<int> consumers = scope.Consumers(block);
  const std::vector<int>& partners = is_reverse ? producers : consumers;
  KILN_RETURN_IF_ERROR(CheckPartners(move, scope, partners));
  KILN_RETURN_IF_ERROR(CheckInputs(move, scope, block));
  if (Reason reason = WhyOvertaken(scope, block, LoopsTo(move.loop))) {
    return Refusal(move.primitive, *reason, "choose a loop below it");
  }
  KILN_RETURN_IF_ERROR(CheckPredicate(move, scope, block));

  Analyzer analyzer;
  const std::vector<const ForNode*> above = LoopsTo(move.loop);
  for (const ForNode* loop : above) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  const LoopsRun run(above, &analyzer);
  const Narrowed narrowed = DomainsOf(move, scope, partners, &analyzer);
  Function result = f;
  const Stmt loops = LoopsOver(move.block.realize()->block, narrowed.domains,
                               options.preserve_unit_loops, &analyzer,
                               [&] { return result.NewId(); });
  KILN_ASSIGN_OR_RETURN(result, TakeAway(move, result));
  KILN_ASSIGN_OR_RETURN(
      result, Insert(move, std::move(result), loops, IdsOf(scope, producers),
                     IdsOf(scope, consumers)));
  KILN_ASSIGN_OR_RETURN(Path path,
                        RequireBlockThatRuns(result, block_id, move.primitive));
  KILN_RETURN_IF_ERROR(CheckRuns(move, scope, narrowed.by_one, path));
  if (move.kept) {
    result = AddCondition(std::move(result), path, move.kept);
    KILN_ASSIGN_OR_RETURN(
        path, RequireBlockThatRuns(result, block_id, move.primitive));
  }
  KILN_RETURN_IF_ERROR(CheckResult(move, path));
  KILN_RETURN_IF_ERROR(CheckLoopKinds(move, result, path));
  KILN_RETURN_IF_ERROR(CheckReductionOrder(move, scope.blocks[block], path));
  return result;
}

}  // namespace

absl::StatusOr<Function> ComputeAt(const Function& f, BlockId block,
                                   LoopId loop, ComputeAtOptions options) {
  return Apply(f, block, loop, options, /*is_reverse=*/false);
}

absl::StatusOr<Function> ReverseComputeAt(const Function& f, BlockId block,
                                          LoopId loop,
                                          ComputeAtOptions options) {
  return Apply(f, block, loop, options, /*is_reverse=*/true);
}

}  // namespace kiln
