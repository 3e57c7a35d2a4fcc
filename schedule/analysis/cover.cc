// Boxes are hulls. A hull of what is written stands for what is written only
// where no point of it is missed, so the producer's points are counted: with
// injective bindings, as many iterations as the hull has points fill it, after
// those that a predicate drops.
#include "kiln/schedule/analysis/cover.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/cases.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cut.h"
#include "kiln/schedule/analysis/dense.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/stores.h"

namespace kiln {
namespace {

using Box = std::vector<IntSet>;

VarMap BindingMap(const BlockRealizeNode& realize) {
  VarMap map;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    map[realize.block->iters[i].var.get()] = realize.values[i];
  }
  return map;
}

// Expressions over the iterators of a block as ones over loop variables.
class Bindings {
 public:
  explicit Bindings(const BlockRealizeNode& realize) : realize_(realize) {}

  std::vector<Range> operator()(const std::vector<Range>& region) {
    std::vector<Range> mapped;
    mapped.reserve(region.size());
    for (const Range& range : region) {
      mapped.push_back({(*this)(range.min), (*this)(range.extent)});
    }
    return mapped;
  }

 private:
  Expr operator()(const Expr& e) {
    if (e->var_bits == 0) return e;
    if (e.As<VarNode>()) {
      const auto& iters = realize_.block->iters;
      for (size_t i = 0; i < iters.size(); ++i) {
        if (iters[i].var == e) return realize_.values[i];
      }
      return e;
    }
    if (map_.empty()) map_ = BindingMap(realize_);
    return Substitute(e, map_);
  }

  const BlockRealizeNode& realize_;
  VarMap map_;  // made when it is wanted
};

std::optional<int64_t> ConstExtent(const IntSet& set, Analyzer* analyzer) {
  const auto range = ToRange(set, analyzer);
  if (!range) return std::nullopt;
  const Expr extent = analyzer->Simplify(range->extent);
  const int64_t* value = AsInt(extent);
  return value ? std::optional(*value) : std::nullopt;
}

// a * b, or nullopt on overflow or when either is unknown.
std::optional<int64_t> Times(std::optional<int64_t> a,
                             std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || !FoldInt(ExprKind::kMul, *a, *b, &product)) {
    return std::nullopt;
  }
  return product;
}

using Loops = std::vector<const ForNode*>;

bool Moves(const ForNode& loop, const Range& range) {
  const auto uses = [&](const Expr& e) {
    return e.MayUse(loop.var->var_bits) && UsesVar(e, loop.var);
  };
  return uses(range.min) || uses(range.extent);
}

bool MovesAny(const ForNode& loop, const std::vector<Range>& region) {
  return std::any_of(region.begin(), region.end(),
                     [&](const Range& range) { return Moves(loop, range); });
}

Loops LoopsFrom(const ScopeBlock& block, size_t depth) {
  return Loops(block.loops.begin() + static_cast<long>(depth),
               block.loops.end());
}

// Iterations of the loops that move the region, times its own size.
std::optional<int64_t> CountPoints(const Loops& loops,
                                   const std::vector<Range>& region) {
  std::optional<int64_t> count = 1;
  const auto times = [&](const Expr& extent) {
    const int64_t* value = AsInt(extent);
    count = Times(count, value ? std::optional(*value) : std::nullopt);
  };
  for (const ForNode* loop : loops) {
    if (MovesAny(*loop, region)) times(loop->extent);
  }
  for (const Range& range : region) times(range.extent);
  return count;
}

// Whether the loops that move the region touch, symbolic extents and all, as
// many points as the box has, if each touches others.
bool HasAsManyPoints(const Loops& loops, const std::vector<Range>& region,
                     const Box& box, Analyzer* analyzer) {
  Expr points = Int(1), volume = Int(1);
  bool symbolic = false;
  for (const ForNode* loop : loops) {
    if (!MovesAny(*loop, region)) continue;
    symbolic |= !AsInt(loop->extent);
    points = Mul(points, loop->extent);
  }
  if (!symbolic) return false;
  for (size_t d = 0; d < box.size(); ++d) {
    points = Mul(points, region[d].extent);
    volume = Mul(volume, Add(Sub(box[d].max, box[d].min), Int(1)));
  }
  return analyzer->CanProveEqual(points, volume);
}

