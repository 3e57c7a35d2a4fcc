// A schedule leaves programs in which the blocks below a loop are no longer
// complete (a reduction apart from its init, say), so the elements themselves
// are compared. While one iteration of
//
//   for f in T.parallel(32):      C is touched in rows (f // 4) * 16 + [0, 16)
//       ...                       and columns (f % 4) * 8 + [0, 8)
//
// runs, all accesses of a tensor lie in a box. Iterations touch different
// elements where the places of the boxes are, in units of their steps, an
// injective map of the loop: (f // 4, f % 4). Where boxes meet, as those of
// j * 3 + f for j < 4 do, the remainders by 3 may tell. Where dimensions are
// the digits of one number, as those of A[p // 112, p % 112] in pixels p of f *
// 6 + [0, 6), the number tells more than they do.
#include "kiln/schedule/analysis/race.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/arith/split_dims.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/alias.h"
#include "kiln/schedule/analysis/independence.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

bool IsThread(const ForNode& loop) {
  return loop.for_kind == ForKind::kThreadBinding &&
         loop.thread_tag.rfind("blockIdx", 0) != 0;
}

bool IsConcurrent(const ForNode& loop) {
  return (loop.for_kind == ForKind::kParallel ||
          loop.for_kind == ForKind::kVectorized ||
          loop.for_kind == ForKind::kThreadBinding) &&
         !IsOne(loop.extent);
}

// Memory that threads share has barriers; other memory is a thread's own.
bool IsThreadMemory(const Buffer& buffer) {
  return !buffer->scope.empty() && buffer->scope != "global";
}

struct Access {
  bool is_written = false;
  std::vector<IntSet> box;
};

// What all places along a dimension leave when they are divided: a number that
// inner loops have no part in. No modulus: not known.
struct Residue {
  int64_t modulus = 0;
  Expr value;
};

struct Touched {
  Buffer buffer;
  bool is_written = false;
  std::vector<IntSet> box;  // around all accesses
  std::vector<Residue> residues;
  std::vector<Access> accesses;
  std::vector<int64_t> shape;  // where dimensions are merged
  bool is_mixed = false;       // in other ways for other accesses
};

// Takes dimensions of a point together that are the digits of one number. The
// shape that is left; none where an extent is not known.
std::vector<int64_t> MergeDigits(BufferRegion* point) {
  std::vector<int64_t> shape;
  std::vector<Expr> indices;
  for (size_t d = 0; d < point->region.size(); ++d) {
    const int64_t* extent = AsInt(point->buffer->shape[d]);
    if (!extent || !IsOne(point->region[d].extent)) return {};
    shape.push_back(*extent);
    indices.push_back(point->region[d].min);
  }
  MergeSplitDims(&indices, &shape);
  point->region.clear();
  for (const Expr& index : indices) point->region.push_back({index, Int(1)});
  return shape;
}

// How closely boxes are taken.
enum class Look {
  kPlainly,
  kMergingDigits,   // dimensions that are the digits of one number
  kWithPredicates,  // where what a block's predicate says of inner loops holds
};

// What one iteration of a loop touches.
class Collector {
 public:
  // `outer` ends with the loop itself.
  Collector(const ForNode& loop, const std::vector<LoopRange>& outer, Look look)
      : loop_(loop), look_(look) {
    for (const LoopRange& range : outer) analyzer_.Bind(range.var, range.range);
    Collect(loop.body);
  }
  const std::vector<Touched>& touched() const { return touched_; }
  Analyzer& analyzer() { return analyzer_; }

 private:
  bool IsOfInnerLoops(const Expr& e) const {
    return std::any_of(
        inner_.begin(), inner_.end(),
        [&](const LoopRange& range) { return UsesVar(e, range.var); });
  }

  Residue ResidueOf(const Range& range) {
    if (!IsOne(range.extent)) return {};
    Linear sum, outer;
    Decompose(analyzer_.Simplify(range.min), 1, &sum);
    if (!sum.ok) return {};
    outer.constant = sum.constant;
    int64_t modulus = 0;
    for (const Term& term : sum.terms) {
      if (!IsOfInnerLoops(term.atom)) {
        outer.terms.push_back(term);
        continue;
      }
      const Modular steps = analyzer_.Modulus(term.atom);
      modulus = std::gcd(modulus, term.coefficient * steps.coefficient);
      outer.constant += term.coefficient * steps.base;
    }
    if (modulus <= 1) return {};
    const DType dtype = range.min.dtype();
    return {modulus, analyzer_.Simplify(
                         FloorMod(ToExpr(&outer, dtype), Int(modulus, dtype)))};
  }

