// The consumer D[h(w)] = u(w, B[e(w)]) is turned around: the producer's
// instance that makes B[g(v)] does the consumer's instance w with e(w) = g(v),
// where there is one.
#include "kiln/schedule/primitive/reverse_compute_inline.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/instances.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/data_regions.h"
#include "kiln/schedule/rewrite/inlined_size.h"
#include "kiln/schedule/rewrite/inlining.h"
#include "kiln/schedule/rewrite/stride_notes.h"

namespace kiln {
namespace {

constexpr std::string_view kName = "reverse_compute_inline";

// The two blocks of one call.
struct Pair {
  const Scope& scope;
  int producer_index = -1, consumer_index = -1;
  const StoreNode* made = nullptr;   // by the producer
  const StoreNode* taken = nullptr;  // by the consumer
  std::vector<Expr> point;           // where the consumer reads

  const ScopeBlock& producer() const { return scope.blocks[producer_index]; }
  const ScopeBlock& consumer() const { return scope.blocks[consumer_index]; }
  const Buffer& between() const { return made->buffer; }
};

absl::Status No(std::string reason, std::string_view way_out = "") {
  return Refusal(kName, reason, way_out);
}

absl::Status CheckBlock(const Scope& scope, int index) {
  const BlockNode& block = scope.blocks[index].block();
  const bool has_reduce = std::any_of(
      block.iters.begin(), block.iters.end(),
      [](const IterVar& i) { return i.type != IterType::kSpatial; });
  if (block.init || has_reduce) {
    return No(absl::StrCat(Describe(block),
                           " is a reduction, whose steps are not final"),
              "use reverse_compute_at instead");
  }
  if (!OnlyStore(block) || block.writes.size() != 1) {
    return No(absl::StrCat(Describe(block),
                           " is not the store of one element of one tensor"));
  }
  if (Reason reason = WhyNotComplete(scope, index)) {
    return No(absl::StrCat(Describe(block), " is not complete: ", *reason));
  }
  return absl::OkStatus();
}

absl::Status FindProducer(Pair* pair) {
  const std::vector<int> producers =
      pair->scope.Producers(pair->consumer_index);
  const BlockNode& consumer = pair->consumer().block();
  if (producers.size() != 1) {
    return No(absl::StrCat(Describe(consumer), " has ", producers.size(),
                           " producers; one is wanted"));
  }
  pair->producer_index = producers[0];
  const BlockNode& producer = pair->producer().block();
  KILN_RETURN_IF_ERROR(CheckBlock(pair->scope, pair->producer_index));
  pair->made = OnlyStore(producer);
  if (pair->scope.IsOutput(pair->producer_index)) {
    return No(absl::StrCat(Describe(producer),
                           " writes an output of the enclosing block"));
  }
  const std::vector<int> readers = pair->scope.Readers(pair->between());
  if (readers != std::vector<int>{pair->consumer_index}) {
    return No(absl::StrCat("`", pair->between()->name,
                           "` is read by others than ", Describe(consumer)));
  }
  return absl::OkStatus();
}

// The one place where the consumer reads the tensor between.
absl::Status FindPoint(Pair* pair) {
  const Stmt& body = pair->scope.block->body;
  if (Reason reason = WhyNotPlainAccess(body, pair->between())) {
    return No(*reason);
  }
  bool differ = false;
  VisitExprs(pair->consumer().block().body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != pair->between()) return true;
    if (pair->point.empty()) pair->point = load->indices;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      differ = differ || !SameExpr(load->indices[d], pair->point[d]);
    }
    return true;
  });
  if (!differ && !pair->point.empty()) return absl::OkStatus();
  return No(absl::StrCat(Describe(pair->consumer().block()), " reads `",
                         pair->between()->name,
                         "` at several places or nowhere"));
}

VarMap ValuesOf(const ScopeBlock& block) {
  VarMap map;
  for (size_t i = 0; i < block.block().iters.size(); ++i) {
    map[block.block().iters[i].var.get()] = block.realize->values[i];
  }
  return map;
}

void BindLoops(const ScopeBlock& block, Analyzer* analyzer) {
  for (const ForNode* loop : block.loops) {
    analyzer->Bind(loop->var, {loop->min, loop->extent});
  }
}

// x and k of `x < k`.
struct UpperBound {
  Expr x;
  int64_t k;
};

std::optional<UpperBound> AsUpperBound(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  const int64_t* k = node ? AsInt(node->b) : nullptr;
  if (!k || node->kind != ExprKind::kLT) return std::nullopt;
  return UpperBound{node->a, *k};
}