// Whether the region is another one in each iteration of the loops that move
// it: an index from data, or i // 2, may come again. Where it is wider than a
// point, it moves by multiples of its width.
bool IsInjective(const Loops& loops, const std::vector<Range>& region,
                 Analyzer* analyzer) {
  Loops moving;
  for (const ForNode* loop : loops) {
    if (MovesAny(*loop, region)) moving.push_back(loop);
  }
  std::vector<Expr> at;
  for (const Range& range : region) {
    if (std::none_of(moving.begin(), moving.end(), [&](const ForNode* loop) {
          return Moves(*loop, range);
        })) {
      continue;
    }
    if (IsOne(range.extent)) {
      at.push_back(range.min);
      continue;
    }
    const Expr rest = analyzer->Simplify(FloorMod(range.min, range.extent));
    if (!AsInt(range.extent) || !AsInt(rest)) return false;
    at.push_back(analyzer->Simplify(FloorDiv(range.min, range.extent)));
  }
  return CheckIterMap(at, Ranges(moving), Bool(true), IterMapLevel::kInjective)
      .ok();
}

// Of the loops that `condition` is about: how many of their iterations it
// leaves. They number an index that takes each of its values once, so that
// those below a bound can be counted. nullopt for other conditions.
std::optional<int64_t> CountLeft(const Expr& condition, const Loops& about,
                                 Analyzer* analyzer) {
  const auto* node = condition.As<BinaryNode>();
  if (!node || (node->kind != ExprKind::kLT && node->kind != ExprKind::kLE)) {
    return std::nullopt;
  }
  Expr index = Sub(node->a, node->b);  // holds where this is negative
  if (node->kind == ExprKind::kLE) index = Sub(index, Int(1));
  Domains domains;
  std::optional<int64_t> iterations = 1;
  for (const ForNode* loop : about) {
    domains[loop->var.get()] = {loop->min, loop->extent};
    const int64_t* extent = AsInt(loop->extent);
    iterations =
        Times(iterations, extent ? std::optional(*extent) : std::nullopt);
  }
  index = analyzer->Simplify(index);
  const IntSet set = EvalSet(index, domains, analyzer);
  const auto values = ConstExtent(set, analyzer);
  const int64_t* min = set.min ? AsInt(set.min) : nullptr;
  if (!iterations || values != iterations || !min || !IsDense(index, about)) {
    return std::nullopt;
  }
  return std::clamp<int64_t>(-*min, 0, *iterations);
}

// How many iterations the condition leaves of those loops that it is about and
// that move the region; takes them off the list `free`. What loops from
// outside decide holds.
std::optional<int64_t> CountCondition(const Expr& condition,
                                      const std::vector<Range>& region,
                                      const Loops& loops, Loops* free,
                                      Analyzer* analyzer) {
  if (IsOne(condition)) return 1;
  Loops about;
  for (const ForNode* loop : loops) {
    if (!UsesVar(condition, loop->var)) continue;
    const auto at = std::find(free->begin(), free->end(), loop);
    if (at == free->end()) return std::nullopt;  // another one is about it
    about.push_back(loop);
    free->erase(at);
  }
  if (about.empty()) return 1;
  const auto moving = std::count_if(
      about.begin(), about.end(),
      [&](const ForNode* loop) { return MovesAny(*loop, region); });
  const auto left = CountLeft(condition, about, analyzer);
  if (!left || moving == std::ssize(about)) return left;
  return moving == 0 && *left > 0 ? std::optional<int64_t>(1) : std::nullopt;
}

