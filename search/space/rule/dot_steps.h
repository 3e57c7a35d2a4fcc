// Sums of products of narrow numbers, of which an instruction takes several
// steps at a time (VectorRegisters::dots).
#ifndef KILN_SEARCH_SPACE_RULE_DOT_STEPS_H_
#define KILN_SEARCH_SPACE_RULE_DOT_STEPS_H_

#include <optional>

#include "kiln/base/machine.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {

// The product that the block adds up, where it is one of narrow numbers.
std::optional<NarrowProduct> NarrowSumOf(const BlockNode& block);

// Steps of the innermost reduction for each instruction: 4 or 2; 1 where none
// takes more, or where operands do not lie side by side for it. One operand has
// neighbouring elements for neighbouring steps, the other is one to be packed.
int DotSteps(const BlockInfo& info, const BlockNode& block,
             const TileAxes& axes, const VectorRegisters& registers);

// Steps that an instruction takes of bytes, those of one factor with a sign and
// those of the other without.
inline constexpr int kBytesOfDot = 4;

// Of a product of bytes that both have a sign or both have none, the operand
// with neighbouring elements for neighbouring steps, where it would lie for
// such an instruction and elements of the other are used `least_uses` times.
std::optional<ReadInfo> RowsOfLikeBytes(const BlockInfo& info,
                                        const BlockNode& block,
                                        const TileAxes& axes,
                                        double least_uses);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_DOT_STEPS_H_