// x < q*c, where x % c < r is known as well: x < (q-1)*c + r.
Expr Tightened(const Expr& e, const std::vector<Expr>& known) {
  const auto bound = AsUpperBound(e);
  if (!bound) return e;
  for (const Expr& other : known) {
    const auto rest = AsUpperBound(other);
    const auto* mod = rest ? rest->x.As<BinaryNode>() : nullptr;
    const int64_t* c = mod ? AsInt(mod->b) : nullptr;
    if (!c || mod->kind != ExprKind::kFloorMod) continue;
    if (!SameExpr(mod->a, bound->x) || bound->k % *c != 0) continue;
    if (rest->k > 0 && rest->k < *c) {
      return LT(bound->x, Int(bound->k - *c + rest->k));
    }
  }
  return e;
}

// Conditions as one, without those that are known.
Expr Conjunction(const std::vector<Expr>& conditions, Analyzer* analyzer) {
  std::vector<Expr> open;
  for (const Expr& condition : conditions) {
    if (analyzer->CanProve(condition)) continue;
    open.push_back(analyzer->Simplify(condition));
  }
  Expr all = Bool(true);
  for (const Expr& condition : open) {
    const Expr tight = Tightened(condition, open);
    all = IsOne(all) ? tight : And(all, tight);
  }
  return all;
}

std::vector<Expr> InDomain(const IterVar& iter, const Expr& value) {
  return {LE(iter.domain.min, value),
          LT(value, Add(iter.domain.min, iter.domain.extent))};
}

// Whether the loops of a block run through all of its iterators' domains.
bool RunsInFull(const ScopeBlock& block) {
  return HasPlainPredicate(block) && !WhyNotAllRun(block);
}

// Whether the block touches nothing beyond the ends of a tensor, whichever
// values of their domains its iterators take.
bool HasRoomForDomains(const ScopeBlock& block) {
  Analyzer analyzer;
  BindIters(block.block(), &analyzer);
  const auto is_inside = [&](const BufferRegion& region) {
    for (size_t d = 0; d < region.region.size(); ++d) {
      const Range& range = region.region[d];
      const Expr end = Add(range.min, range.extent);
      if (!analyzer.CanProve(LE(Int(0), range.min)) ||
          !analyzer.CanProve(LE(end, region.buffer->shape[d]))) {
        return false;
      }
    }
    return true;
  };
  return std::all_of(block.block().reads.begin(), block.block().reads.end(),
                     is_inside) &&
         std::all_of(block.block().writes.begin(), block.block().writes.end(),
                     is_inside);
}

size_t SharedLoops(const Pair& pair) {
  const auto& a = pair.producer().loops;
  const auto& b = pair.consumer().loops;
  const auto mismatch = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(mismatch.first - a.begin());
}

// Whether some block under the first loop of the producer writes what the two
// blocks read (other than the tensor between them).
bool InputsChangeUnderSharedLoops(const Pair& pair) {
  const ForNode* outermost = pair.producer().loops[0];
  for (const ScopeBlock* block : {&pair.producer(), &pair.consumer()}) {
    for (const BufferRegion& read : block->block().reads) {
      if (read.buffer == pair.between()) continue;
      for (int writer : pair.scope.Writers(read.buffer)) {
        const auto& loops = pair.scope.blocks[writer].loops;
        if (!loops.empty() && loops[0] == outermost) return true;
      }
    }
  }
  return false;
}

// In a round of the loops that both share the producer may make elements that
// the consumer takes in other rounds. That is harmless where they come out the
// same in all of them.
absl::Status CheckSharedLoops(const Pair& pair) {
  const size_t depth = SharedLoops(pair);
  if (depth == 0 || !InputsChangeUnderSharedLoops(pair)) {
    return absl::OkStatus();
  }
  Analyzer analyzer;
  BindLoops(pair.producer(), &analyzer);
  const BufferRegion made{pair.between(), PointRegion(pair.made->indices)};
  const BufferRegion taken{pair.between(), PointRegion(pair.point)};
  const auto outer = TouchedBox(pair.consumer(), taken, depth, &analyzer);
  const auto inner = TouchedBox(pair.producer(), made, depth, &analyzer);
  if (Contains(outer, inner, &analyzer)) return absl::OkStatus();
  return No(
      absl::StrCat(Describe(pair.producer().block()), " makes in one round of ",
                   Describe(*pair.consumer().loops[depth - 1]), " what ",
                   Describe(pair.consumer().block()), " takes in another one"));
}

