// The writer's loops span a box; its predicate cuts some off at either end, and
// extents that outer loops decide may leave nothing at all.
#include "kiln/schedule/rewrite/cache_written.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/loops_run.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/predicate_bounds.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// `range` without what is known to lie outside of [0, extent): predicates on
// fused loops leave such boxes.
Range Clamp(Range range, const Expr& extent, Analyzer* analyzer) {
  const Expr end = analyzer->Simplify(Add(range.min, range.extent));
  if (analyzer->CanProve(LT(range.min, Int(0)))) range = {Int(0), end};
  if (analyzer->CanProve(LT(extent, end))) {
    range.extent = analyzer->Simplify(Sub(extent, range.min));
  }
  return range;
}

// What one instance of the writer writes of the tensor.
const BufferRegion& WrittenRegion(const CacheWriter& writer) {
  const auto& writes = writer.block().block().writes;
  const auto at = std::find_if(
      writes.begin(), writes.end(),
      [&](const BufferRegion& r) { return r.buffer == writer.tensor; });
  KILN_CHECK(at != writes.end()) << "no writer of " << writer.tensor->name;
  return *at;
}

std::vector<IntSet> SetsOf(const std::vector<Range>& box) {
  std::vector<IntSet> sets;
  for (const Range& range : box) {
    sets.push_back({range.min, Sub(Add(range.min, range.extent), Int(1))});
  }
  return sets;
}

// A loop around the copy's place that decides the extent of the writer's loop
// `inner`: the innermost one, or none.
std::optional<size_t> LoopBehindExtent(const ScopeBlock& writer, size_t inner) {
  for (size_t i = inner; i-- > 0;) {
    if (UsesVar(writer.loops[inner]->extent, writer.loops[i]->var)) return i;
  }
  return std::nullopt;
}

bool HaveConstantExtents(const std::vector<const ForNode*>& loops) {
  return std::all_of(loops.begin(), loops.end(), [](const ForNode* loop) {
    return AsInt(loop->extent) != nullptr;
  });
}

// Tells when there is something to copy. An error where that differs between
// iterations that share one copy.
absl::Status SetWhenWritten(const CacheWriter& writer, CacheCopy* copy) {
  const ScopeBlock& block = writer.block();
  if (HaveConstantExtents(block.loops)) return absl::OkStatus();
  Analyzer analyzer;
  for (size_t i = 0; i < block.loops.size(); ++i) {
    const ForNode& loop = *block.loops[i];
    const Expr runs = LT(Int(0), loop.extent);
    const std::optional<size_t> decider = LoopBehindExtent(block, i);
    if (i >= writer.depth && decider && !analyzer.CanProve(runs)) {
      if (*decider >= writer.depth) {
        return Refusal(
            writer.primitive,
            absl::StrCat("whether loop ", loop.var.name(), " around ",
                         Describe(block.block()), " runs depends on ",
                         block.loops[*decider]->var.name()));
      }
      copy->loops_run.push_back(runs);
    }
    analyzer.Bind(loop.var, {loop.min, loop.extent});
  }
  return absl::OkStatus();
}

absl::Status UnknownGaps(const CacheWriter& writer) {
  return Refusal(writer.primitive,
                 absl::StrCat(Describe(writer.block().block()),
                              " is not known to write all of the box of `",
                              writer.tensor->name, "` that it touches"));
}

// Takes the cut into the copy's box where it can; whether that is all.
bool Narrow(const PredicateBound& cut, const Expr& extent, Analyzer* analyzer,
            CacheCopy* copy) {
  Range& range = copy->box[cut.dim];
  const Expr& at = cut.end ? cut.end : cut.begin;
  const Expr end = Add(range.min, range.extent);
  const bool is_off =  // beyond the box, or beyond the tensor
      cut.end ? analyzer->CanProveLessEqual(end, at) ||
                    analyzer->CanProveLessEqual(extent, at)
              : analyzer->CanProveLessEqual(at, range.min) ||
                    analyzer->CanProveLessEqual(at, Int(0));
  if (is_off) return true;
  const int64_t *low = AsInt(range.min), *count = AsInt(range.extent),
                *middle = AsInt(at);
  if (!low || !count || !middle || *middle <= *low ||
      *middle >= *low + *count) {
    return false;
  }
  if (cut.end) {
    range.extent = Int(*middle - *low);
    return true;
  }
  if (!copy->is_whole)
    return false;  // the box's beginning is that of the cache
  range = {at, Int(*low + *count - *middle)};
  return true;
}