  std::vector<Residue> ResiduesOf(const std::vector<Range>& region) {
    std::vector<Residue> residues;
    for (const Range& range : region) residues.push_back(ResidueOf(range));
    return residues;
  }

  static void KeepCommon(const std::vector<Residue>& others,
                         std::vector<Residue>* residues) {
    for (size_t d = 0; d < residues->size(); ++d) {
      Residue& own = (*residues)[d];
      if (own.modulus != 0 && (own.modulus != others[d].modulus ||
                               !SameExpr(own.value, others[d].value))) {
        own = {};
      }
    }
  }

  void Add(BufferRegion region, bool is_written,
           const Expr& predicate = Bool(true)) {
    const bool is_own =
        std::find(own_.begin(), own_.end(), region.buffer) != own_.end() ||
        (IsThread(loop_) && IsThreadMemory(region.buffer));
    if (is_own) return;
    std::vector<int64_t> shape;
    if (look_ == Look::kMergingDigits) shape = MergeDigits(&region);
    std::vector<IntSet> box =
        EvalRegion(region.region, domains_, predicate, &analyzer_);
    const std::vector<Residue> residues = ResiduesOf(region.region);
    const auto at = std::find_if(
        touched_.begin(), touched_.end(),
        [&](const Touched& t) { return t.buffer == region.buffer; });
    if (at == touched_.end()) {
      touched_.push_back({region.buffer,
                          is_written,
                          box,
                          residues,
                          {{is_written, box}},
                          shape});
      return;
    }
    at->is_written |= is_written;
    at->is_mixed |= at->shape != shape;
    if (at->is_mixed) return;
    at->accesses.push_back({is_written, box});
    KeepCommon(residues, &at->residues);
    for (size_t d = 0; d < box.size(); ++d) {
      at->box[d] = UnionSet(at->box[d], box[d], &analyzer_);
    }
  }

  // Whether it is another name of what the iteration allocates.
  bool IsViewOfOwn(const Buffer& view) const {
    return view->data &&
           std::any_of(own_.begin(), own_.end(), [&](const Buffer& own) {
             return own->data == view->data;
           });
  }

  void AddPoint(const Buffer& buffer, const std::vector<Expr>& indices,
                bool is_written) {
    BufferRegion point{buffer, {}};
    for (const Expr& index : indices) {
      point.region.push_back({Substitute(index, lets_), Int(1)});
    }
    Add(point, is_written);
  }

  void AddLoads(const Expr& e) {
    kiln::Visit(e, [&](const Expr& inner) {
      if (const auto* load = inner.As<LoadNode>()) {
        AddPoint(load->buffer, load->indices, false);
      }
      return true;
    });
  }

  bool MovesType(const BlockRealizeNode& realize, IterType type) const {
    for (size_t i = 0; i < realize.values.size(); ++i) {
      if (realize.block->iters[i].type == type &&
          UsesVar(realize.values[i], loop_.var)) {
        return true;
      }
    }
    return false;
  }

  // Whether nothing that the block does can meet another iteration.
  bool IsApart(const BlockRealizeNode& realize) {
    if (IsMarkedDisjoint(*realize.block)) {
      return MovesType(realize, IterType::kSpatial) &&
             !MovesType(realize, IterType::kReduce);
    }
    if (IsOne(realize.predicate)) return false;
    const Expr predicate = Substitute(realize.predicate, lets_);
    if (ChoosesIteration(predicate)) return true;
    for (const LoopRange& range : inner_)
      analyzer_.Bind(range.var, range.range);
    const auto held = analyzer_.Assume(predicate);
    return analyzer_.CanProveLessEqual(loop_.var, loop_.min);
  }

