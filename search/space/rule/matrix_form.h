// A sum of products as a product of matrices whose sizes are multiples.
#ifndef KILN_SEARCH_SPACE_RULE_MATRIX_FORM_H_
#define KILN_SEARCH_SPACE_RULE_MATRIX_FORM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// Axes of a block by what they move: both operands, one of them, or, of those
// that are summed up, no sum. The columns' operand moves along the axis that is
// contiguous in the output.
struct MatrixAxes {
  std::vector<int> batch, rows, columns, steps;
  // Steps outside of `steps`, which are a matrix of their own each.
  std::vector<int> outer_steps;
  ReadInfo row_operand, column_operand;
};

// nullopt where the block is no product of two operands with rows, columns and
// steps.
std::optional<MatrixAxes> MatrixAxesOf(const BlockInfo& info);

// The innermost of the steps through which the rows' operand is contiguous: of
// a window in a channels-last image, its columns and channels. Empty where
// there are none.
std::vector<int> ContiguousSteps(const BlockInfo& info, const MatrixAxes& axes);

// With steps outside of the last `inner` ones as outer steps.
MatrixAxes WithOuterSteps(MatrixAxes axes, size_t inner);

// Iterations of the axes together.
int64_t ExtentOf(const BlockInfo& info, const std::vector<int>& axes);

// What rows, columns and steps are rounded up to.
struct MatrixPadding {
  int64_t rows = 1, columns = 1, steps = 1;
};

// Blocks of a product: sums[b.., m, n] += rows[b.., m, k] * columns[b.., n, k],
// of any number of axes b and one each of the others; with outer steps,
// rows[b.., m, o, k] * columns[b.., n, o, k].
struct MatrixForm {
  Rv product;
  Rv rows, columns;  // copy the operands, with zeros for padding
  Rv result;         // copies the sums to their places, or what becomes of them
};

// Gives `block`, which is `info`, that form.
absl::StatusOr<MatrixForm> ToMatrixForm(Schedule* sch, Rv block,
                                        const BlockInfo& info,
                                        const MatrixAxes& axes,
                                        const MatrixPadding& padding,
                                        const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_MATRIX_FORM_H_
