// The index and the value of the largest element of each row, for one:
//
//   parallel i0:
//     i1:                           the row i
//       (P, Q)[i, :] = the largest of every 64th element, in vectors
//       ...                         fewer and fewer (vector_reduction.h)
//       (idx, val)[i] = the largest of the last four
//
// Of few long rows parts are rows of their own, combined at the end.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {
namespace {

constexpr int64_t kEnoughRows = 8;
constexpr int64_t kMostRows = 64;     // of one parallel iteration
constexpr int64_t kLeastPart = 1024;  // elements
constexpr int64_t kMostParts = 32;
constexpr size_t kLoopsAround = 2;  // the blocks of a row

struct Loops {
  std::vector<Rv> rows, reduce;
};

absl::StatusOr<Loops> OrderLoops(Schedule* sch, Rv block,
                                 const BlockInfo& info) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> all, sch->GetLoops(block));
  Loops loops;
  for (size_t i = 0; i < all.size(); ++i) {
    (info.axes[i].reduce ? loops.reduce : loops.rows).push_back(all[i]);
  }
  std::vector<Rv> order = loops.rows;
  order.insert(order.end(), loops.reduce.begin(), loops.reduce.end());
  if (order.size() > 1) KILN_RETURN_IF_ERROR(sch->Reorder(order));
  return loops;
}

// Rows of `block`, its `rows` outermost loops, in parallel, and each in vectors
// of elements along the last loop, which has `extent` of them. The results of
// a row are copied out after it, so that all its blocks stay together.
absl::Status SpreadRows(Schedule* sch, Rv block, size_t rows, int64_t extent,
                        const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(block));
  loops.resize(rows);
  KILN_ASSIGN_OR_RETURN(const Rv row, sch->Fuse(loops));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> factors,
                        sch->SamplePerfectTile(row, 2, kMostRows));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch->Split(row, {factors[0], factors[1]}));
  KILN_RETURN_IF_ERROR(Parallel(sch, parts[0], context));
  const std::optional<Path> path =
      FindBlock(FunctionOf(*sch, context), sch->Value(block));
  const size_t results = path->realize()->block->writes.size();
  for (size_t i = 0; i < results; ++i) {
    KILN_ASSIGN_OR_RETURN(const Rv copy,
                          sch->CacheWrite(block, static_cast<int>(i), "local"));
    KILN_RETURN_IF_ERROR(sch->ReverseComputeAt(copy, parts[1], true));
  }
  KILN_ASSIGN_OR_RETURN(
      const VectorReduction vectors,
      VectorReduction::Make(sch, block, static_cast<int>(rows), kLoopsAround,
                            extent, context));
  return vectors.Vectorize(sch);
}

// Makes parts of the outermost reduction into rows.
absl::StatusOr<Rv> SplitLongRows(Schedule* sch, const Loops& loops,
                                 const BlockInfo& info, int64_t extent) {
  std::vector<int64_t> counts;
  for (int64_t p = 1; p <= kMostParts && p * kLeastPart <= info.ReduceSize();
       p *= 2) {
    if (extent % p == 0) counts.push_back(p);
  }
  KILN_ASSIGN_OR_RETURN(
      const Rv count,
      sch->SampleCategorical(
          counts, std::vector<double>(counts.size(), 1.0 / counts.size())));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> split,
                        sch->Split(loops.reduce[0], {count, Arg()}));
  return sch->Rfactor(split[0], static_cast<int64_t>(loops.rows.size()));
}

absl::StatusOr<Schedule> Reduce(Schedule sch, const BlockInfo& info,
                                const RuleContext& context) {
  const std::string& function = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(const Loops loops, OrderLoops(&sch, block, info));
  std::vector<int64_t> extents;
  for (const AxisInfo& axis : info.axes) {
    if (axis.reduce) extents.push_back(axis.extent);
  }
  size_t rows = loops.rows.size();
  int64_t row = extents.back();
  if (info.SpatialSize() < kEnoughRows && info.ReduceSize() >= 2 * kLeastPart) {
    KILN_ASSIGN_OR_RETURN(block, SplitLongRows(&sch, loops, info, extents[0]));
    ++rows;
    if (extents.size() == 1) row = kLeastPart;
  }
  if (rows == 0) return absl::FailedPreconditionError("one short row");
  KILN_RETURN_IF_ERROR(SpreadRows(&sch, block, rows, row, context));
  return sch;
}

}  // namespace

std::vector<Schedule> TupleReductions(const Schedule& sch,
                                      const std::string& block,
                                      const RuleContext& context) {
  const auto info = DescribeTupleBlock(FunctionOf(sch, context), block);
  if (!info || !info->ReducesContiguously()) return {};
  return OnlyWay(Reduce(sch, *info, context), context);
}

}  // namespace kiln
