// The mean of each channel of an image sums up rows that lie one behind the
// other, which are too short for vectors, or are no whole ones:
//
//   C[c] += A[c, h, w]     7 x 7
//     ->
//   C[c] += A[c, v // 7, v % 7]     49, in vectors of 16 and one more
//
// Neighbouring reductions become one where all that the block reads lies along
// them without a gap, or stands still. So do those over whole rows of an image
// whose channels lie side by side, if nothing else is read:
//
//   C[c] += A[h, w, c]     ->     C[c] += A[v // 7, v % 7, c]
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/merged_axes.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

bool IsOneRow(const BlockInfo& info, const ReadInfo& read, size_t outer) {
  const auto &far = read.strides[outer], &near = read.strides[outer + 1];
  if (!far || !near) return false;
  const bool stands_still = *far == 0 && *near == 0;
  const bool has_rows = *near == 1 || (*near > 1 && info.reads.size() == 1);
  return stands_still ||
         (has_rows &&
          *far == *near * static_cast<double>(info.axes[outer + 1].extent));
}

bool GoesOn(const BlockInfo& info, size_t outer) {
  const AxisInfo &a = info.axes[outer], &b = info.axes[outer + 1];
  return a.reduce && b.reduce && a.extent > 1 && b.extent > 1 &&
         absl::c_all_of(info.reads, [&](const ReadInfo& read) {
           return IsOneRow(info, read, outer);
         });
}

// (.., outer, inner, ..) -> (.., outer * extent + inner, ..)
absl::StatusOr<Schedule> Merge(Schedule sch, const BlockInfo& info,
                               size_t outer, const RuleContext& context) {
  const std::string function = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  MergedAxes merged(info.axes.size(), false);
  merged[outer + 1] = true;
  KILN_RETURN_IF_ERROR(
      sch.TransformBlockLayout(block, MergeAxes(ExtentsOf(info), merged)));
  return sch;
}

}  // namespace

std::vector<Schedule> MergeReductions(const Schedule& sch,
                                      const std::string& block,
                                      const RuleContext& context) {
  Schedule merged = sch;
  bool is_merged = false;
  while (true) {
    const auto info = DescribeBlock(FunctionOf(merged, context), block);
    if (!info || info->has_condition || info->reads.empty()) break;
    // From the inside, so that three become one.
    size_t outer = info->axes.size() < 2 ? 0 : info->axes.size() - 1;
    while (outer > 0 && !GoesOn(*info, outer - 1)) --outer;
    if (outer == 0) break;
    std::vector<Schedule> made =
        OnlyWay(Merge(merged, *info, outer - 1, context), context);
    if (made.empty()) break;
    merged = std::move(made[0]);
    is_merged = true;
  }
  if (!is_merged) return {};
  return {std::move(merged)};
}

}  // namespace kiln
