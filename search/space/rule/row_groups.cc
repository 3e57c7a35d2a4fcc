// Columns that end within a vector waste the rest of it, and rows of a few
// elements are added up one vector after the other. Where rows follow without
// gaps, several of them fill whole vectors:
//
//   C[c] += A[k, c]                          k in 20000, c in 3
//     ->
//   C_rf[v] += A[k0*32 + v // 3, v % 3]      k0 in 625, v in 96: 6 vectors
//   C[c] += C_rf[k1*3 + c]                   k1 in 32
//
// One core of a Xeon takes 2 us instead of 21.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/merged_axes.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Vectors of sums that a tile holds: enough for an addition to wait for none,
// and to be held in registers.
constexpr int64_t kLeastVectors = 4;
constexpr int64_t kMostVectors = 20;
// Steps of the sum for each of its groups of rows, which are added up in the
// end, element by element.
constexpr int64_t kLeastSteps = 16;

// Whether all that moves with `column` or `reduce` goes on from one row of the
// columns to the next as inside of a row.
bool RowsFollow(const BlockInfo& info, int column, int reduce) {
  const auto extent = static_cast<double>(info.axes[column].extent);
  return !info.reads.empty() &&
         absl::c_all_of(info.reads,
                        [&](const ReadInfo& read) {
                          return (read.strides[column] == 1.0 &&
                                  read.strides[reduce] == extent) ||
                                 (!read.Uses(column) && !read.Uses(reduce));
                        }) &&
         absl::c_any_of(info.reads, [&](const ReadInfo& read) {
           return read.Uses(column);
         });
}

// How many rows of `columns` elements fill whole vectors, a few of them, and
// divide the `extent` of the sum, if any do; 0: none.
int64_t RowsOf(int64_t columns, int64_t extent, int64_t lanes) {
  if (columns % lanes == 0) return 0;
  const int64_t rows = lanes / std::gcd(columns, lanes);
  const int64_t vectors = rows * columns / lanes;
  const int64_t most =
      std::min(kMostVectors / vectors, extent / (rows * kLeastSteps));
  const int64_t least = (kLeastVectors + vectors - 1) / vectors;
  for (int64_t n = least; n <= most; ++n) {
    if (extent % (n * rows) == 0) return n * rows;
  }
  return std::min(least, most) * rows;
}

// The axes of such a sum, and how many of its rows make a group.
struct Groups {
  int column, reduce;
  int64_t rows;
};

std::optional<Groups> FindGroups(const BlockInfo& info, int64_t lanes) {
  const int column = info.ContiguousAxis();
  const int reduce = static_cast<int>(info.axes.size()) - 1;
  if (!info.has_init || info.has_condition || column < 0 ||
      info.CountReduce() != 1 || !info.axes[reduce].reduce ||
      info.axes[column].write_dim != info.write_dims - 1 ||
      !RowsFollow(info, column, reduce)) {
    return std::nullopt;
  }
  const int64_t rows =
      RowsOf(info.axes[column].extent, info.axes[reduce].extent, lanes);
  if (rows == 0) return std::nullopt;
  return Groups{column, reduce, rows};
}

absl::StatusOr<Schedule> GroupRows(Schedule sch, const BlockInfo& info,
                                   const Groups& groups,
                                   const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> steps,
                        sch.Split(loops[groups.reduce], {Arg(), groups.rows}));
  KILN_ASSIGN_OR_RETURN(const Rv sums,
                        sch.Rfactor(steps[1], info.write_dims - 1));
  const int64_t columns = info.axes[groups.column].extent;
  KILN_RETURN_IF_ERROR(sch.TransformBlockLayout(
      sums, MergeFactor(static_cast<int>(info.axes.size()), groups.column,
                        columns, FactorPlace::kOutside)));
  KILN_RETURN_IF_ERROR(
      sch.TransformLayout(sums, Schedule::Side::kWrite, 0,
                          MergeLastDims(info.write_dims + 1, columns)));
  return sch;
}

}  // namespace

std::vector<Schedule> RowGroups(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info) return {};
  const int bytes = NodeOf(f, block).writes[0].buffer->dtype.bytes();
  const auto groups = FindGroups(*info, context.registers.bytes / bytes);
  if (!groups) return {};
  return OnlyWay(GroupRows(sch, *info, *groups, context), context);
}

}  // namespace kiln