// Whether the consumer takes each element that the producer makes: inlined, it
// is then done just where it was done before.
bool TakesAllThatIsMade(const Pair& pair) {
  if (!IsOne(pair.consumer().realize->predicate)) return false;
  Analyzer analyzer;
  const BufferRegion made{pair.between(), PointRegion(pair.made->indices)};
  const BufferRegion taken{nullptr, PointRegion(pair.point)};
  const auto outer = TouchedBox(pair.consumer(), taken, 0, &analyzer);
  const auto inner = TouchedBox(pair.producer(), made, 0, &analyzer);
  return Contains(outer, inner, &analyzer) &&
         FillsBox(pair.consumer(), taken, 0, outer, &analyzer);
}

// Nothing sees the consumer's output change early.
absl::Status CheckOutput(const Pair& pair) {
  const Buffer& output = pair.taken->buffer;
  for (int reader : pair.scope.Readers(output)) {
    if (reader > pair.consumer_index) continue;
    return No(absl::StrCat(Describe(pair.scope.blocks[reader].block()),
                           " reads `", output->name, "` before ",
                           Describe(pair.consumer().block()), " writes it"));
  }
  for (const BufferRegion& read : pair.consumer().block().reads) {
    for (int writer : pair.scope.Writers(read.buffer)) {
      if (writer <= pair.consumer_index) continue;
      return No(absl::StrCat(Describe(pair.scope.blocks[writer].block()),
                             " overwrites `", read.buffer->name,
                             "` after it is read"));
    }
  }
  // Inlined, it is done wherever its domain has an element of the producer.
  if (RunsInFull(pair.consumer()) || TakesAllThatIsMade(pair)) {
    return absl::OkStatus();
  }
  if (pair.scope.IsOutput(pair.consumer_index) ||
      !HasRoomForDomains(pair.consumer())) {
    return No(absl::StrCat("the loops of ", Describe(pair.consumer().block()),
                           " may not run through all of its iterators' "
                           "domains"));
  }
  return absl::OkStatus();
}

Reason WhyBodyUsesLoops(const ScopeBlock& block) {
  Reason reason;
  VisitExprs(block.block().body, [&](const Expr& e) {
    for (const ForNode* loop : block.loops) {
      if (!reason && e == loop->var) {
        reason = absl::StrCat("its body uses ", Describe(*loop));
      }
    }
    return !reason;
  });
  return reason;
}

// Whether all rounds of the producer together write the box that all rounds of
// the consumer read.
bool MakesAll(const Pair& pair) {
  Analyzer analyzer;
  const BufferRegion made{pair.between(), PointRegion(pair.made->indices)};
  const BufferRegion taken{pair.between(), PointRegion(pair.point)};
  const auto outer = TouchedBox(pair.producer(), made, 0, &analyzer);
  const auto inner = TouchedBox(pair.consumer(), taken, 0, &analyzer);
  return Contains(outer, inner, &analyzer);
}

absl::Status CheckConsumer(const Pair& pair) {
  const BlockNode& consumer = pair.consumer().block();
  if (!HasPlainPredicate(pair.consumer())) {
    return No(absl::StrCat(Describe(consumer),
                           " runs under a condition that its iterators' "
                           "domains do not imply"));
  }
  if (Reason reason = WhyBodyUsesLoops(pair.consumer())) {
    return No(absl::StrCat(Describe(consumer), " cannot move: ", *reason));
  }
  Reason reason = WhyNotAllCovered(pair.scope, pair.consumer_index);
  if (!reason && !MakesAll(pair)) {
    reason = absl::StrCat("`", pair.between()->name,
                          "` is read beyond what is written at all");
  }
  if (reason) {
    return No(
        absl::StrCat("the producer does not make all that is read: ", *reason));
  }
  return absl::OkStatus();
}

absl::StatusOr<Pair> Prepare(const Scope& scope, int consumer) {
  Pair pair{scope};
  pair.consumer_index = consumer;
  if (!scope.only_loops_and_blocks) {
    return No(
        "the enclosing block holds statements other than loops and blocks");
  }
  KILN_RETURN_IF_ERROR(CheckBlock(scope, consumer));
  pair.taken = OnlyStore(pair.consumer().block());
  KILN_RETURN_IF_ERROR(FindProducer(&pair));
  KILN_RETURN_IF_ERROR(FindPoint(&pair));
  KILN_RETURN_IF_ERROR(CheckConsumer(pair));
  KILN_RETURN_IF_ERROR(CheckOutput(pair));
  KILN_RETURN_IF_ERROR(CheckSharedLoops(pair));
  if (Reason reason = WhyTooLargeInlined(pair.consumer().block().body,
                                         pair.producer().block(), *pair.made)) {
    return No(*reason, "use reverse_compute_at instead");
  }
  return pair;
}

// The producer's realization with the consumer's work in it; `work` gives the
// consumer's iterators in terms of the producer's.
class Merge {
 public:
  Merge(const Pair& pair, const VarMap& work) : pair_(pair), work_(work) {
    BindIters(pair.producer().block(), &analyzer_);
  }

