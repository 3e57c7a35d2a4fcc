#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

// The axis whose steps are contiguous in the output; -1: none.
int ColumnAxis(const BlockInfo& info) {
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (info.axes[i].write_dim == info.write_dims - 1) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// Every spatial loop but the columns runs in parallel; columns in vectors.
absl::StatusOr<Schedule> Spread(Schedule sch, const BlockInfo& info,
                                const std::string& function, int lanes) {
  KILN_ASSIGN_OR_RETURN(Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch.GetLoops(block));
  const int column = ColumnAxis(info);
  std::vector<Rv> outer, reduce;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (static_cast<int>(i) == column) continue;
    (info.axes[i].reduce ? reduce : outer).push_back(loops[i]);
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
  if (!info) return {};
  absl::StatusOr<Schedule> spread =
      Spread(sch, *info, f.name, context.registers.lanes);
  if (!spread.ok()) return {};
  return {*std::move(spread)};
}

}  // namespace kiln
