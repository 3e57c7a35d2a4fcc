// What a block reads is a box, and so is what each earlier writer fills. One of
// them has to hold what is read, or several that leave no gap between them.
#include "kiln/schedule/analysis/cover.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/cases.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/predicate_bounds.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

using Box = std::vector<IntSet>;
using Loops = std::vector<const ForNode*>;

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
    const Loops begun = BegunWithoutTerms(writer, region, loops);
    return std::all_of(conjuncts.begin(), conjuncts.end(), [&](const Expr& e) {
      return ReadsWithin(e, region, loops, begun, conjuncts) ||
             LeavesOutside(e, writer, region);
    });
  }

  // The loops that only add up, where the sum begins without their running
  // (ir/tensor/empty_reductions.h): in the root, whose extents no iterator of
  // another block decides.
  Loops BegunWithoutTerms(const ScopeBlock& writer,
                          const std::vector<Range>& written,
                          const Loops& loops) const {
    Loops begun;
    if (!writer.block().init || !scope.block->iters.empty()) return begun;
    for (const ForNode* loop : loops) {
      if (!MovesAny(*loop, written)) begun.push_back(loop);
    }
    return begun;
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

  // Whether the condition holds in the first iteration of those loops that move
  // nothing that is written (those of a sum), whatever the others are at, while
  // `conjuncts` ask nothing else of the former. Of k0*16 + lane < 100, where
  // lanes are written, k0 = 0 leaves lane < 100.
  bool HoldsAtFirst(const Expr& condition, const std::vector<Range>& written,
                    const Loops& loops, const Loops& begun,
                    const std::vector<Expr>& conjuncts, Analyzer* inside) {
    const LoopsRun run(begun, inside);
    VarMap first;
    for (const ForNode* loop : loops) {
      if (!UsesVar(condition, loop->var)) continue;
      if (MovesAny(*loop, written)) {
        inside->Bind(loop->var, {loop->min, loop->extent});
        continue;
      }
      const auto asking =
          std::count_if(conjuncts.begin(), conjuncts.end(),
                        [&](const Expr& e) { return UsesVar(e, loop->var); });
      if (asking > 1 || !inside->CanProveLess(Int(0), loop->extent)) {
        return false;
      }
      first[loop->var.get()] = loop->min;
    }
    return !first.empty() && inside->CanProve(Substitute(condition, first));
  }

  bool ReadsWithin(const Expr& condition, const std::vector<Range>& written,
                   const Loops& loops, const Loops& begun,
                   const std::vector<Expr>& conjuncts) {
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
    if (HoldsAtFirst(condition, written, loops, begun, conjuncts, &inside)) {
      return true;
    }
    for (size_t d = 0; d < written.size(); ++d) {
      const auto cut =
          PredicateBoundAlong(condition, written[d], loops, &analyzer);
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
    return AreWritten(TouchedBox(block, read, depth, &analyzer), writers,
                      depth) ||
           (block.realize->predicate.kind() == ExprKind::kAnd &&
            AreWritten(TouchedBoxByConjuncts(block, read, depth, &analyzer),
                       writers, depth));
  }

  // Whether the writers fill the box, in terms of the first `depth` loops.
  bool AreWritten(Box wanted, const std::vector<int>& writers, size_t depth) {
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

// What `read` may be within its buffer: all of a dimension where an index is
// loaded.
BufferRegion WithLoadedIndicesAnywhere(BufferRegion read) {
  for (size_t d = 0; d < read.region.size(); ++d) {
    bool is_loaded = false;
    Visit(read.region[d].min, [&](const Expr& e) {
      is_loaded = is_loaded || e.kind() == ExprKind::kLoad;
      return !is_loaded;
    });
    if (is_loaded) read.region[d] = {Int(0), read.buffer->shape[d]};
  }
  return read;
}

Reason WhyReadNotCovered(const Scope& scope, int block,
                         const BufferRegion& read) {
  const BufferRegion within = WithLoadedIndicesAnywhere(read);
  if (ReadCheck{scope, block, read, false, Analyzer()}.IsCovered() ||
      ReadCheck{scope, block, within, true, Analyzer()}.IsCovered()) {
    return std::nullopt;
  }
  return NotWritten(scope, block, read);
}

}  // namespace

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