  // Whether it says that the loop is at one number, the same for all that an
  // iteration does.
  bool ChoosesIteration(const Expr& predicate) const {
    for (const Expr& conjunct : ConjunctsOf(predicate)) {
      const auto* equal = conjunct.As<BinaryNode>();
      if (conjunct.kind() != ExprKind::kEQ || IsOfInnerLoops(conjunct))
        continue;
      Linear a, b;
      Decompose(equal->a, 1, &a);
      Decompose(equal->b, 1, &b);
      const Linear difference = Difference(a, b);
      const bool hides = difference.HidesVar(
          [&](const VarNode* var) { return var == loop_.var.get(); });
      if (difference.ok && !hides &&
          difference.Coefficient(loop_.var.get()) != 0) {
        return true;
      }
    }
    return false;
  }

  // The conjuncts that say nothing of the loop itself.
  Expr OfInnerLoops(const Expr& predicate) const {
    Expr inner = Bool(true);
    for (const Expr& conjunct : ConjunctsOf(Substitute(predicate, lets_))) {
      if (!UsesVar(conjunct, loop_.var)) inner = Conjunction(inner, conjunct);
    }
    return inner;
  }

  void AddBlock(const BlockRealizeNode& realize) {
    if (IsApart(realize)) return;
    VarMap map = lets_;
    for (size_t i = 0; i < realize.values.size(); ++i) {
      map[realize.block->iters[i].var.get()] =
          Substitute(realize.values[i], lets_);
    }
    const Expr predicate =
        look_ == Look::kWithPredicates
            ? Conjunction(held_, OfInnerLoops(realize.predicate))
            : Bool(true);
    if (HasInnerBlocks(*realize.block)) {
      return AddInside(*realize.block, map, predicate);
    }
    const bool shares = loop_.thread_tag.rfind("threadIdx", 0) == 0 &&
                        MovesType(realize, IterType::kReduce);
    const auto add = [&](const BufferRegion& region, bool is_written) {
      if (shares && WritesBuffer(*realize.block, region.buffer)) return;
      Add(MapRegion(region, [&](const Expr& e) { return Substitute(e, map); }),
          is_written, predicate);
    };
    for (const BufferRegion& r : realize.block->reads) add(r, false);
    for (const BufferRegion& r : realize.block->writes) add(r, true);
  }

  // A block around others states boxes around theirs: those are closer.
  static bool HasInnerBlocks(const BlockNode& block) {
    bool found = false;
    Visit(block.body, [&](const Stmt& s) {
      found = found || s.As<BlockRealizeNode>();
      return !found;
    });
    return found && block.match_buffers.empty();
  }

  void AddInside(const BlockNode& block, const VarMap& iterators,
                 const Expr& predicate) {
    const VarMap outside = std::exchange(lets_, iterators);
    const Expr held = std::exchange(held_, predicate);
    own_.insert(own_.end(), block.alloc_buffers.begin(),
                block.alloc_buffers.end());
    if (block.init) Collect(block.init);
    Collect(block.body);
    lets_ = outside;
    held_ = held;
  }

  void Collect(const Stmt& s) {
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return AddBlock(*realize);
    }
    if (const auto* loop = s.As<ForNode>()) {
      const Range range = {Substitute(loop->min, lets_),
                           Substitute(loop->extent, lets_)};
      domains_[loop->var.get()] = range;
      inner_.push_back({loop->var, range});
    }
    if (const auto* let = s.As<LetStmtNode>()) {
      lets_[let->var.get()] = Substitute(let->value, lets_);
    }
    if (const auto* allocate = s.As<AllocateNode>()) {
      if (!allocate->is_view || IsViewOfOwn(allocate->buffer)) {
        own_.push_back(allocate->buffer);
      }
    }
    if (const auto* store = s.As<StoreNode>()) {
      AddPoint(store->buffer, store->indices, true);
    }
    ForEachExpr(s, [&](const Expr& e) { AddLoads(e); });
    ForEachChild(s, [&](const Stmt& child) { Collect(child); });
  }

  const ForNode& loop_;
  const Look look_;
  Analyzer analyzer_;
  Domains domains_;
  std::vector<LoopRange> inner_;  // the same
  VarMap lets_;
  Expr held_ = Bool(true);  // of the blocks around, where predicates count
  std::vector<Buffer> own_;
  std::vector<Touched> touched_;
};

