// Three channels of output, for one, make no vector; four do. Where rows of
// them lie one behind the other in all operands, several rows do
// (merge_axes.cc).
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/skinny_dot.h"

namespace kiln {
namespace {

constexpr int64_t kLeastVector = 4;  // lanes

// The block without the group c // 3 of its only group, which padding would
// make two.
absl::Status SimplifyIndices(Schedule* sch, Rv block, size_t axes) {
  IndexMap same;
  for (size_t i = 0; i < axes; ++i) {
    same.inputs.push_back(Var("d" + std::to_string(i)));
    same.outputs.push_back(same.inputs.back());
  }
  return sch->TransformBlockLayout(block, same);
}

// Whether the column and the axis before it will be one.
bool IsPartOfRow(const BlockInfo& info, int column) {
  return column > 0 && !info.axes[column - 1].reduce &&
         info.axes[column - 1].extent > 1 && info.GoesOn(column - 1, column);
}

absl::StatusOr<Schedule> Pad(Schedule sch, const BlockInfo& info, int column,
                             const std::string& function) {
  std::vector<int64_t> padding(info.axes.size(), 1);
  padding[column] = kLeastVector;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  if (sch.PadEinsum(block, padding).ok()) return sch;
  KILN_RETURN_IF_ERROR(SimplifyIndices(&sch, block, info.axes.size()));
  KILN_RETURN_IF_ERROR(sch.PadEinsum(block, padding));
  return sch;
}

}  // namespace

std::vector<Schedule> PadColumns(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init || info->ReducesContiguously()) return {};
  const int column = info->ContiguousAxis();
  if (column < 0 || info->CountReduce() == 0) return {};
  const int64_t extent = info->axes[column].extent;
  if (extent < 2 || extent >= kLeastVector || IsPartOfRow(*info, column)) {
    return {};
  }
  std::vector<Schedule> made =
      OnlyWay(Pad(sch, *info, column, f.name), context);
  if (!made.empty() && SuitsSkinnyDot(*info, context.registers.Floats())) {
    made.push_back(sch);
  }
  return made;
}

}  // namespace kiln
