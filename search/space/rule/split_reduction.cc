// The norm of a matrix, for one:
//
//   parallel p:                    a part of all elements
//     sums in vectors (vector_reduction.h)
//     C_rf[p] = sum of them
//   C = sum C_rf[:]
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {
namespace {

constexpr int64_t kMostResults = 8;   // rows enough to run in parallel
constexpr int64_t kLeastPart = 1024;  // elements
constexpr int64_t kMostParts = 32;

// Of the innermost or the outermost reduction.
int64_t Extent(const BlockInfo& info, bool innermost) {
  int64_t extent = 1;
  for (const AxisInfo& axis : info.axes) {
    if (!axis.reduce) continue;
    extent = axis.extent;
    if (!innermost) break;
  }
  return extent;
}

// Parts of the outermost reduction, which has `extent` of all `size` steps.
absl::StatusOr<Rv> SampleParts(Schedule* sch, int64_t extent, int64_t size) {
  std::vector<int64_t> parts;
  for (int64_t p = 1; p <= kMostParts && p * kLeastPart <= size; p *= 2) {
    if (extent % p == 0) parts.push_back(p);
  }
  return sch->SampleCategorical(
      parts, std::vector<double>(parts.size(), 1.0 / parts.size()));
}

// Makes copies of the sums in parallel, to do the sums where they are copied.
absl::StatusOr<Rv> SpreadCopies(Schedule* sch, Rv sums,
                                const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv copy, sch->CacheWrite(sums, 0, "local"));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(copy));
  KILN_ASSIGN_OR_RETURN(const Rv part, sch->Fuse(loops));
  KILN_RETURN_IF_ERROR(Parallel(sch, part, context));
  return part;
}

absl::StatusOr<Schedule> Split(Schedule sch, const BlockInfo& info,
                               const RuleContext& context) {
  const std::string& function = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  std::vector<Rv> spatial, reduce;
  for (size_t i = 0; i < loops.size(); ++i) {
    (info.axes[i].reduce ? reduce : spatial).push_back(loops[i]);
  }
  std::vector<Rv> order = spatial;
  order.insert(order.end(), reduce.begin(), reduce.end());
  if (order.size() > 1) KILN_RETURN_IF_ERROR(sch.Reorder(order));
  KILN_ASSIGN_OR_RETURN(const Rv parts, SampleParts(&sch, Extent(info, false),
                                                    info.ReduceSize()));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> split,
                        sch.Split(reduce[0], {parts, Arg()}));
  const int dims = static_cast<int>(spatial.size());
  KILN_ASSIGN_OR_RETURN(const Rv sums, sch.Rfactor(split[0], dims));
  KILN_ASSIGN_OR_RETURN(const Rv part, SpreadCopies(&sch, sums, context));
  KILN_RETURN_IF_ERROR(sch.ComputeAt(sums, part, true));
  const int64_t row = reduce.size() > 1 ? Extent(info, true) : kLeastPart;
  KILN_ASSIGN_OR_RETURN(
      const VectorReduction vectors,
      VectorReduction::Make(&sch, sums, dims + 1, 1, row, context));
  KILN_RETURN_IF_ERROR(vectors.Vectorize(&sch));
  return sch;
}

}  // namespace

std::vector<Schedule> SplitReduction(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->ReducesContiguously()) return {};
  if (info->SpatialSize() > kMostResults) return {};
  if (info->ReduceSize() < 2 * kLeastPart) return {};
  return OnlyWay(Split(sch, *info, context), context);
}

}  // namespace kiln
