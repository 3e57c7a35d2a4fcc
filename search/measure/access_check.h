// The first run of a program whose accesses depend on data.
#ifndef KILN_SEARCH_MEASURE_ACCESS_CHECK_H_
#define KILN_SEARCH_MEASURE_ACCESS_CHECK_H_

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/contents.h"
#include "kiln/search/measure/runner.h"

namespace kiln {

// Runs `f`, which no schedule has touched, with its accesses guarded that are
// not known to be in bounds (codegen/guard/guard_accesses.h); OK at once where
// there are none. kOutOfRange names the first access outside of its buffer,
// even of one that stays inside of the memory; kFailedPrecondition tells what
// else became of the run, which ends after `deadline_s`.
absl::Status CheckAccesses(const Function& f, const CallContents& contents,
                           Builder& builder, Runner& runner, double deadline_s);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_ACCESS_CHECK_H_