// The same for all conjuncts of a predicate.
std::optional<int64_t> CountConditions(const Expr& predicate,
                                       const std::vector<Range>& region,
                                       const Loops& loops, Loops* free,
                                       Analyzer* analyzer) {
  std::optional<int64_t> left = 1;
  for (const Expr& e : ConjunctsOf(predicate)) {
    left = Times(left, CountCondition(e, region, loops, free, analyzer));
  }
  return left;
}

// The region with quotients and remainders taken of what the loops run through:
// (i*16 + j) // 16 is i for j in [0, 16). nullopt where there are none.
std::optional<std::vector<Range>> WithoutQuotients(
    const std::vector<Range>& region, const Loops& loops) {
  bool any = false;
  for (const Range& range : region) {
    Visit(range.min, [&](const Expr& e) {
      any |= e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
      return !any;
    });
  }
  if (!any) return std::nullopt;
  Analyzer analyzer;
  for (const ForNode* loop : loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  std::vector<Range> simple = region;
  for (Range& range : simple) range.min = analyzer.Simplify(range.min);
  return simple;
}

size_t SharedLoops(const ScopeBlock& a, const ScopeBlock& b) {
  const auto [end, unused] = std::mismatch(a.loops.begin(), a.loops.end(),
                                           b.loops.begin(), b.loops.end());
  return static_cast<size_t>(end - a.loops.begin());
}

const BufferRegion* FindRegion(const std::vector<BufferRegion>& regions,
                               const Buffer& buffer) {
  for (const BufferRegion& region : regions) {
    if (region.buffer == buffer) return &region;
  }
  return nullptr;
}

// Whether boxes that agree but in one dimension leave no gap along it.
bool Abut(const std::vector<Box>& boxes, Analyzer* analyzer) {
  const size_t ndim = boxes[0].size();
  int along = -1;
  for (size_t d = 0; d < ndim; ++d) {
    const bool same =
        std::all_of(boxes.begin(), boxes.end(), [&](const Box& b) {
          return analyzer->CanProveEqual(b[d].min, boxes[0][d].min) &&
                 analyzer->CanProveEqual(b[d].max, boxes[0][d].max);
        });
    if (same) continue;
    if (along >= 0) return false;
    along = static_cast<int>(d);
  }
  if (along < 0) return true;
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const Box& box : boxes) {
    const int64_t* min = AsInt(box[along].min);
    const int64_t* max = AsInt(box[along].max);
    if (!min || !max) return false;
    spans.push_back({*min, *max});
  }
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first > spans[i - 1].second + 1) return false;
    spans[i].second = std::max(spans[i].second, spans[i - 1].second);
  }
  return true;
}

// What of the box lies within the buffer.
Box WithinBuffer(Box box, const BufferNode& buffer, Analyzer* analyzer) {
  for (size_t d = 0; d < box.size(); ++d) {
    const Expr last = Sub(buffer.shape[d], Int(1));
    if (!analyzer->CanProveLessEqual(Int(0), box[d].min)) {
      box[d].min = analyzer->Simplify(Max(box[d].min, Int(0)));
    }
    if (!analyzer->CanProveLessEqual(box[d].max, last)) {
      box[d].max = analyzer->Simplify(Min(box[d].max, last));
    }
  }
  return box;
}

bool IsBounded(const Box& box) {
  return std::all_of(box.begin(), box.end(),
                     [](const IntSet& set) { return set.IsBounded(); });
}

Box Hull(const std::vector<Box>& boxes, Analyzer* analyzer) {
  Box hull = boxes[0];
  for (size_t i = 1; i < boxes.size(); ++i) {
    for (size_t d = 0; d < hull.size(); ++d) {
      hull[d] = UnionSet(hull[d], boxes[i][d], analyzer);
    }
  }
  return hull;
}

