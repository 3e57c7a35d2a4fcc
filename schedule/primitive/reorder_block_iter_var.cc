#include "kiln/schedule/primitive/reorder_block_iter_var.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr char kName[] = "reorder_block_iter_var";

bool IsPermutation(const std::vector<int64_t>& order, size_t count) {
  std::vector<bool> seen(count, false);
  for (int64_t number : order) {
    if (number < 0 || number >= static_cast<int64_t>(count)) return false;
    if (seen[number]) return false;
    seen[number] = true;
  }
  return order.size() == count;
}

}  // namespace

absl::StatusOr<Function> ReorderBlockIterVar(
    const Function& f, BlockId block, const std::vector<int64_t>& new_order) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kName));
  const BlockRealizeNode& realize = *path.realize();
  const std::vector<IterVar>& iters = realize.block->iters;
  if (!IsPermutation(new_order, iters.size())) {
    return BadArgument(kName,
                       absl::StrCat("[", absl::StrJoin(new_order, ", "),
                                    "] is no order of the ", iters.size(),
                                    " iterators of ", Describe(*realize.block)),
                       "name each of them once, by its number from 0");
  }
  BlockFields fields = realize.block->fields();
  std::vector<Expr> values = realize.values;
  for (size_t i = 0; i < new_order.size(); ++i) {
    fields.iters[i] = iters[new_order[i]];
    values[i] = realize.values[new_order[i]];
  }
  return ReplaceAt(f, path,
                   MakeRealize(std::move(values), realize.predicate,
                               MakeBlock(std::move(fields))));
}

}  // namespace kiln
