// Whether what a block reads has been written where it runs.
#ifndef KILN_SCHEDULE_ANALYSIS_COVER_H_
#define KILN_SCHEDULE_ANALYSIS_COVER_H_

#include "kiln/ir/arith/int_set.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// The region of one instance of a block, in terms of loop variables.
std::vector<Range> InLoopVariables(const ScopeBlock& block,
                                   const BufferRegion& region);

// What instances of a block touch of one buffer while the loops from `depth`
// on (0: all that stand between the block and its scope) run and the outer
// ones stand still. Bounds use variables of the outer loops.
std::vector<IntSet> TouchedBox(const ScopeBlock& block,
                               const BufferRegion& region, size_t depth,
                               Analyzer* analyzer);

// Whether the block, but for its predicate, writes every point of `box`, the
// hull of the region that it writes, while the loops from `depth` on run. A
// region of no buffer stands for the values of iterators. False also means
// "cannot tell".
bool FillsBox(const ScopeBlock& block, const BufferRegion& written,
              size_t depth, const std::vector<IntSet>& box, Analyzer* analyzer);

// Whether `region` fills its hull while `loops` run: each dimension is dense on
// its own, and no loop moves two of them.
bool IsDenseBox(const std::vector<const ForNode*>& loops,
                const std::vector<Range>& region);

// Whether the block writes every point of `box` in spite of its predicate, as
// far as loops from `depth` on decide that; `region`, all of which an instance
// writes, is in terms of loop variables. False also means "cannot tell".
bool FillsBoxByCount(const ScopeBlock& block, const std::vector<Range>& region,
                     size_t depth, const std::vector<IntSet>& box,
                     Analyzer* analyzer);

// Whether box `inner` lies within box `outer` for sure.
bool Contains(const std::vector<IntSet>& outer,
              const std::vector<IntSet>& inner, Analyzer* analyzer);

// Region cover: all that the block reads of buffers which earlier blocks of
// the scope write was written by them, judged within one iteration of the
// loops that all of them share. Holes in what is written (strides, diagonals,
// odd predicates) count as not written.
// Elements outside of a buffer are nobody's to write: what a block declares to
// read there it reads under a guard, or never.
Reason WhyNotCovered(const Scope& scope, int block);
// The same of what it reads of `buffer` alone.
Reason WhyNotCovered(const Scope& scope, int block, const Buffer& buffer);

// Region cover of all that the block declares to read, so that none of its
// regions lies outside of the buffer.
Reason WhyNotAllCovered(const Scope& scope, int block);

// Whether all that the block at the end of the path reads of `buffer`, as it
// declares, was written before: judged in the innermost scope around it where
// an earlier block writes the buffer. For buffers that the function allocates;
// its arguments hold values from the start.
Reason WhyNotHeld(const Path& block, const Buffer& buffer);

// Stage pipeline: every block is covered, nothing is overwritten after it is
// read, and there are only loops and blocks in the scope.
Reason WhyNotStagePipeline(const Scope& scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_COVER_H_
