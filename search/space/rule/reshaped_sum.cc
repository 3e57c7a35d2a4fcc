#include "kiln/search/space/rule/reshaped_sum.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

// Whether the block reads `buffer` at its iterators, one by one, those of one
// value aside.
bool ReadsInOrder(const BlockNode& block, const Buffer& buffer) {
  for (const BufferRegion& read : block.reads) {
    if (read.buffer != buffer) continue;
    if (read.region.size() != block.iters.size()) return false;
    for (size_t d = 0; d < read.region.size(); ++d) {
      const IterVar& iter = block.iters[d];
      const bool is_only = IsOne(iter.domain.extent);
      if (read.region[d].min.get() != iter.var.get() && !is_only) return false;
    }
  }
  return true;
}

}  // namespace

bool MayReshape(const BlockInfo& info) {
  return info.CountReduce() > 0 &&
         info.consumers.size() == (info.is_output ? 0 : 1);
}

bool WritesAllInOrder(const BlockNode& block, const BlockInfo& info) {
  const BufferRegion& write = block.writes[0];
  for (size_t d = 0; d < write.region.size(); ++d) {
    const int64_t* extent = AsInt(write.buffer->shape[d]);
    if (d >= info.axes.size() || !extent || *extent != info.axes[d].extent ||
        info.axes[d].write_dim != static_cast<int>(d)) {
      return false;
    }
  }
  return true;
}

bool CopiesInOrder(const BlockNode& block, const BlockInfo& info,
                   const Buffer& sums) {
  return info.is_elementwise && !info.has_condition &&
         info.producers.size() == 1 && WritesAllInOrder(block, info) &&
         ReadsInOrder(block, sums);
}

bool ReadsPermuted(const BlockNode& block, const BlockInfo& info,
                   const Buffer& sums) {
  if (!info.is_elementwise || info.has_condition) return false;
  std::vector<size_t> order;
  for (const BufferRegion& read : block.reads) {
    if (read.buffer != sums) continue;
    if (!order.empty()) return false;
    for (const Range& range : read.region) {
      const auto iter = absl::c_find_if(block.iters, [&](const IterVar& v) {
        return v.var.get() == range.min.get();
      });
      if (iter == block.iters.end()) return false;
      order.push_back(iter - block.iters.begin());
    }
  }
  return order.size() == block.iters.size() && !absl::c_is_sorted(order);
}

absl::StatusOr<Rv> ConsumerOfSum(Schedule* sch, Rv block, const BlockInfo& info,
                                 const RuleContext& context) {
  if (info.is_output) return sch->CacheWrite(block, 0, "global");
  return sch->GetBlock(info.consumers[0], FunctionOf(*sch, context).name);
}

absl::Status ReshapeSum(Schedule* sch, Rv block, Rv consumer,
                        const IndexMap& of_block,
                        const std::function<IndexMap()>& of_output) {
  KILN_RETURN_IF_ERROR(sch->TransformBlockLayout(block, of_block));
  KILN_RETURN_IF_ERROR(sch->TransformBlockLayout(consumer, of_output()));
  return sch->TransformLayout(block, Schedule::Side::kWrite, 0, of_output());
}

}  // namespace kiln
