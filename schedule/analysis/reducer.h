// What a reduction block combines, and how.
#ifndef KILN_SCHEDULE_ANALYSIS_REDUCER_H_
#define KILN_SCHEDULE_ANALYSIS_REDUCER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// One instance of a block sets, for all i at once,
//
//   buffers[i][indices] = combined_i(buffers[...][indices], operands)
//
// where the values combined so far are `left` and the operands `right` in
// `combined`. The init sets buffers[i][indices] = initial[i].
struct Reducer {
  std::vector<Buffer> buffers;
  std::vector<Expr> indices;
  std::vector<Expr> initial;
  std::vector<Expr> operands;
  std::vector<Var> left, right;
  std::vector<Expr> combined;  // over `left` and `right`
  // combined_i of `left` and the operands, as the block spells it.
  std::vector<Expr> updates;
  // The first of several equal values wins, so that operands have to be
  // combined in their order.
  bool keeps_first = false;
  // Of argmin and argmax: which value is the index, and `combined` where of
  // equal values the one of lower index wins. That is the first one where
  // indices never fall in the order of combining and begin with the least.
  std::optional<size_t> index;
  std::vector<Expr> lower_index_wins;

  // combined_i of values and operands.
  std::vector<Expr> Combine(const std::vector<Expr>& values,
                            const std::vector<Expr>& with) const;
};

// Recognizes sums, products, minima and maxima, several of them side by side,
// and the pairs (index, value) of argmin and argmax with and without a rule
// for equal values, as choices between values or as stores under an `if`. All
// are associative, and combining initial values in again changes nothing (of
// comparisons, as long as no operand is NaN). FailedPrecondition, with the
// reason alone, for other blocks.
absl::StatusOr<Reducer> MatchReducer(const BlockNode& block);

// Whether the order in which the block combines values decides no more than how
// results are rounded: not where the last one wins, or the first of equal ones.
bool CombinesAtWill(const BlockNode& block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_REDUCER_H_