// Where a box lies along a dimension, in units that do not overlap; null where
// that does not tell iterations apart.
Expr PlaceOf(const IntSet& set, const Var& var, Analyzer* analyzer) {
  if (!set.IsBounded() || !UsesVar(set.min, var)) return Expr();
  const Expr last = analyzer->Simplify(Sub(set.max, set.min));
  const int64_t* width = AsInt(last);
  if (!width) return Expr();
  if (*width == 0) return set.min;
  const Modular modulus = analyzer->Modulus(set.min);
  if (modulus.coefficient <= *width) return Expr();
  return analyzer->Simplify(
      FloorDiv(Sub(set.min, Int(modulus.base)), Int(modulus.coefficient)));
}

bool StepsClear(const IntSet& set, const Var& var, Analyzer* analyzer) {
  if (!set.IsBounded() || !UsesVar(set.min, var)) return false;
  const auto step = StrideOf(set.min, var, analyzer);
  if (!step || *step == 0) return false;
  const ConstBound width =
      analyzer->Bound(analyzer->Simplify(Sub(set.max, set.min)));
  return width.max < std::abs(*step);
}

// Whether box `a` of one iteration and box `b` of another one never meet along
// a dimension: b, which moves by one step, may lie between its places, as
// S[t * 5 + 17] does beside S[t * 5] for t < 4.
bool PassesBy(const IntSet& a, const IntSet& b, const ForNode& loop,
              Analyzer* analyzer) {
  if (!a.IsBounded() || !b.IsBounded()) return false;
  const auto step = StrideOf(b.min, loop.var, analyzer);
  if (!step || *step == 0 || step != StrideOf(b.max, loop.var, analyzer)) {
    return false;
  }
  // They meet where b is shifted by a multiple of its step in this range.
  const ConstBound shift{analyzer->Bound(Sub(a.min, b.max)).min,
                         analyzer->Bound(Sub(a.max, b.min)).max};
  if (shift.min == ConstBound::kNegInf || shift.max == ConstBound::kPosInf) {
    return false;
  }
  const int64_t unit = std::abs(*step);
  const int64_t up = -FloorQuotient(-std::max(shift.min, unit), unit);
  const int64_t down = -FloorQuotient(std::min(shift.max, -unit), unit);
  const int64_t iterations = analyzer->Bound(loop.extent).max;
  return (up * unit > shift.max || up >= iterations) &&
         (-down * unit < shift.min || down >= iterations);
}

constexpr size_t kMaxAccesses = 16;

bool AllPassBy(const Touched& touched, const ForNode& loop,
               Analyzer* analyzer) {
  if (touched.accesses.size() > kMaxAccesses) return false;
  const auto apart = [&](const Access& a, const Access& b) {
    for (size_t d = 0; d < a.box.size(); ++d) {
      if (PassesBy(a.box[d], b.box[d], loop, analyzer)) return true;
    }
    return false;
  };
  for (const Access& a : touched.accesses) {
    if (!a.is_written) continue;
    for (const Access& b : touched.accesses) {
      if (!apart(a, b)) return false;
    }
  }
  return true;
}

bool TellsApart(const Touched& touched, const ForNode& loop,
                const std::vector<LoopRange>& outer, Analyzer* analyzer) {
  std::vector<Expr> places;
  for (size_t d = 0; d < touched.box.size(); ++d) {
    const IntSet& set = touched.box[d];
    if (StepsClear(set, loop.var, analyzer)) return true;
    if (Expr place = PlaceOf(set, loop.var, analyzer)) {
      places.push_back(place);
    } else if (touched.residues[d].modulus != 0) {
      places.push_back(touched.residues[d].value);
    }
  }
  if (places.empty()) return false;
  std::vector<LoopRange> ranges;
  for (const LoopRange& range : outer) {
    if (std::any_of(places.begin(), places.end(),
                    [&](const Expr& e) { return UsesVar(e, range.var); })) {
      ranges.push_back(range);
    }
  }
  return CheckIterMap(places, ranges, Bool(true), IterMapLevel::kInjective)
      .ok();
}

