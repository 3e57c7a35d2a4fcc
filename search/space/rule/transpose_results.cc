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
// It also serves results in rows too short for vectors, where other axes are
// long: C[j, i] += A[i, k] * B[k, j] of 5 rows and 1000 columns. Of the axes
// that only one operand moves with, all become the last ones, in its order:
//
//   C[e, a, d] += A[a, f] * B[f, e, d]    →    T[a, e, d] += ...
//
// Where all operands lie along one axis, that one becomes the last:
//
//   C[b, i] += A[i, k, b] * B[k, b]    →    T[i, b] += ...
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int64_t kLeastSteps = 2;
// A vector's columns and more make up for the pass over the results.
constexpr int64_t kLeastColumns = 16;
// Where vectors would gather their lanes, or rows are still shorter.
constexpr int64_t kFewColumns = 8;
// Of each element of an operand that has to be transposed as well: where
// results are gathered, and where they only are short.
constexpr double kLeastUses = 2, kManyUses = 16;

// Axes of the results that only one operand moves with, in its order; or, where
// it lies along none, with the longest behind.
struct Columns {
  std::vector<int> axes;
  int64_t size = 1;  // of one row: of the last axes that the operand lies along
  bool lies = false;  // along the last one
  double uses = 0;    // of each element of the operand

  // The share of the lanes of a row's vectors that are results.
  double Filled() const {
    const int64_t vectors = (size + kLeastColumns - 1) / kLeastColumns;
    return static_cast<double>(size) /
           static_cast<double>(vectors * kLeastColumns);
  }
};

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

bool IsAlone(const BlockInfo& info, const ReadInfo& operand, int axis) {
  return operand.Uses(axis) && operand.strides[axis] &&
         absl::c_all_of(info.reads, [&](const ReadInfo& read) {
           return read.index == operand.index || !read.Uses(axis);
         });
}

// The last of `axes` side by side in the operand.
int64_t SizeOfRow(const BlockInfo& info, const ReadInfo& operand,
                  const std::vector<int>& axes) {
  int64_t size = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (operand.strides[axes[i]] != static_cast<double>(size)) break;
    size *= info.axes[axes[i]].extent;
  }
  return size;
}

Columns ColumnsOf(const BlockInfo& info, const ReadInfo& operand) {
  Columns columns;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (info.axes[i].write_dim >= 0 && IsAlone(info, operand, i)) {
      columns.axes.push_back(i);
    }
  }
  if (columns.axes.empty()) return columns;
  absl::c_stable_sort(columns.axes, [&](int a, int b) {
    return std::abs(*operand.strides[a]) > std::abs(*operand.strides[b]);
  });
  columns.uses = static_cast<double>(info.SpatialSize() * info.ReduceSize()) /
                 operand.elements;
  columns.lies = operand.strides[columns.axes.back()] == 1.0;
  if (columns.lies) {
    columns.size = SizeOfRow(info, operand, columns.axes);
    return columns;
  }
  const auto longest = absl::c_max_element(columns.axes, [&](int a, int b) {
    return info.axes[a].extent < info.axes[b].extent;
  });
  columns.size = info.axes[*longest].extent;
  std::rotate(longest, longest + 1, columns.axes.end());
  return columns;
}

// The axis along which all operands lie; none: no columns.
Columns SharedColumns(const BlockInfo& info) {
  Columns columns;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (info.axes[i].write_dim >= 0 &&
        absl::c_all_of(info.reads, [&](const ReadInfo& read) {
          return read.Uses(i) && read.LiesAlong(i);
        })) {
      columns.axes = {i};
      columns.size = info.axes[i].extent;
      columns.lies = true;
    }
  }
  return columns;
}

// The best ones for vectors; none where rows have fewer than `least`. Those
// of operands that have to be transposed only where they are used so often.
Columns BestColumns(const BlockInfo& info, int64_t least, double least_uses) {
  Columns best = SharedColumns(info);
  if (best.size < least) best = {};
  for (const ReadInfo& operand : info.reads) {
    const Columns columns = ColumnsOf(info, operand);
    if (columns.size < least || (!columns.lies && columns.uses < least_uses)) {
      continue;
    }
    if (std::tuple(columns.lies, columns.Filled(), columns.size) >
        std::tuple(best.lies, best.Filled(), best.size)) {
      best = columns;
    }
  }
  return best;
}

// Whether vectors along `column` gather more than the results are: several
// operands, or a larger one.
bool Gathers(const BlockInfo& info, int column) {
  const std::vector<ReadInfo> far = FarAlong(info, column);
  return far.size() > 1 ||
         (!far.empty() &&
          2 * static_cast<double>(info.SpatialSize()) < far[0].elements);
}

// The axes that become the last ones of the results; none: they stay.
Columns NewColumns(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0 || info.CountReduce() == 0 || !info.has_init ||
      info.ReduceSize() < kLeastSteps) {
    return {};
  }
  if (Gathers(info, column)) return BestColumns(info, kFewColumns, kLeastUses);
  const int64_t extent = info.axes[column].extent;
  if (extent >= kLeastColumns) return {};
  const int64_t least = std::clamp(2 * extent, kFewColumns, kLeastColumns);
  return BestColumns(info, least,
                     SomeLiesAlong(info, column) ? kManyUses : kLeastUses);
}

// The results with the columns as their last dimensions, those that several
// operands move with as the first ones.
IndexMap MapOf(const BlockInfo& info, const Columns& columns) {
  std::vector<int> order;
  const auto append = [&](bool shared) {
    for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
      const auto users = absl::c_count_if(
          info.reads, [&](const ReadInfo& read) { return read.Uses(i); });
      if (info.axes[i].write_dim >= 0 && (users > 1) == shared &&
          !absl::c_linear_search(columns.axes, i)) {
        order.push_back(i);
      }
    }
  };
  append(true);
  append(false);
  absl::c_copy(columns.axes, std::back_inserter(order));
  IndexMap map;
  for (int d = 0; d < info.write_dims; ++d) {
    map.inputs.emplace_back("d" + std::to_string(d));
  }
  for (const int axis : order) {
    map.outputs.push_back(map.inputs[info.axes[axis].write_dim]);
  }
  return map;
}

absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   const IndexMap& map,
                                   const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_ASSIGN_OR_RETURN(const Rv copy, sch.CacheWrite(block, 0, "global"));
  KILN_RETURN_IF_ERROR(
      sch.TransformLayout(block, Schedule::Side::kWrite, 0, map));
  KILN_RETURN_IF_ERROR(FinishInCopy(&sch, copy, context));
  return sch;
}

}  // namespace

std::vector<Schedule> TransposeResults(const Schedule& sch,
                                       const std::string& block,
                                       const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info) return {};
  const Columns columns = NewColumns(*info);
  if (columns.axes.empty()) return {};
  const IndexMap map = MapOf(*info, columns);
  if (map.outputs.size() != map.inputs.size() || IsIdentity(map)) return {};
  return OnlyWay(Transpose(sch, *info, map, context), context);
}

}  // namespace kiln
