// A dense layer keeps its weights as rows of outputs, so that both operands lie
// along the sum and neither along the output. Vectors along the output want
// one of them transposed, which pays where each element is used often, or sums
// are short and it is a constant:
//
//   C[i, j] += A[i, k] * W[j, k]    →    T[k, j] = W[j, k]
//                                        C[i, j] += A[i, k] * T[k, j]
//
// The rules after this one see a product like any other, and a transpose.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int64_t kLeastRows = 4;  // that use each element
constexpr int64_t kLeastColumns = 8;
// Steps of a sum up to which to add up the lanes takes longer than the sum.
constexpr int64_t kShortSum = 128;

// Of a product whose operands lie along the sum, the one that the columns of
// the output index.
struct Transposed {
  ReadInfo operand;
  int column = -1, sum = -1;  // axes
};

// How often each element of the operand is used.
int64_t RowsOver(const BlockInfo& info, const ReadInfo& operand) {
  int64_t rows = 1;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (!info.axes[i].reduce && !operand.Uses(static_cast<int>(i))) {
      rows *= info.axes[i].extent;
    }
  }
  return rows;
}

std::optional<Transposed> FindOperand(const BlockInfo& info) {
  Transposed found;
  found.column = info.ContiguousAxis();
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (info.axes[i].reduce) found.sum = static_cast<int>(i);
  }
  if (found.column < 0 || found.sum < 0 ||
      info.axes[found.column].extent < kLeastColumns) {
    return std::nullopt;
  }
  const bool is_short = info.ReduceSize() <= kShortSum;
  for (const ReadInfo& read : info.reads) {
    if (read.Uses(found.column) && read.Uses(found.sum) &&
        (RowsOver(info, read) >= kLeastRows ||
         (read.layout_free && is_short))) {
      found.operand = read;
      return found;
    }
  }
  return std::nullopt;
}

// The dimension of the operand that the axis indexes alone.
absl::StatusOr<int> DimOf(const BlockNode& block, int read, int axis) {
  const auto& region = block.reads[read].region;
  const auto found = absl::c_find_if(region, [&](const Range& range) {
    return range.min.get() == block.iters[axis].var.get();
  });
  if (found != region.end()) return static_cast<int>(found - region.begin());
  return absl::FailedPreconditionError("no dimension to move");
}

// The dimensions of the operand with the sum's, then the column's, at the end.
absl::StatusOr<IndexMap> MapOf(const BlockNode& block, const Transposed& t) {
  KILN_ASSIGN_OR_RETURN(const int column,
                        DimOf(block, t.operand.index, t.column));
  KILN_ASSIGN_OR_RETURN(const int sum, DimOf(block, t.operand.index, t.sum));
  IndexMap map;
  for (int d = 0; d < t.operand.dims(); ++d) {
    map.inputs.push_back(Var("d" + std::to_string(d)));
    if (d != column && d != sum) map.outputs.push_back(map.inputs.back());
  }
  map.outputs.push_back(map.inputs[sum]);
  map.outputs.push_back(map.inputs[column]);
  return map;
}

absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   const Transposed& t,
                                   const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, f.name));
  const std::optional<Path> path = FindBlock(f, sch.Value(block));
  KILN_ASSIGN_OR_RETURN(const IndexMap map, MapOf(*path->realize()->block, t));
  KILN_ASSIGN_OR_RETURN(const Rv copy,
                        sch.CacheRead(block, t.operand.index, "global"));
  KILN_RETURN_IF_ERROR(
      sch.TransformLayout(copy, Schedule::Side::kWrite, 0, map));
  if (t.operand.layout_free) {
    KILN_RETURN_IF_ERROR(sch.Annotate(copy, kLayoutPreparation, true));
  }
  return sch;
}

}  // namespace

std::vector<Schedule> TransposeOperands(const Schedule& sch,
                                        const std::string& block,
                                        const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->ReducesContiguously()) return {};
  const auto operand = FindOperand(*info);
  if (!operand) return {};
  std::vector<Schedule> made =
      OnlyWay(Transpose(sch, *info, *operand, context), context);
  if (!made.empty()) made.push_back(sch);  // for vectors along the sum
  return made;
}

}  // namespace kiln
