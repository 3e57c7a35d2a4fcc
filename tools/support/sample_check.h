// Results of a schedule that nothing has measured, held against the
// interpreter.
#ifndef KILN_TOOLS_SUPPORT_SAMPLE_CHECK_H_
#define KILN_TOOLS_SUPPORT_SAMPLE_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln {

// Compares some elements of what a kernel of `f` wrote (corners, borders,
// anywhere; search/measure/samples.h) with what the interpreter alone makes of
// the arguments `before` the call, at the cost of a few hundred thousand
// iterations. Where elements cannot be had alone (ir/interp/elements.h) there
// is nothing to compare. InternalError names the element and the way out.
absl::Status CheckOnSamples(const Function& f, const KernelSignature& signature,
                            absl::Span<const PackedValue> before,
                            absl::Span<const PackedValue> after);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_SAMPLE_CHECK_H_