// While it lives, the analyzer knows that the predicate holds and, where
// `buffer` is given, that some part of the region lies within it.
class Known {
 public:
  Known(const Expr& predicate, const std::vector<Range>& region,
        const BufferNode* buffer, Analyzer* analyzer) {
    held_.push_back(analyzer->Assume(predicate));
    for (size_t d = 0; buffer && d < region.size(); ++d) {
      const Range& range = region[d];
      held_.push_back(analyzer->Assume(LT(range.min, buffer->shape[d])));
      held_.push_back(
          analyzer->Assume(LT(Int(0), Add(range.min, range.extent))));
    }
  }
  ~Known() {
    while (!held_.empty()) held_.pop_back();
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  std::vector<Analyzer::Assumption> held_;
};

struct ReadCheck {
  const Scope& scope;
  int reader;
  const BufferRegion& read;
  bool within_buffer;  // whether elements outside of the buffer count
  Analyzer analyzer;

  std::vector<int> EarlierWriters() const {
    std::vector<int> writers = scope.Writers(read.buffer);
    writers.erase(std::remove_if(writers.begin(), writers.end(),
                                 [&](int w) { return w >= reader; }),
                  writers.end());
    return writers;
  }

  // What the writer's predicate leaves out is not read: conditions that only
  // shared loops decide hold for the reader too, and others cut the writer's
  // box beyond what the reader reaches.
  bool ReadsWithin(const ScopeBlock& writer, const BufferRegion& written,
                   size_t depth) {
    if (IsOne(writer.realize->predicate)) return true;
    std::vector<Range> region = InLoopVariables(writer, written);
    if (auto simple = WithoutQuotients(region, writer.loops)) region = *simple;
    const Loops loops = LoopsFrom(writer, depth);
    const auto conjuncts = ConjunctsOf(writer.realize->predicate);
    return std::all_of(conjuncts.begin(), conjuncts.end(), [&](const Expr& e) {
      return ReadsWithin(e, region, loops, conjuncts) ||
             LeavesOutside(e, writer, region);
    });
  }

  // Whether all that the condition of the writer leaves out is outside of the
  // buffer, where elements do not count.
  bool LeavesOutside(const Expr& condition, const ScopeBlock& writer,
                     const std::vector<Range>& written) const {
    if (!within_buffer) return false;
    Analyzer inside;
    for (const ForNode* loop : writer.loops) {
      inside.Bind(loop->var, {loop->min, loop->extent});
    }
    const Known known(Bool(true), written, read.buffer.get(), &inside);
    return inside.CanProve(condition);
  }

  // Whether the condition holds in the first iteration of the loops that it is
  // about, which move nothing that is written (those of a sum), while
  // `conjuncts` ask nothing else of them.
  bool HoldsAtFirst(const Expr& condition, const std::vector<Range>& written,
                    const Loops& loops, const std::vector<Expr>& conjuncts,
                    Analyzer* inside) {
    VarMap first;
    for (const ForNode* loop : loops) {
      if (!UsesVar(condition, loop->var)) continue;
      const auto asking =
          std::count_if(conjuncts.begin(), conjuncts.end(),
                        [&](const Expr& e) { return UsesVar(e, loop->var); });
      if (asking > 1 || MovesAny(*loop, written) ||
          !inside->CanProveLess(Int(0), loop->extent)) {
        return false;
      }
      first[loop->var.get()] = loop->min;
    }
    return inside->CanProve(Substitute(condition, first));
  }

  bool ReadsWithin(const Expr& condition, const std::vector<Range>& written,
                   const Loops& loops, const std::vector<Expr>& conjuncts) {
    const ScopeBlock& block = scope.blocks[reader];
    Analyzer inside;
    for (const ForNode* loop : block.loops) {
      inside.Bind(loop->var, {loop->min, loop->extent});
    }
    const LoopsRun run(block.loops, &inside);
    const std::vector<Range> wanted = InLoopVariables(block, read);
    const Known known(block.realize->predicate, wanted,
                      within_buffer ? read.buffer.get() : nullptr, &inside);
    const bool moves = std::any_of(
        loops.begin(), loops.end(),
        [&](const ForNode* loop) { return UsesVar(condition, loop->var); });
    if (!moves) return inside.CanProve(condition);
    if (HoldsAtFirst(condition, written, loops, conjuncts, &inside)) {
      return true;
    }
    for (size_t d = 0; d < written.size(); ++d) {
      const auto cut = CutAlong(condition, written[d], loops, &analyzer);
      if (!cut) continue;
      const Range& range = wanted[d];
      Expr end = Add(range.min, range.extent);
      if (within_buffer) end = Min(end, read.buffer->shape[d]);
      if (cut->end ? CanProveLessEqualByCases(end, cut->end, &inside)
                   : inside.CanProveLessEqual(cut->begin, range.min)) {
        return true;
      }
    }
    return false;
  }

