// sample_perfect_tile, sample_partitioned_tile, sample_categorical,
// sample_compute_location: choices that a search makes. Nothing changes in the
// function.
#ifndef KILN_SCHEDULE_PRIMITIVE_SAMPLE_H_
#define KILN_SCHEDULE_PRIMITIVE_SAMPLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/random.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Factors that multiply to the extent of the loop, n of them, the last at most
// `max_innermost_factor`; each such list is equally likely. A loop whose extent
// is known at run time only stays whole: [-1, 1, ..., 1], where split takes -1
// for what the others leave. Refuses a loop of no iterations.
absl::StatusOr<std::vector<int64_t>> SamplePerfectTile(
    const Function& f, LoopId loop, int64_t n, int64_t max_innermost_factor,
    Random* random);
// Refuses a decision that is no such list.
absl::Status CheckPerfectTile(const Function& f, LoopId loop, int64_t n,
                              int64_t max_innermost_factor,
                              const std::vector<int64_t>& decision);

// A tile whose factors from `partition_pos` on are the inner part: their
// product is a multiple of `inner_factor` (what an intrinsic takes, say).
struct PartitionedTile {
  int64_t n = 1;
  int64_t partition_pos = 0;  // 0 to n
  int64_t inner_factor = 1;
};
// Factors that multiply to the extent of the loop, each such list equally
// likely (up to rounding in floating point). Refuses a loop whose extent is not
// a constant multiple of the inner factor, or where there is no inner part for
// it.
absl::StatusOr<std::vector<int64_t>> SamplePartitionedTile(
    const Function& f, LoopId loop, const PartitionedTile& tile,
    Random* random);
// Refuses a decision that is no such list.
absl::Status CheckPartitionedTile(const Function& f, LoopId loop,
                                  const PartitionedTile& tile,
                                  const std::vector<int64_t>& decision);

// An index into `probs`, drawn with those weights. Refuses an empty list,
// negative weights, and weights that are all 0.
absl::StatusOr<int64_t> SampleCategorical(const std::vector<double>& probs,
                                          Random* random);

// Stand in for a loop where a block is computed.
inline constexpr LoopId kRootLocation = -1;    // where it is
inline constexpr LoopId kInlineLocation = -2;  // inlined into its consumers

// The decisions open to sample_compute_location for the block: kRootLocation,
// kInlineLocation, or k: the k-th loop that all consumers share.
absl::StatusOr<std::vector<int64_t>> ComputeLocations(const Function& f,
                                                      BlockId block);
// The location that a decision stands for.
absl::StatusOr<LoopId> ComputeLocation(const Function& f, BlockId block,
                                       int64_t decision);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_SAMPLE_H_