  Stmt Realize() {
    const BlockRealizeNode& realize = *pair_.producer().realize;
    return MakeRealize(realize.values, Predicate(), MergedBlock());
  }

 private:
  Expr AtWork(const Expr& e) {
    return ReplaceLoads(Substitute(e, work_), pair_.between(),
                        [&](const LoadNode&) { return pair_.made->value; });
  }

  Expr Index(const Expr& e) {
    const Expr moved = AtWork(e);
    return moved.As<VarNode>() ? moved : analyzer_.Simplify(moved);
  }

  BufferRegion Region(const BufferRegion& region) {
    return MapRegion(region, [&](const Expr& e) { return Index(e); });
  }

  Block MergedBlock() {
    BlockFields fields = pair_.producer().block().fields();
    const BlockNode& consumer = pair_.consumer().block();
    for (const BufferRegion& read : consumer.reads) {
      if (read.buffer == pair_.between()) continue;
      AddRegion(&fields.reads, Region(read), &analyzer_);
    }
    fields.writes = {Region(consumer.writes[0])};
    std::vector<Expr> indices;
    for (const Expr& e : pair_.taken->indices) indices.push_back(Index(e));
    fields.body =
        MakeStore(pair_.taken->buffer, AtWork(pair_.taken->value), indices);
    WidenOverData(&fields);
    DropStridesOfReplaced(pair_.producer().block(), &fields);
    return MakeBlock(std::move(fields));
  }

  // The producer's own condition, and that there is an instance to do.
  Expr Predicate() {
    const ScopeBlock& producer = pair_.producer();
    Analyzer analyzer;
    BindLoops(producer, &analyzer);
    auto held = analyzer.Assume(producer.realize->predicate);
    const VarMap values = ValuesOf(producer);
    std::vector<Expr> conditions;
    for (const IterVar& iter : pair_.consumer().block().iters) {
      const Expr value = Substitute(work_.at(iter.var.get()), values);
      for (const Expr& e : InDomain(iter, value)) conditions.push_back(e);
    }
    for (size_t d = 0; d < pair_.point.size(); ++d) {
      const Expr read = Substitute(Substitute(pair_.point[d], work_), values);
      conditions.push_back(
          EQ(read, Substitute(pair_.made->indices[d], values)));
    }
    const Expr extra = Conjunction(conditions, &analyzer);
    const Expr& own = producer.realize->predicate;
    if (IsOne(extra)) return own;
    return IsOne(own) ? extra : And(own, extra);
  }

  const Pair& pair_;
  const VarMap& work_;
  Analyzer analyzer_;
};

absl::StatusOr<Function> Finish(Function f, const Path& consumer,
                                const Pair& pair, Stmt merged) {
  const BlockId scope_id = consumer.scope()->block->id;
  const std::optional<Removal> removal = RemoveAt(consumer);
  if (!removal) return No("nothing would be left of the enclosing block");
  f.body = ReplaceAt(removal->path, removal->replacement);
  KILN_ASSIGN_OR_RETURN(
      Path producer,
      RequireBlockThatRuns(f, pair.producer().block().id, kName));
  f.body = ReplaceAt(producer, std::move(merged));
  KILN_ASSIGN_OR_RETURN(Path scope, RequireBlockThatRuns(f, scope_id, kName));
  BlockFields fields = scope.realize()->block->fields();
  auto& buffers = fields.alloc_buffers;
  buffers.erase(std::remove(buffers.begin(), buffers.end(), pair.between()),
                buffers.end());
  Stmt realize = WithBlock(*scope.realize(), std::move(fields));
  return ReplaceAt(std::move(f), scope, std::move(realize));
}

}  // namespace

absl::StatusOr<Function> ReverseComputeInline(const Function& f, BlockId id) {
  KILN_ASSIGN_OR_RETURN(Path path, RequireBlockThatRuns(f, id, kName));
  if (!path.scope()) return No("the root block cannot be inlined");
  const Scope scope(*path.scope()->block);
  KILN_ASSIGN_OR_RETURN(Pair pair, Prepare(scope, scope.IndexOf(id)));
  const BlockNode& consumer = pair.consumer().block();
  const auto work = SolveIters(consumer, pair.point, pair.made->indices);
  if (!work) {
    return No(absl::StrCat("the iterators of ", Describe(consumer),
                           " do not follow from the place where it reads `",
                           pair.between()->name, "`"));
  }
  Stmt merged = Merge(pair, *work).Realize();
  return Finish(f, path, pair, std::move(merged));
}

}  // namespace kiln
