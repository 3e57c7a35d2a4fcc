#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

constexpr int64_t kLeastWork = 512;  // iterations, for anything to be done
constexpr int64_t kSquare = 16;      // elements of a transpose on a side

// The axis along which the block reads contiguous elements that it writes
// elsewhere, as a transpose does; -1: none.
int ReadAxis(const BlockInfo& info, int column) {
  if (column < 0 || !info.is_elementwise) return -1;
  for (const ReadInfo& read : info.reads) {
    if (!read.Uses(column) || read.strides[column] == 1.0) continue;
    for (size_t i = 0; i < info.axes.size(); ++i) {
      if (read.strides[i] == 1.0) return static_cast<int>(i);
    }
  }
  return -1;
}

// In squares, which share cache lines on both sides, and which code generation
// transposes in registers.
absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   const std::string& function, int read_axis) {
  const int column = info.ContiguousAxis();
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> written,
                        sch.Split(loops[column], {Arg(), kSquare}));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> read,
                        sch.Split(loops[read_axis], {Arg(), kSquare}));
  std::vector<Rv> outer;
  for (int i = 0; i < static_cast<int>(loops.size()); ++i) {
    if (i != column && i != read_axis) outer.push_back(loops[i]);
  }
  outer.push_back(read[0]);
  std::vector<Rv> order = outer;
  order.insert(order.end(), {written[0], read[1], written[1]});
  KILN_RETURN_IF_ERROR(sch.Reorder(order));
  KILN_RETURN_IF_ERROR(sch.Unroll(read[1]));
  KILN_RETURN_IF_ERROR(sch.Vectorize(written[1]));
  KILN_ASSIGN_OR_RETURN(const Rv fused, sch.Fuse(outer));
  KILN_RETURN_IF_ERROR(sch.Parallel(fused));
  return sch;
}

// Every spatial loop but the columns runs in parallel; columns in vectors.
absl::StatusOr<Schedule> Spread(Schedule sch, const BlockInfo& info,
                                const std::string& function, int lanes) {
  KILN_ASSIGN_OR_RETURN(Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch.GetLoops(block));
  const int column = info.ContiguousAxis();
  const int read_axis = ReadAxis(info, column);
  std::vector<Rv> outer, reduce, inner;
  for (int i = 0; i < static_cast<int>(loops.size()); ++i) {
    if (i == column) continue;
    (i == read_axis        ? inner
     : info.axes[i].reduce ? reduce
                           : outer)
        .push_back(loops[i]);
  }
  std::vector<Rv> order = outer;
  if (column >= 0) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch.Split(loops[column], {Arg(), lanes}));
    order.push_back(parts[0]);
    order.insert(order.end(), reduce.begin(), reduce.end());
    order.push_back(parts[1]);
    if (outer.empty()) outer.push_back(parts[0]);
    KILN_RETURN_IF_ERROR(sch.Reorder(order));
    KILN_RETURN_IF_ERROR(sch.Vectorize(parts[1]));
  }
  if (!outer.empty()) {
    KILN_ASSIGN_OR_RETURN(Rv fused, sch.Fuse(outer));
    KILN_RETURN_IF_ERROR(sch.Parallel(fused));
  }
  if (!reduce.empty() && info.has_init) {
    KILN_RETURN_IF_ERROR(sch.DecomposeReduction(block, reduce[0]).status());
  }
  return sch;
}

}  // namespace

std::vector<Schedule> ParallelizeVectorize(const Schedule& sch,
                                           const std::string& block,
                                           const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || info->SpatialSize() * info->ReduceSize() < kLeastWork) return {};
  const int read_axis = ReadAxis(*info, info->ContiguousAxis());
  absl::StatusOr<Schedule> spread =
      read_axis >= 0 ? Transpose(sch, *info, f.name, read_axis)
                     : Spread(sch, *info, f.name, context.registers.lanes);
  if (!spread.ok()) return {};
  return {*std::move(spread)};
}

}  // namespace kiln
