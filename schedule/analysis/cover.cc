// Boxes are hulls. A hull of what is written stands for what is written only
// where no point of it is missed, so the producer's points are counted: with
// injective bindings, as many iterations as the hull has points fill it.
#include "kiln/schedule/analysis/cover.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/dense.h"
#include "kiln/schedule/analysis/refusal.h"

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

BufferRegion InLoopVariables(const ScopeBlock& block,
                             const BufferRegion& region) {
  const VarMap map = BindingMap(*block.realize);
  return MapRegion(region, [&](const Expr& e) { return Substitute(e, map); });
}

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
  return UsesVar(range.min, loop.var) || UsesVar(range.extent, loop.var);
}

// Iterations of the loops that move the region, times its own size.
std::optional<int64_t> CountPoints(const Loops& loops,
                                   const BufferRegion& region) {
  std::optional<int64_t> count = 1;
  const auto times = [&](const Expr& extent) {
    const int64_t* value = AsInt(extent);
    count = Times(count, value ? std::optional(*value) : std::nullopt);
  };
  for (const ForNode* loop : loops) {
    const bool moves =
        std::any_of(region.region.begin(), region.region.end(),
                    [&](const Range& range) { return Moves(*loop, range); });
    if (moves) times(loop->extent);
  }
  for (const Range& range : region.region) times(range.extent);
  return count;
}

// Each dimension is dense on its own, and no loop moves two of them.
bool IsDenseBox(const Loops& loops, const BufferRegion& region) {
  for (const Range& range : region.region) {
    const bool fixed =
        std::none_of(loops.begin(), loops.end(),
                     [&](const ForNode* loop) { return Moves(*loop, range); });
    const int64_t* width = AsInt(range.extent);
    if (!fixed && (!width || !IsDense(range.min, *width, loops))) return false;
  }
  return std::all_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
    return std::count_if(
               region.region.begin(), region.region.end(),
               [&](const Range& range) { return Moves(*loop, range); }) <= 1;
  });
}

// Whether the predicate is a conjunction of upper bounds, each on the position
// along one dimension of the region, as splits leave behind: then it cuts the
// box to a smaller one, and EvalRegion has done so.
bool CutsToBox(const Expr& predicate, const Loops& loops,
               const BufferRegion& region, Analyzer* analyzer) {
  if (IsOne(predicate)) return true;
  const auto moves = [&](const Expr& e) {
    return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
      return UsesVar(e, loop->var);
    });
  };
  if (!moves(predicate)) return true;
  const auto* node = predicate.As<BinaryNode>();
  if (!node) return false;
  if (node->kind == ExprKind::kAnd) {
    return CutsToBox(node->a, loops, region, analyzer) &&
           CutsToBox(node->b, loops, region, analyzer);
  }
  if (node->kind != ExprKind::kLT && node->kind != ExprKind::kLE) return false;
  return std::any_of(
      region.region.begin(), region.region.end(), [&](const Range& range) {
        return !moves(
            analyzer->Simplify(Sub(Sub(node->a, node->b), range.min)));
      });
}

// Whether the block writes every point of the hull of `region` while the loops
// from `depth` on run.
bool FillsBox(const ScopeBlock& block, const BufferRegion& written,
              size_t depth, const Box& box, Analyzer* analyzer) {
  const Loops loops(block.loops.begin() + static_cast<long>(depth),
                    block.loops.end());
  const BufferRegion region = InLoopVariables(block, written);
  if (!CutsToBox(block.realize->predicate, loops, region, analyzer)) {
    return false;
  }
  if (IsDenseBox(loops, region)) return true;
  if (WhyNotAffine(*block.realize, loops)) return false;
  std::optional<int64_t> volume = 1;
  for (const IntSet& set : box) {
    volume = Times(volume, ConstExtent(set, analyzer));
  }
  const auto points = CountPoints(loops, region);
  return volume && points && *points >= *volume;
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

struct ReadCheck {
  const Scope& scope;
  int reader;
  const BufferRegion& read;
  Analyzer analyzer;

  std::vector<int> EarlierWriters() const {
    std::vector<int> writers = scope.Writers(read.buffer);
    writers.erase(std::remove_if(writers.begin(), writers.end(),
                                 [&](int w) { return w >= reader; }),
                  writers.end());
    return writers;
  }

  // Conditions of a writer that only shared loops decide say whether it runs
  // at all: the reader has to run under them too.
  bool RunsWithReader(const ScopeBlock& writer, size_t depth) {
    return HoldsForReader(writer.realize->predicate, writer, depth);
  }

  bool HoldsForReader(const Expr& condition, const ScopeBlock& writer,
                      size_t depth) {
    const auto* node = condition.As<BinaryNode>();
    if (node && node->kind == ExprKind::kAnd) {
      return HoldsForReader(node->a, writer, depth) &&
             HoldsForReader(node->b, writer, depth);
    }
    for (size_t i = depth; i < writer.loops.size(); ++i) {
      if (UsesVar(condition, writer.loops[i]->var)) return true;
    }
    const auto held = analyzer.Assume(scope.blocks[reader].realize->predicate);
    return analyzer.CanProve(condition);
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
    const Box wanted = TouchedBox(block, read, depth, &analyzer);
    if (!IsBounded(wanted)) return false;
    std::vector<Box> filled;
    for (int w : writers) {
      const ScopeBlock& writer = scope.blocks[w];
      const BufferRegion& region =
          *FindRegion(writer.block().writes, read.buffer);
      Box box = TouchedBox(writer, region, depth, &analyzer);
      if (!IsBounded(box) || !RunsWithReader(writer, depth)) continue;
      if (!FillsBox(writer, region, depth, box, &analyzer)) continue;
      if (Contains(box, wanted, &analyzer)) return true;
      filled.push_back(std::move(box));
    }
    return filled.size() > 1 && Abut(filled, &analyzer) &&
           Contains(Hull(filled, &analyzer), wanted, &analyzer);
  }
};

}  // namespace

std::vector<IntSet> TouchedBox(const ScopeBlock& block,
                               const BufferRegion& region, size_t depth,
                               Analyzer* analyzer) {
  Domains domains;
  for (size_t i = depth; i < block.loops.size(); ++i) {
    const ForNode& loop = *block.loops[i];
    domains[loop.var.get()] = {loop.min, loop.extent};
  }
  return EvalRegion(InLoopVariables(block, region).region, domains,
                    block.realize->predicate, analyzer);
}

bool Contains(const std::vector<IntSet>& outer,
              const std::vector<IntSet>& inner, Analyzer* analyzer) {
  for (size_t d = 0; d < outer.size(); ++d) {
    if (!outer[d].IsBounded() || !inner[d].IsBounded()) return false;
    if (!analyzer->CanProveLessEqual(outer[d].min, inner[d].min)) return false;
    if (!analyzer->CanProveLessEqual(inner[d].max, outer[d].max)) return false;
  }
  return true;
}

Reason WhyNotCovered(const Scope& scope, int block) {
  for (const BufferRegion& read : scope.blocks[block].block().reads) {
    ReadCheck check{scope, block, read, Analyzer()};
    if (!check.IsCovered()) {
      return absl::StrCat(Describe(scope.blocks[block].block()),
                          " may read elements of `", read.buffer->name,
                          "` that its producers have not written there");
    }
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

}  // namespace kiln