// A reduction over a dimension that is 0 writes its init all the same
// (ir/tensor/empty_reductions.h), so that where its loops run is no condition
// for it to write. Blocks inside of others are left alone: theirs may depend on
// what the outer ones iterate over.
Expr WhereItWrites(const CacheWriter& writer, const Expr& runs) {
  const ScopeBlock& block = writer.block();
  if (!block.block().init || !writer.scope.block->iters.empty()) return runs;
  Analyzer analyzer;
  const LoopsRun loops_run(block.loops, &analyzer);
  Expr left;
  for (const Expr& conjunct : ConjunctsOf(runs)) {
    if (!analyzer.CanProve(conjunct)) left = Conjunction(left, conjunct);
  }
  return left ? left : Bool(true);
}

// Takes what the writer's predicate leaves out of the copy.
absl::Status CutWhatIsLeftOut(const CacheWriter& writer, CacheCopy* copy) {
  const ScopeBlock& block = writer.block();
  if (IsOne(block.realize->predicate)) return absl::OkStatus();
  Analyzer analyzer = BindLoops(writer.scope, writer.index);
  const std::vector<Range> region =
      InLoopVariables(block, WrittenRegion(writer));
  const PredicateBounds limits = PredicateBoundsOf(block, region, writer.depth);
  copy->writer_runs = WhereItWrites(writer, limits.runs);
  if (!limits.complete) {
    return FillsBoxByCount(block, region, writer.depth, SetsOf(copy->box),
                           &analyzer)
               ? absl::OkStatus()
               : UnknownGaps(writer);
  }
  for (const PredicateBound& cut : limits.cuts) {
    const Expr& extent = writer.tensor->shape[cut.dim];
    if (!Narrow(cut, extent, &analyzer, copy)) copy->cuts.push_back(cut);
  }
  return absl::OkStatus();
}

}  // namespace

Analyzer BindLoops(const Scope& scope, int index) {
  Analyzer analyzer;
  for (const IterVar& iter : scope.block->iters) {
    analyzer.Bind(iter.var, iter.domain);
  }
  if (index < 0) return analyzer;
  for (const ForNode* loop : scope.blocks[index].loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  return analyzer;
}

std::vector<Range> WrittenBox(const CacheWriter& writer) {
  const ScopeBlock& block = writer.block();
  Analyzer analyzer;
  for (const ForNode* loop : block.loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  const std::vector<IntSet> sets =
      TouchedBox(block, WrittenRegion(writer), writer.depth, &analyzer);
  std::vector<Range> box;
  for (size_t i = 0; i < sets.size(); ++i) {
    std::optional<Range> range = ToRange(sets[i], &analyzer);
    const Expr& extent = writer.tensor->shape[i];
    box.push_back(range ? Clamp(*range, extent, &analyzer)
                        : Range{Int(0), extent});
  }
  return box;
}

absl::Status CheckNoGaps(const CacheWriter& writer,
                         const std::vector<Range>& box) {
  Analyzer analyzer;
  return FillsBox(writer.block(), WrittenRegion(writer), writer.depth,
                  SetsOf(box), &analyzer)
             ? absl::OkStatus()
             : UnknownGaps(writer);
}

absl::Status LimitToWritten(const CacheWriter& writer, CacheCopy* copy) {
  KILN_RETURN_IF_ERROR(SetWhenWritten(writer, copy));
  return CutWhatIsLeftOut(writer, copy);
}

absl::Status CheckHeld(const Function& f, const Path& path,
                       const Buffer& tensor, std::string_view primitive) {
  if (!IsAllocated(f, tensor)) return absl::OkStatus();
  if (Reason reason = WhyNotHeld(path, tensor)) {
    return Refusal(primitive,
                   absl::StrCat(Describe(*path.realize()->block),
                                " may read what is not written: ", *reason));
  }
  return absl::OkStatus();
}

}  // namespace kiln