  bool IsCovered() {
    const std::vector<int> writers = EarlierWriters();
    if (writers.empty()) return true;
    const ScopeBlock& block = scope.blocks[reader];
    size_t depth = block.loops.size();
    for (int w : writers) {
      depth = std::min(depth, SharedLoops(block, scope.blocks[w]));
    }
    for (size_t i = 0; i < depth; ++i) {
      analyzer.Bind(block.loops[i]->var,
                    {block.loops[i]->min, block.loops[i]->extent});
    }
    const LoopsRun run(block.loops, &analyzer);
    Box wanted = TouchedBox(block, read, depth, &analyzer);
    if (!IsBounded(wanted)) return false;
    if (within_buffer) {
      wanted = WithinBuffer(std::move(wanted), *read.buffer, &analyzer);
    }
    std::vector<Box> filled;
    for (int w : writers) {
      const ScopeBlock& writer = scope.blocks[w];
      const BufferRegion& region =
          *FindRegion(writer.block().writes, read.buffer);
      Box box = TouchedBox(writer, region, depth, &analyzer);
      if (!IsBounded(box) || !ReadsWithin(writer, region, depth)) continue;
      if (!FillsBox(writer, region, depth, box, &analyzer)) continue;
      if (Contains(box, wanted, &analyzer)) return true;
      filled.push_back(std::move(box));
    }
    return filled.size() > 1 && Abut(filled, &analyzer) &&
           Contains(Hull(filled, &analyzer), wanted, &analyzer);
  }
};

std::string NotWritten(const Scope& scope, int block,
                       const BufferRegion& read) {
  return absl::StrCat(Describe(scope.blocks[block].block()),
                      " may read elements of `", read.buffer->name,
                      "` that its producers have not written there");
}

Reason WhyReadNotCovered(const Scope& scope, int block,
                         const BufferRegion& read) {
  if (ReadCheck{scope, block, read, false, Analyzer()}.IsCovered() ||
      ReadCheck{scope, block, read, true, Analyzer()}.IsCovered()) {
    return std::nullopt;
  }
  return NotWritten(scope, block, read);
}

}  // namespace

std::vector<Range> InLoopVariables(const ScopeBlock& block,
                                   const BufferRegion& region) {
  return Bindings(*block.realize)(region.region);
}

std::vector<IntSet> TouchedBox(const ScopeBlock& block,
                               const BufferRegion& region, size_t depth,
                               Analyzer* analyzer) {
  Domains domains;
  for (size_t i = depth; i < block.loops.size(); ++i) {
    const ForNode& loop = *block.loops[i];
    domains.emplace(loop.var.get(), {loop.min, loop.extent});
  }
  return EvalRegion(InLoopVariables(block, region), domains,
                    block.realize->predicate, analyzer);
}

bool FillsBox(const ScopeBlock& block, const BufferRegion& written,
              size_t depth, const Box& box, Analyzer* analyzer) {
  if (written.buffer && !StoresAll(block.block(), written)) return false;
  const Loops loops = LoopsFrom(block, depth);
  const std::vector<Range> region = InLoopVariables(block, written);
  if (IsDenseBox(loops, region)) return true;
  const auto simple = WithoutQuotients(region, block.loops);
  if (simple && IsDenseBox(loops, *simple)) return true;
  return FillsBoxByCount(block, region, depth, box, analyzer);
}

