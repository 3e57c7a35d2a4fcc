// Two products with rows between them, as attention has: the second reads rows
// that a chain makes of those of the first.
//
//   S[h, i, j] += Q[h, i, k] * K[h, k, j]
//   P[h, i, j] = softmax(S)[h, i, j]        the chain
//   Y[i, h, v] += P[h, i, j] * V[j, h, v]
#ifndef KILN_SEARCH_SPACE_RULE_CHAINED_PRODUCTS_H_
#define KILN_SEARCH_SPACE_RULE_CHAINED_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/row_chain.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {

// Rows at a time, or twice as many: the rows of register tiles divide them.
inline constexpr int64_t kLeastRowsAtATime = 12;

struct ChainedProducts {
  BlockInfo product;  // Y
  // The axes of the product that move through the dimensions of rows which
  // have several, the dimensions in order: h, i.
  std::vector<int> row_axes;
  RowChain chain;
  BlockInfo first;            // S
  int64_t element_bytes = 4;  // of the rows

  // The axes of the first product that do: h, i.
  std::vector<int> FirstRowAxes() const;
};

// The ones that end with the block `name`; nullopt where it is no such product,
// there are few rows, or others read them, too.
std::optional<ChainedProducts> FindChainedProducts(const Function& f,
                                                   const std::string& name);

// How many rows at a time are worth trying, one or two numbers, the smaller one
// first.
std::vector<int64_t> RowsAtATime(const ChainedProducts& products,
                                 const RuleContext& context);

// Ways to tile a product whose rows come a few at a time: all of them for some
// columns, then for the next ones.
std::vector<TilingChoice> FewRowChoices(const BlockInfo& info,
                                        const RuleContext& context);

// The one with the number `way`, or the last; kFailedPrecondition for none.
absl::StatusOr<TilingChoice> FewRowChoice(const BlockInfo& info, size_t way,
                                          const RuleContext& context);

// The nest of a product inside of `around` loops, which leave `height`
// iterations of the last row axis, and one of the others.
absl::StatusOr<RegisterNest> TileFewRows(Schedule sch, BlockInfo info,
                                         const std::vector<int>& row_axes,
                                         int64_t height,
                                         const TilingChoice& choice,
                                         size_t around,
                                         const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_CHAINED_PRODUCTS_H_
