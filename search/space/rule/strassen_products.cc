// Large products of matrices in seven eighths of the operations, or in seven
// eighths of that, where the function allows normwise errors.
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int kLevels = 2;
// Below, sums of quadrants take longer than a product of them.
constexpr int64_t kLeastHalf = 32;      // rows, columns
constexpr int64_t kLeastHalfSum = 128;  // terms

// Positions of the row, the column and the sum; -1: none.
struct Axes {
  int row = -1, column = -1, sum = -1;
};

// The longer of two axes that have halves.
void Prefer(const BlockInfo& info, int axis, int64_t least, int* best) {
  const int64_t extent = info.axes[axis].extent;
  if (extent % 2 != 0 || extent / 2 < least) return;
  if (*best < 0 || extent > info.axes[*best].extent) *best = axis;
}

std::optional<Axes> ChooseAxes(const BlockInfo& info) {
  if (info.reads.size() != 2 || !info.has_init) return std::nullopt;
  Axes axes;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const bool left = info.reads[0].Uses(i), right = info.reads[1].Uses(i);
    if (info.axes[i].reduce) {
      if (left && right) Prefer(info, i, kLeastHalfSum, &axes.sum);
    } else if (left != right && info.axes[i].write_dim >= 0) {
      Prefer(info, i, kLeastHalf, left ? &axes.row : &axes.column);
    }
  }
  if (axes.row < 0 || axes.column < 0 || axes.sum < 0) return std::nullopt;
  return axes;
}

absl::StatusOr<Schedule> HalveOnce(Schedule sch, const std::string& block,
                                   const Axes& axes,
                                   const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv rv,
                        sch.GetBlock(block, FunctionOf(sch, context).name));
  KILN_RETURN_IF_ERROR(sch.Strassen(rv, {axes.row, axes.column, axes.sum}));
  KILN_RETURN_IF_ERROR(PrepareConstants(&sch, rv, context));
  return sch;
}

}  // namespace

std::vector<Schedule> StrassenProducts(const Schedule& sch,
                                       const std::string& block,
                                       const RuleContext& context) {
  if (!AllowsNormwise(FunctionOf(sch, context))) return {};
  std::vector<Schedule> made = {sch};
  for (int level = 0; level < kLevels; ++level) {
    const auto info = DescribeBlock(FunctionOf(made.back(), context), block);
    const std::optional<Axes> axes = info ? ChooseAxes(*info) : std::nullopt;
    if (!axes) break;
    absl::StatusOr<Schedule> halved =
        HalveOnce(made.back(), block, *axes, context);
    if (!halved.ok()) {
      context.GaveUp(level == 0 ? "halved once" : "halved twice",
                     halved.status());
      break;
    }
    made.push_back(*std::move(halved));
  }
  return made.size() > 1 ? made : std::vector<Schedule>();
}

}  // namespace kiln
