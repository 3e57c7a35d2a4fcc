// One case, all contenders: the same result from each, then times in turns.
#ifndef KILN_TOOLS_RIVALS_MATCH_H_
#define KILN_TOOLS_RIVALS_MATCH_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/rounds.h"
#include "kiln/tools/rivals/scores.h"

namespace kiln::bench {

using Contenders = std::vector<std::unique_ptr<Contender>>;

// Lets those contenders that have the operator compute the case, compares each
// with the first (a library where one has the operator; name those first), and
// times them, with the machine's peak among them, in turns. The error names
// who computes something else.
absl::StatusOr<CaseScores> RunMatch(const OpCase& op,
                                    const Contenders& contenders,
                                    const Machine& machine, ThreadPool& pool,
                                    const RoundOptions& options);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_MATCH_H_
