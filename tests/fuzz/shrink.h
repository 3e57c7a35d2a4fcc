// Makes a failing trace short.
#ifndef KILN_TESTS_FUZZ_SHRINK_H_
#define KILN_TESTS_FUZZ_SHRINK_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

// `trace` without instruction `index` and all that needs its outputs.
Trace Without(const Trace& trace, size_t index);

// Takes instructions away, with all that need them, for as long as `fails`
// says that the remaining trace still fails. Traces that cannot be replayed
// from `start` are not asked about.
Trace Shrink(Trace trace, const State& start,
             FunctionRef<bool(const Trace&)> fails);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_SHRINK_H_
