#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/merged_axes.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/transposes.h"

namespace kiln {
namespace {

constexpr int64_t kLeastWork = 512;  // iterations, for anything to be done
constexpr int64_t kLongRow = 8;  // vectors, beside which its last one is little

absl::StatusOr<Schedule> Transpose(Schedule sch, const BlockInfo& info,
                                   const RuleContext& context) {
  const std::string& function = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> outer,
                        TileSquares(&sch, block, info, loops));
  KILN_ASSIGN_OR_RETURN(const Rv fused, sch.Fuse(outer));
  KILN_RETURN_IF_ERROR(Parallel(&sch, fused, context));
  return sch;
}

// Whether values hang on where they stand, as those of padding do, and not only
// on what is read there.
bool UsesPlaces(const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  if (!store) return true;
  bool uses = false;
  Visit(store->value, [&](const Expr& e) {
    uses |= absl::c_any_of(block.iters, [&](const IterVar& iter) {
      return e.As<VarNode>() == iter.var.get();
    });
    return !uses && e.kind() != ExprKind::kLoad;
  });
  return uses;
}

// Of an elementwise block with columns that fill no vectors, the axis from
// which on all axes are one row that does, or is long; -1 for others. Places in
// a row would be divided for each lane.
int FirstOfRow(const BlockInfo& info, const BlockNode& block, int lanes) {
  if (!info.is_elementwise || info.axes.empty() || UsesPlaces(block)) return -1;
  size_t first = info.axes.size() - 1;
  int64_t extent = info.axes[first].extent;
  if (!info.axes[first].steps_write) return -1;
  const auto is_odd = [&] {
    return extent % lanes != 0 && extent < kLongRow * lanes;
  };
  if (!is_odd()) return -1;
  for (; first > 0 && is_odd() && info.GoesOn(first - 1, first); --first) {
    extent *= info.axes[first - 1].extent;
  }
  return first + 1 == info.axes.size() ? -1 : static_cast<int>(first);
}

// [i, j, k] -> [i, j * extent of k + k], where the row begins with j.
IndexMap OneRowFrom(int first, const BlockInfo& info) {
  MergedAxes merged(info.axes.size(), false);
  std::fill(merged.begin() + first + 1, merged.end(), true);
  return MergeAxes(ExtentsOf(info), merged);
}

// Every spatial loop but the columns runs in parallel; columns in vectors. What
// an iterator of few values decides is decided by unrolling it there.
absl::StatusOr<Schedule> Spread(Schedule sch, const BlockInfo& info,
                                const RuleContext& context) {
  const std::string& function = FunctionOf(sch, context).name;
  const int lanes = context.registers.Floats();
  KILN_ASSIGN_OR_RETURN(Rv block, sch.GetBlock(info.name, function));
  int column = info.VectorAxis();
  const BlockNode& node = NodeOf(FunctionOf(sch, context), info.name);
  if (const int first = FirstOfRow(info, node, lanes); first >= 0) {
    KILN_RETURN_IF_ERROR(
        sch.TransformBlockLayout(block, OneRowFrom(first, info)));
    column = first;
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  std::vector<Rv> outer, reduce, choices;
  for (int i = 0; i < static_cast<int>(loops.size()); ++i) {
    if (i == column) continue;
    const bool is_choice = column >= 0 && info.axes[i].chooses;
    (is_choice             ? choices
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
    order.insert(order.end(), choices.begin(), choices.end());
    order.push_back(parts[1]);
    if (outer.empty()) outer.push_back(parts[0]);
    KILN_RETURN_IF_ERROR(sch.Reorder(order));
    KILN_RETURN_IF_ERROR(sch.Vectorize(parts[1]));
  }
  for (const Rv loop : choices) KILN_RETURN_IF_ERROR(sch.Unroll(loop));
  if (!outer.empty()) {
    KILN_ASSIGN_OR_RETURN(Rv fused, sch.Fuse(outer));
    KILN_RETURN_IF_ERROR(Parallel(&sch, fused, context));
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
  auto info = DescribeBlock(f, block);
  if (!info) info = DescribeTupleBlock(f, block);
  if (!info || info->SpatialSize() * info->ReduceSize() < kLeastWork) return {};
  return OnlyWay(TransposedAxis(*info) >= 0 ? Transpose(sch, *info, context)
                                            : Spread(sch, *info, context),
                 context);
}

}  // namespace kiln
