// A sum whose axes become others, together with what it writes and with the
// only block that reads that.
#ifndef KILN_SEARCH_SPACE_RULE_RESHAPED_SUM_H_
#define KILN_SEARCH_SPACE_RULE_RESHAPED_SUM_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// Whether the block is a sum that one block reads, or nobody but who calls the
// function.
bool MayReshape(const BlockInfo& info);

// Whether the axes are the dimensions of what is written, in order, all of it.
bool WritesAllInOrder(const BlockNode& block, const BlockInfo& info);

// Whether the block works element by element on `sums`, in order, and on what
// no other block makes.
bool CopiesInOrder(const BlockNode& block, const BlockInfo& info,
                   const Buffer& sums);

// Whether the block works element by element on `sums`, in another order.
bool ReadsPermuted(const BlockNode& block, const BlockInfo& info,
                   const Buffer& sums);

// The only consumer; what a function gives is copied to its place from then on.
absl::StatusOr<Rv> ConsumerOfSum(Schedule* sch, Rv block, const BlockInfo& info,
                                 const RuleContext& context);

// `of_block`: of the axes of the sum. `of_output` makes maps of what it writes.
absl::Status ReshapeSum(Schedule* sch, Rv block, Rv consumer,
                        const IndexMap& of_block,
                        const std::function<IndexMap()>& of_output);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RESHAPED_SUM_H_
