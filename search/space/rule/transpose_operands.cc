// A dense layer keeps its weights as rows of outputs, so that both operands lie
// along the sum and neither along the output. Vectors along the output want
// one of them transposed, which pays where each element is used often, or sums
// are short and it is a constant:
//
//   C[i, j] += A[i, k] * W[j, k]    →    T[k, j] = W[j, k]
//                                        C[i, j] += A[i, k] * T[k, j]
//
// So does any operand whose elements are far apart along the output: images of
// which the channels are last, for an output of which they are first.
//
//   C[c, h, w] += A[h + r, w + s, k] * W[r, s, k, c]
//     →
//   T[h, k, w] = A[h, w, k]
//   C[c, h, w] += T[h + r, k, w + s] * W[r, s, k, c]
//
// Where a large operand lies along the sum, so that vectors had better, a small
// one that does not is transposed too:
//
//   C[j, i] += A[i, j, k] * W[k, j]    →    T[j, k] = W[k, j]
//                                           C[j, i] += A[i, j, k] * T[j, k]
//
// The rules after this one see a product like any other, and a transpose.
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr double kLeastUses = 4;     // of each element
constexpr double kLeastFarUses = 2;  // where vectors cannot lie along the sum
constexpr double kManyUses = 16;     // where lanes are a few elements apart
constexpr int64_t kLeastColumns = 8;
// Of a small operand: elements of the large one for each, and steps.
constexpr double kLeastRatio = 8;
constexpr int64_t kLeastSumSteps = 16;
// Steps of a sum up to which to add up the lanes takes longer than the sum.
constexpr int64_t kShortSum = 128;

// The operand of a product to be transposed, and the axes whose dimensions
// become the last ones; no column: that of the sum alone.
struct Transposed {
  ReadInfo operand;
  int column = -1, sum = -1;  // axes
};

// How often each element of the operand is used.
double Uses(const BlockInfo& info, const ReadInfo& operand) {
  return static_cast<double>(info.SpatialSize() * info.ReduceSize()) /
         operand.elements;
}

// Whether vectors along the columns would load its elements one by one.
bool IsFarApart(const ReadInfo& read, int column) {
  const auto& step = read.strides[column];
  return step && std::abs(*step) > kMostLaneStep;
}

// Whether it goes from one row of the operand's last dimensions to the next.
bool IsAcrossRows(const ReadInfo& read, int axis) {
  double row = 1;
  for (size_t d = read.shape.size(); d-- > 0;) {
    row *= static_cast<double>(read.shape[d]);
    if (row > 1 && read.strides[axis] == row) return true;
  }
  return false;
}

// Whether the operand had better lie along the columns.
bool IsAcross(const BlockInfo& info, const ReadInfo& read, int column) {
  return IsFarApart(read, column) ||
         (IsAcrossRows(read, column) && Uses(info, read) >= kManyUses);
}

// The last reduction that the operand uses; -1: none.
int SumOf(const BlockInfo& info, const ReadInfo& operand) {
  int sum = -1;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (info.axes[i].reduce && operand.Uses(i)) sum = i;
  }
  return sum;
}

std::optional<Transposed> FindOperand(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0 || !info.has_init ||
      info.axes[column].extent < kLeastColumns) {
    return std::nullopt;
  }
  const bool all_along_sum = info.ReducesContiguously();
  const bool is_short = info.ReduceSize() <= kShortSum;
  for (const ReadInfo& read : info.reads) {
    const int sum = SumOf(info, read);
    if (sum < 0 || !read.Uses(column) || read.strides[column] == 1.0) continue;
    if (!all_along_sum && !IsAcross(info, read, column)) continue;
    const double least = all_along_sum ? kLeastUses : kLeastFarUses;
    if (Uses(info, read) >= least || (read.layout_free && is_short)) {
      return Transposed{read, column, sum};
    }
  }
  return std::nullopt;
}

// A small operand that stands across the sum that the largest one lies along,
// across all columns.
std::optional<Transposed> FindSmallOperand(const BlockInfo& info) {
  const auto large =
      absl::c_max_element(info.reads, [](const ReadInfo& a, const ReadInfo& b) {
        return a.elements < b.elements;
      });
  const int column = info.ContiguousAxis();
  if (!info.has_init || large == info.reads.end() || column < 0 ||
      !IsFarApart(*large, column)) {
    return std::nullopt;
  }
  for (int sum = 0; sum < static_cast<int>(info.axes.size()); ++sum) {
    if (!info.axes[sum].reduce || large->strides[sum] != 1.0 ||
        info.axes[sum].extent < kLeastSumSteps) {
      continue;
    }
    for (const ReadInfo& read : info.reads) {
      if (read.Uses(sum) && read.strides[sum] != 1.0 &&
          kLeastRatio * read.elements <= large->elements &&
          Uses(info, read) >= kLeastUses) {
        return Transposed{read, -1, sum};
      }
    }
  }
  return std::nullopt;
}

// The dimensions of the operand whose indices the axis moves, in all of its
// loads: both of A[i, k] * A[j, k] have k in the last one, and merged columns
// may move two, W[v // 3, k, v % 3].
std::set<int> DimsOf(const BlockNode& block, int read, int axis) {
  const Var& var = block.iters[axis].var;
  std::set<int> dims;
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != block.reads[read].buffer) return true;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      if (UsesVar(load->indices[d], var)) dims.insert(static_cast<int>(d));
    }
    return true;
  });
  return dims;
}

// The dimensions of the operand with the sum's, then the column's, at the end.
IndexMap MapOf(const BlockNode& block, const Transposed& t) {
  const std::set<int> sums = DimsOf(block, t.operand.index, t.sum);
  const std::set<int> columns =
      t.column < 0 ? sums : DimsOf(block, t.operand.index, t.column);
  IndexMap map;
  for (int d = 0; d < t.operand.dims(); ++d) {
    map.inputs.push_back(Var("d" + std::to_string(d)));
    if (!columns.contains(d) && !sums.contains(d)) {
      map.outputs.push_back(map.inputs.back());
    }
  }
  for (const int d : sums) {
    if (!columns.contains(d)) map.outputs.push_back(map.inputs[d]);
  }
  for (const int d : columns) map.outputs.push_back(map.inputs[d]);
  return map;
}

absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   const Transposed& t,
                                   const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, f.name));
  const std::optional<Path> path = FindBlock(f, sch.Value(block));
  const IndexMap map = MapOf(*path->realize()->block, t);
  if (IsIdentity(map)) {
    return absl::FailedPreconditionError("no dimension to move");
  }
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
  if (!info) return {};
  auto operand = FindOperand(*info);
  if (!operand) operand = FindSmallOperand(*info);
  if (!operand) return {};
  std::vector<Schedule> made =
      OnlyWay(Transpose(sch, *info, *operand, context), context);
  if (!made.empty()) made.push_back(sch);  // for vectors along the sum
  return made;
}

}  // namespace kiln
