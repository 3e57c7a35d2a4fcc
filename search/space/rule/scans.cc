// Sums of what came before, and what else is made of the value before it, have
// one iterator that keeps its order. Where that goes along rows, each value
// waits for the one before: several rows are gone through side by side.
//
//   for i, j: C[i, j] = C[i, j - 1] + A[i, j]
//     ->
//   parallel i0:
//     for j, i1 in 8 (unrolled):
//       C[i0*8 + i1, j] = C[i0*8 + i1, j - 1] + A[i0*8 + i1, j]
//
// Where it goes along columns, the columns are independent: parts of them run
// in parallel, each in vectors.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int64_t kLeastWork = 512;  // iterations, for anything to be done
constexpr int64_t kTogether = 8;     // rows: a sum takes about 8 cycles
constexpr int64_t kMostParts = 16;

class Scan {
 public:
  Scan(Schedule sch, const BlockInfo& info, const RuleContext& context)
      : sch_(std::move(sch)), info_(info), context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_RETURN_IF_ERROR(FindLoops());
    return axis().steps_write ? ByColumns() : ByRows();
  }

 private:
  const AxisInfo& axis() const { return info_.axes[last_]; }

  // The axis to split: the columns, or else the last one.
  absl::Status FindLoops() {
    KILN_ASSIGN_OR_RETURN(
        const Rv block,
        sch_.GetBlock(info_.name, FunctionOf(sch_, context_).name));
    KILN_ASSIGN_OR_RETURN(loops_, sch_.GetLoops(block));
    for (int i = 0; i < static_cast<int>(loops_.size()); ++i) {
      const AxisInfo& axis = info_.axes[i];
      if (axis.scans) {
        scan_ = loops_[i];
      } else if (last_ < 0 || !info_.axes[last_].steps_write) {
        last_ = i;
      }
    }
    for (int i = 0; i < static_cast<int>(loops_.size()); ++i) {
      if (i != last_ && !info_.axes[i].scans) outer_.push_back(loops_[i]);
    }
    return absl::OkStatus();
  }

  // Reorders to the outer loops, `part`, the scan and `inner`.
  absl::Status Order(Rv part, const std::vector<Rv>& inner) {
    outer_.push_back(part);
    std::vector<Rv> order = outer_;
    order.push_back(scan_);
    order.insert(order.end(), inner.begin(), inner.end());
    KILN_RETURN_IF_ERROR(sch_.Reorder(order));
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    return Parallel(&sch_, fused, context_);
  }

  absl::StatusOr<Schedule> ByRows() {
    const int64_t together = std::min(axis().extent, kTogether);
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                          sch_.Split(loops_[last_], {Arg(), together}));
    KILN_RETURN_IF_ERROR(Order(rows[0], {rows[1]}));
    KILN_RETURN_IF_ERROR(sch_.Unroll(rows[1]));
    return sch_;
  }

  absl::StatusOr<Schedule> ByColumns() {
    const int lanes = context_.registers.Floats();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> vectors,
                          sch_.Split(loops_[last_], {Arg(), lanes}));
    std::vector<int64_t> parts;
    for (int64_t p = 1; p <= kMostParts && p * lanes <= axis().extent; p *= 2) {
      parts.push_back(p);
    }
    if (parts.empty()) parts.push_back(1);
    KILN_ASSIGN_OR_RETURN(
        const Rv part,
        sch_.SampleCategorical(
            parts, std::vector<double>(parts.size(), 1.0 / parts.size())));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                          sch_.Split(vectors[0], {part, Arg()}));
    KILN_RETURN_IF_ERROR(Order(columns[0], {columns[1], vectors[1]}));
    KILN_RETURN_IF_ERROR(sch_.Vectorize(vectors[1]));
    return sch_;
  }

  Schedule sch_;
  const BlockInfo& info_;
  const RuleContext& context_;
  std::vector<Rv> loops_, outer_;
  Rv scan_;
  int last_ = -1;  // the axis that is split
};

}  // namespace

std::vector<Schedule> Scans(const Schedule& sch, const std::string& block,
                            const RuleContext& context) {
  const auto info = DescribeScan(FunctionOf(sch, context), block);
  if (!info || info->axes.size() < 2 || info->SpatialSize() < kLeastWork) {
    return {};
  }
  return OnlyWay(Scan(sch, *info, context).Run(), context);
}

}  // namespace kiln
