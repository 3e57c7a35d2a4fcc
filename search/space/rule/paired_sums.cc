// For a product of matrices, Z = A B,
//
//   S[i, j, e] = sum over k in K/2:  A[i, 2*k + e] * B[2*k + e, j]    e in 0, 1
//   Z[i, j] = S[i, j, 0] + S[i, j, 1]
//
// Vectors of four lanes hold two columns j of S. With B in panels
// [.., K/2, columns, 2] their lanes are contiguous there, and those of A are
// two elements, twice: SSE3 loads these as it loads a double into both halves
// of a register (movddup), where a number for all lanes takes a load and a
// shuffle, in the place of an addition. 512 x 512 x 512 on a Xeon with vectors
// of 16 bytes: 11.6 ms with shuffles, 9.1 with pairs; the limit is 8.6.
#include "kiln/search/space/rule/paired_sums.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

// Whether the operand stands still along the columns while the last reduction
// goes through neighbouring elements.
bool IsPairOfNeighbours(const ReadInfo& read, const TileAxes& axes) {
  return read.strides[axes.column] == 0.0 && read.strides[axes.unroll] == 1.0;
}

bool IsShared(const ReadInfo& read, const TileAxes& axes) {
  return read.strides[axes.column] == 1.0 && !read.Uses(axes.row) &&
         DimAlong(read, axes.unroll) >= 0;
}

// Of elements of which a load gives two to all lanes in turns, but not one.
bool HoldsPairs(const BlockInfo& info, const BlockNode& block,
                const TileAxes& axes, const VectorRegisters& registers) {
  const auto has_width = [&](const BufferRegion& region) {
    const DType& dtype = region.buffer->dtype;
    return dtype.is_float() && !registers.Broadcasts(dtype.bytes()) &&
           registers.Broadcasts(dtype.bytes() * kStepsOfPair);
  };
  if (!absl::c_all_of(block.reads, has_width) ||
      !absl::c_all_of(block.writes, has_width)) {
    return false;
  }
  return info.axes[axes.unroll].extent % kStepsOfPair == 0 &&
         info.reads.size() == 2 &&
         absl::c_any_of(
             info.reads,
             [&](const ReadInfo& r) { return IsPairOfNeighbours(r, axes); }) &&
         absl::c_any_of(info.reads, [&](const ReadInfo& r) {
           return IsShared(r, axes) && !HoldsOtherColumns(info, axes, r);
         });
}

// The axes of the block for both sums, of which the first is the new one.
TileAxes BehindPair(TileAxes axes) {
  for (int* axis : {&axes.column, &axes.row, &axes.outer_row, &axes.unroll}) {
    if (*axis >= 0) ++*axis;
  }
  axes.pair = 0;
  return axes;
}

absl::StatusOr<PairedSums> Split(Schedule sch, const BlockInfo& info,
                                 const TileAxes& axes,
                                 const RuleContext& context) {
  const std::string& f = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, f));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> steps,
                        sch.Split(loops[axes.unroll], {Arg(), kStepsOfPair}));
  KILN_ASSIGN_OR_RETURN(const Rv sums, sch.Rfactor(steps[1], info.write_dims));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> order, sch.GetLoops(sums));
  const auto pair = order.begin() + axes.unroll + 1;
  std::rotate(order.begin(), pair, pair + 1);
  KILN_RETURN_IF_ERROR(sch.Reorder(order));
  const Function& made = FunctionOf(sch, context);
  const auto path = FindBlock(made, sch.Value(sums));
  auto paired = DescribeBlock(made, path->realize()->block->name);
  if (!paired) return absl::FailedPreconditionError("loops are no axes");
  paired->is_for_tiles = info.is_for_tiles;
  return PairedSums{std::move(sch), *std::move(paired), BehindPair(axes)};
}

}  // namespace

std::optional<PairedSums> PairSums(const Schedule& sch, const BlockInfo& info,
                                   const TileAxes& axes,
                                   const RuleContext& context) {
  if (axes.row < 0 || axes.unroll < 0 ||
      !HoldsPairs(info, NodeOf(FunctionOf(sch, context), info.name), axes,
                  context.registers)) {
    return std::nullopt;
  }
  absl::StatusOr<PairedSums> made = Split(sch, info, axes, context);
  if (made.ok()) return *std::move(made);
  context.GaveUp("sums of pairs", made.status());
  return std::nullopt;
}

}  // namespace kiln
