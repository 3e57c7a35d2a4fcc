// How good predictions are, once there are measurements.
#ifndef KILN_SEARCH_COST_QUALITY_H_
#define KILN_SEARCH_COST_QUALITY_H_

#include "absl/types/span.h"

namespace kiln {

// In all of these, scores[i] is the prediction (higher is better) and
// seconds[i] the measurement of program i.

// Spearman's rank correlation between scores and speeds, ties sharing their
// mean rank: 1 for the same order, -1 for the reverse, 0 where either is all
// ties or there are fewer than two programs.
double RankCorrelation(absl::Span<const double> scores,
                       absl::Span<const double> seconds);

// Of the k fastest programs, the share among the k of highest score. Ties go
// to the earlier program. k is limited to the number of programs; 0 for none.
double RecallAt(int k, absl::Span<const double> scores,
                absl::Span<const double> seconds);

// The speed of the fastest among the k programs of highest score, as a share
// of that of the fastest of all. 0 for none.
double BestShareAt(int k, absl::Span<const double> scores,
                   absl::Span<const double> seconds);

// Of the pairs of programs whose times differ, the share that the scores order
// rightly; equal scores count half. 0.5 where there is no such pair.
double PairwiseAccuracy(absl::Span<const double> scores,
                        absl::Span<const double> seconds);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_QUALITY_H_
