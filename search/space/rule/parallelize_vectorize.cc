#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/transposes.h"

namespace kiln {
namespace {

constexpr int64_t kLeastWork = 512;  // iterations, for anything to be done

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

// Every spatial loop but the columns runs in parallel; columns in vectors. What
// an iterator of few values decides is decided by unrolling it there.
absl::StatusOr<Schedule> Spread(Schedule sch, const BlockInfo& info,
                                const RuleContext& context) {
  const std::string& function = FunctionOf(sch, context).name;
  const int lanes = context.registers.Floats();
  KILN_ASSIGN_OR_RETURN(Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch.GetLoops(block));
  const int column = info.VectorAxis();
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