bool FillsBoxByCount(const ScopeBlock& block, const std::vector<Range>& region,
                     size_t depth, const Box& box, Analyzer* analyzer) {
  const Loops loops = LoopsFrom(block, depth);
  if (WhyNotAffine(*block.realize, loops)) return false;
  if (IsOne(block.realize->predicate) &&
      HasAsManyPoints(loops, region, box, analyzer)) {
    return IsInjective(loops, region, analyzer);
  }
  std::optional<int64_t> volume = 1;
  for (const IntSet& set : box) {
    volume = Times(volume, ConstExtent(set, analyzer));
  }
  Loops free = loops;
  const auto left =
      CountConditions(block.realize->predicate, region, loops, &free, analyzer);
  const auto points = Times(left, CountPoints(free, region));
  return volume && points && *points >= *volume &&
         IsInjective(loops, region, analyzer);
}

bool IsDenseBox(const Loops& loops, const std::vector<Range>& region) {
  for (const Range& range : region) {
    const int64_t* width = AsInt(range.extent);
    const bool dense =
        width ? IsDense(range.min, *width, loops)
              : std::none_of(loops.begin(), loops.end(), [&](const auto* loop) {
                  return Moves(*loop, range);
                });
    if (!dense) return false;
  }
  return std::all_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
    return std::count_if(region.begin(), region.end(), [&](const Range& range) {
             return Moves(*loop, range);
           }) <= 1;
  });
}

bool Contains(const std::vector<IntSet>& outer,
              const std::vector<IntSet>& inner, Analyzer* analyzer) {
  for (size_t d = 0; d < outer.size(); ++d) {
    if (!outer[d].IsBounded() || !inner[d].IsBounded()) return false;
    const bool within =
        CanProveLessEqualByCases(outer[d].min, inner[d].min, analyzer) &&
        CanProveLessEqualByCases(inner[d].max, outer[d].max, analyzer);
    if (!within) return false;
  }
  return true;
}

Reason WhyNotCovered(const Scope& scope, int block) {
  for (const BufferRegion& read : scope.blocks[block].block().reads) {
    if (Reason reason = WhyReadNotCovered(scope, block, read)) return reason;
  }
  return std::nullopt;
}

Reason WhyNotCovered(const Scope& scope, int block, const Buffer& buffer) {
  for (const BufferRegion& read : scope.blocks[block].block().reads) {
    if (read.buffer != buffer) continue;
    if (Reason reason = WhyReadNotCovered(scope, block, read)) return reason;
  }
  return std::nullopt;
}

Reason WhyNotAllCovered(const Scope& scope, int block) {
  for (const BufferRegion& read : scope.blocks[block].block().reads) {
    if (ReadCheck{scope, block, read, false, Analyzer()}.IsCovered()) continue;
    return NotWritten(scope, block, read);
  }
  return std::nullopt;
}

Reason WhyNotStagePipeline(const Scope& scope) {
  if (!scope.only_loops_and_blocks) {
    return "the scope holds statements other than loops and blocks";
  }
  for (const Dependence& d : scope.Dependences()) {
    if (d.kind != DependenceKind::kWar) continue;
    return absl::StrCat(Describe(scope.blocks[d.target].block()),
                        " overwrites what ",
                        Describe(scope.blocks[d.source].block()), " reads");
  }
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    if (Reason reason = WhyNotCovered(scope, static_cast<int>(i))) {
      return reason;
    }
  }
  return std::nullopt;
}

Reason WhyNotHeld(const Path& block, const Buffer& buffer) {
  for (Path at = block; at.scope(); at = at.Prefix(at.ScopeIndex() + 1)) {
    const Scope scope(*at.scope()->block);
    const int index = scope.IndexOf(at.realize()->block->id);
    const std::vector<int> writers = scope.Writers(buffer);
    if (writers.empty() || writers.front() >= index) continue;
    return WhyNotCovered(scope, index);
  }
  return absl::StrCat("no earlier block writes `", buffer->name, "`");
}

}  // namespace kiln
