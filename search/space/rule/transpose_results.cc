// A reduction whose results lie along an axis that no operand lies along:
//
//   C[i, j, b] += A[b, i, k] * B[b, k, j]
//     →
//   T[b, i, j] += A[b, i, k] * B[b, k, j]
//   C[i, j, b] = T[b, i, j]
//
// Vectors along b would gather their lanes, one by one, for each step of the
// sum; those along j, which B lies along, read B as it is. The result, which
// has no steps, is transposed in squares. 20 batches of 30 x 50, sums of 40,
// take 697 us without, and so do sums of images whose results are transposed.
//
// It also serves results in rows too short for vectors, where another axis is
// long: C[j, i] += A[i, k] * B[k, j] of 5 rows and 1000 columns.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int64_t kLeastSteps = 8;
// A vector's rows and more make up for the pass over the results.
constexpr int64_t kLeastColumns = 16;

bool IsFar(const ReadInfo& read, int axis) {
  const auto& step = read.strides[axis];
  return !step || std::abs(*step) > kMostLaneStep;
}

// Operands that vectors along the axis would gather.
std::vector<ReadInfo> FarAlong(const BlockInfo& info, int axis) {
  std::vector<ReadInfo> far;
  absl::c_copy_if(info.reads, std::back_inserter(far),
                  [&](const ReadInfo& read) {
                    return read.Uses(axis) && IsFar(read, axis);
                  });
  return far;
}

bool SomeLiesAlong(const BlockInfo& info, int axis) {
  return absl::c_any_of(info.reads, [&](const ReadInfo& read) {
    return read.Uses(axis) && read.LiesAlong(axis);
  });
}

// The axis for vectors instead of `column`: one that an operand lies along and
// that none has to be gathered for; -1: none.
int BetterColumn(const BlockInfo& info, int column) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const AxisInfo& axis = info.axes[i];
    if (i == column || axis.reduce || axis.extent < kLeastColumns ||
        !SomeLiesAlong(info, i) || !FarAlong(info, i).empty()) {
      continue;
    }
    if (best < 0 || axis.extent > info.axes[best].extent) best = i;
  }
  return best;
}

// Whether to transpose the results is less work than what else there is: to
// transpose one operand, to gather several, or to do with short rows.
bool IsWorth(const BlockInfo& info, int column) {
  const std::vector<ReadInfo> far = FarAlong(info, column);
  if (far.size() > 1) return true;
  if (info.axes[column].extent < kLeastColumns &&
      !SomeLiesAlong(info, column)) {
    return true;
  }
  return !far.empty() &&
         2 * static_cast<double>(info.SpatialSize()) < far[0].elements;
}

// The axis that becomes the last one of the results; -1: they stay.
int NewColumn(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0 || info.CountReduce() == 0 || !info.has_init ||
      info.ReduceSize() < kLeastSteps || !IsWorth(info, column)) {
    return -1;
  }
  return BetterColumn(info, column);
}

// The results with the axis `first` before all others, and `last` behind.
IndexMap MapOf(const BlockInfo& info, int first, int last) {
  IndexMap map;
  for (int d = 0; d < info.write_dims; ++d) {
    map.inputs.emplace_back("d" + std::to_string(d));
  }
  const int front = info.axes[first].write_dim;
  const int back = info.axes[last].write_dim;
  map.outputs.push_back(map.inputs[front]);
  for (int d = 0; d < info.write_dims; ++d) {
    if (d != front && d != back) map.outputs.push_back(map.inputs[d]);
  }
  map.outputs.push_back(map.inputs[back]);
  return map;
}

absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   int last, const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_ASSIGN_OR_RETURN(const Rv copy, sch.CacheWrite(block, 0, "global"));
  KILN_RETURN_IF_ERROR(
      sch.TransformLayout(block, Schedule::Side::kWrite, 0,
                          MapOf(info, info.ContiguousAxis(), last)));
  KILN_RETURN_IF_ERROR(FinishInCopy(&sch, copy, context));
  return sch;
}

}  // namespace

std::vector<Schedule> TransposeResults(const Schedule& sch,
                                       const std::string& block,
                                       const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info) return {};
  const int last = NewColumn(*info);
  if (last < 0 || info->axes[last].write_dim < 0) return {};
  return OnlyWay(Transpose(sch, *info, last, context), context);
}

}  // namespace kiln
