// The schedule rules. A rule is a file of its own and, here, what it is for and
// its row.
#ifndef KILN_SEARCH_SPACE_RULE_RULES_H_
#define KILN_SEARCH_SPACE_RULE_RULES_H_

#include "kiln/search/space/rule/rule.h"

namespace kiln {

// Depthwise convolutions of what a product makes: some rows of some channels of
// both at a time.
RuleFunction StripFusion;
// Elementwise blocks go into their consumers. Padding, which costs something at
// each use, may also stay; transposes of what is summed up do.
RuleFunction AutoInline;
// Large products of matrices by fewer operations, where errors may be normwise.
RuleFunction StrassenProducts;
// Sums over outputs with too few contiguous elements for a vector get more.
RuleFunction PadColumns;
// Sums of elements that stand apart by zeros, as transposed convolutions have
// them: outputs and taps by their remainders, so that zeros cost nothing.
RuleFunction Polyphase;
// Products of narrow numbers as tiles of matrices, where there are instructions
// for them.
RuleFunction MatrixTiles;
// Products of bytes with one sign or none, by instructions for both.
RuleFunction OffsetOperands;
// Products of operands that both lie along the sum, as a dense layer's weights
// do: one of them transposed first, where each element is used often.
RuleFunction TransposeOperands;
// Products of rows that are made of those of other products, as attention has
// them: some rows of all of it at a time.
RuleFunction ProductChains;
// Narrow operands that are used often, made wide before.
RuleFunction WideOperands;
// Sums of products for outputs too narrow for vectors: vectors run along what
// is summed up.
RuleFunction SkinnyDot;
// Rows that are summed up, and what is computed for them before and after:
// everything for a row at once, the sums in vectors, rows in parallel.
RuleFunction RowReductions;
// Long reductions to few results: parts of them in parallel, in vectors.
RuleFunction SplitReduction;
// Products of a few rows with a matrix that waits in the caches of all cores,
// and sums of columns: each core sums up whole rows.
RuleFunction SplitSums;
// Reductions to several values at once, such as the index and the value of the
// largest element: rows or parts of them in parallel, in vectors.
RuleFunction TupleReductions;
// Sums of what came before: rows side by side, or columns in vectors.
RuleFunction Scans;
// Blocks with several ordered iterators, as of sorting: the loops around these
// in parallel.
RuleFunction OrderedBlocks;
// Channels of a grouped convolution whose groups are no whole vectors: an axis
// for groups, and one for the channels of each.
RuleFunction SplitGroups;
// Neighbouring axes of an image or a batch become one where a sum treats them
// alike, as a 1x1 convolution does.
RuleFunction MergeAxes;
// Columns too few for a vector, with those before them.
RuleFunction MergeColumns;
// Reductions whose results lie along an axis that no operand lies along: the
// results, which are fewer, are transposed.
RuleFunction TransposeResults;
// Axes of reductions that are named in another order than memory has.
RuleFunction OrderAxes;
// Neighbouring reductions along rows that lie one behind the other become one.
RuleFunction MergeReductions;
// Sums of a few columns, of which several rows fill whole vectors.
RuleFunction RowGroups;
// Sums over groups of a few neighbouring elements, and of others.
RuleFunction ColumnGroups;
// Products of few rows with a large matrix, which is read as it lies in memory.
RuleFunction RowStreaming;
// Reductions over an output with a contiguous axis: a register tile inside
// cache blocks, an operand packed or not, the consumer done on the tile.
RuleFunction RegisterTiling;
// Operands that are transposed for each of many products may be so just before
// each.
RuleFunction NearTransposes;
// Operands that are made wide become so just before they are used.
RuleFunction NearCopies;
// What is left at the root: spatial loops in parallel, the last in vectors.
RuleFunction ParallelizeVectorize;

// In the order in which they are asked.
inline constexpr ScheduleRule kScheduleRules[] = {
    {"strip-fusion", RuleTarget::kCpu, StripFusion},
    {"auto-inline", RuleTarget::kCpu, AutoInline},
    {"merge-columns", RuleTarget::kCpu, MergeColumns},
    {"transpose-results", RuleTarget::kCpu, TransposeResults},
    {"order-axes", RuleTarget::kCpu, OrderAxes},
    {"merge-reductions", RuleTarget::kCpu, MergeReductions},
    {"row-groups", RuleTarget::kCpu, RowGroups},
    {"column-groups", RuleTarget::kCpu, ColumnGroups},
    {"strassen-products", RuleTarget::kCpu, StrassenProducts},
    {"pad-columns", RuleTarget::kCpu, PadColumns},
    {"polyphase", RuleTarget::kCpu, Polyphase},
    {"matrix-tiles", RuleTarget::kCpu, MatrixTiles},
    {"offset-operands", RuleTarget::kCpu, OffsetOperands},
    {"transpose-operands", RuleTarget::kCpu, TransposeOperands},
    {"product-chains", RuleTarget::kCpu, ProductChains},
    {"wide-operands", RuleTarget::kCpu, WideOperands},
    {"skinny-dot", RuleTarget::kCpu, SkinnyDot},
    {"row-reductions", RuleTarget::kCpu, RowReductions},
    {"split-reduction", RuleTarget::kCpu, SplitReduction},
    {"tuple-reductions", RuleTarget::kCpu, TupleReductions},
    {"scans", RuleTarget::kCpu, Scans},
    {"ordered-blocks", RuleTarget::kCpu, OrderedBlocks},
    {"split-groups", RuleTarget::kCpu, SplitGroups},
    {"merge-axes", RuleTarget::kCpu, MergeAxes},
    {"split-sums", RuleTarget::kCpu, SplitSums},
    {"row-streaming", RuleTarget::kCpu, RowStreaming},
    {"register-tiling", RuleTarget::kCpu, RegisterTiling},
    {"near-transposes", RuleTarget::kCpu, NearTransposes},
    {"near-copies", RuleTarget::kCpu, NearCopies},
    {"parallelize-vectorize", RuleTarget::kCpu, ParallelizeVectorize},
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RULES_H_