// The first buffer by which iterations of the loop may meet, for all that its
// dimensions tell; null where there is none.
Buffer FirstMet(Collector& collector, const ForNode& loop,
                const std::vector<LoopRange>& outer, const BlockNode* scope,
                const Stmt& stmt) {
  Analyzer& analyzer = collector.analyzer();
  for (const Touched& touched : collector.touched()) {
    const bool is_apart =
        !touched.is_written ||
        (scope && LivesWithin(*scope, stmt, touched.buffer)) ||
        (!touched.is_mixed && (TellsApart(touched, loop, outer, &analyzer) ||
                               AllPassBy(touched, loop, &analyzer)));
    if (!is_apart) return touched.buffer;
  }
  return nullptr;
}

// Why iterations of the loop may meet; `outer` ends with the loop itself.
Reason WhyRaces(const ForNode& loop, const std::vector<LoopRange>& outer,
                const BlockNode* scope, const Stmt& stmt) {
  Buffer met;
  for (const Look look :
       {Look::kPlainly, Look::kMergingDigits, Look::kWithPredicates}) {
    Collector collector(loop, outer, look);
    met = FirstMet(collector, loop, outer, scope, stmt);
    if (!met) return std::nullopt;
  }
  return absl::StrCat("they may touch the same elements of `", met->name,
                      "`, which they write");
}

std::string KindOf(const ForNode& loop) {
  if (loop.for_kind == ForKind::kParallel) return "parallel";
  if (loop.for_kind == ForKind::kVectorized) return "vectorized";
  return absl::StrCat("bound to ", loop.thread_tag);
}

// What the primitives accept needs no boxes.
bool IsIndependent(const Function& f, const ForNode& loop) {
  const std::optional<Path> path = FindLoop(f, loop.id);
  if (!path || path->loop() != &loop || path->ScopeIndex() < 0) return false;
  const bool threads = loop.thread_tag.rfind("threadIdx", 0) == 0;
  return !WhyNotIndependent(*path, {.allow_reduction = threads});
}

Reason WhyAliased(const Function& f, const ForNode& loop) {
  const std::optional<Path> path = FindLoop(f, loop.id);
  return path ? kiln::WhyAliased(*path) : std::nullopt;
}

class Checker {
 public:
  explicit Checker(const Function& f) : f_(f) {}

  absl::Status Check(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) return CheckLoop(s, *loop);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return CheckBlock(*realize);
    }
    return CheckChildren(s);
  }

 private:
  absl::Status CheckChildren(const Stmt& s) {
    absl::Status status;
    ForEachChild(s, [&](const Stmt& child) {
      if (status.ok()) status = Check(child);
    });
    return status;
  }

  absl::Status CheckBlock(const BlockRealizeNode& realize) {
    const BlockNode* outside = std::exchange(scope_, realize.block.get());
    std::vector<LoopRange> loops = std::exchange(outer_, {});
    for (const IterVar& iter : scope_->iters) {
      outer_.push_back({iter.var, iter.domain});
    }
    absl::Status status;
    if (realize.block->init) status = Check(realize.block->init);
    if (status.ok()) status = Check(realize.block->body);
    scope_ = outside;
    outer_ = std::move(loops);
    return status;
  }

  absl::Status CheckLoop(const Stmt& s, const ForNode& loop) {
    outer_.push_back({loop.var, {loop.min, loop.extent}});
    absl::Status status;
    if (IsConcurrent(loop)) {
      Reason reason = WhyAliased(f_, loop);
      const bool aliased = reason.has_value();
      if (!aliased) reason = WhyRaces(loop, outer_, scope_, s);
      if (aliased || (reason && !IsIndependent(f_, loop))) {
        status = absl::FailedPreconditionError(absl::StrCat(
            Describe(loop), " is ", KindOf(loop),
            ", but its iterations are not independent: ", *reason,
            "; make it a serial loop, or mark the block that writes with "
            "T.block_attr({\"",
            kDisjointWrites, "\": True}) if they are"));
      }
    }
    if (status.ok()) status = Check(loop.body);
    outer_.pop_back();
    return status;
  }

  const Function& f_;
  const BlockNode* scope_ = nullptr;
  std::vector<LoopRange> outer_;
};

}  // namespace

absl::Status CheckConcurrentLoops(const Function& f) {
  return Checker(f).Check(f.body);
}

}  // namespace kiln
