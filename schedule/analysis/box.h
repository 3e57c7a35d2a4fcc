// What a block touches of a buffer while some of its loops run: the hull, and
// whether all of it is written. A hull stands for what is written only where no
// point of it is missed.
#ifndef KILN_SCHEDULE_ANALYSIS_BOX_H_
#define KILN_SCHEDULE_ANALYSIS_BOX_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// The loops of the block from `depth` on.
std::vector<const ForNode*> LoopsFrom(const ScopeBlock& block, size_t depth);

// Whether the region depends on the loop.
bool MovesAny(const ForNode& loop, const std::vector<Range>& region);

// The region of one instance of a block, in terms of loop variables.
std::vector<Range> InLoopVariables(const ScopeBlock& block,
                                   const BufferRegion& region);

// What instances of a block touch of one buffer while the loops from `depth`
// on (0: all that stand between the block and its scope) run and the outer
// ones stand still. Bounds use variables of the outer loops.
std::vector<IntSet> TouchedBox(const ScopeBlock& block,
                               const BufferRegion& region, size_t depth,
                               Analyzer* analyzer);

// The same where no one part of the predicate is the tighter for all outer
// iterations: bounds are minima and maxima of those that each part makes.
std::vector<IntSet> TouchedBoxByConjuncts(const ScopeBlock& block,
                                          const BufferRegion& region,
                                          size_t depth, Analyzer* analyzer);

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

// The region with quotients and remainders taken of what the loops run through:
// (i*16 + j) // 16 is i for j in [0, 16). nullopt where there are none.
std::optional<std::vector<Range>> WithoutQuotients(
    const std::vector<Range>& region, const std::vector<const ForNode*>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_BOX_H_
