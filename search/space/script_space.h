// A space given by schedule functions as text.
#ifndef KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
#define KILN_SEARCH_SPACE_SCRIPT_SPACE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {

// Adds the public functions of the text. Each is carried out, with a few
// choices if steps are refused, to know its trace. A function whose steps are
// always refused is left out as long as there is another one; otherwise the
// error is the last refusal, or that of the text.
absl::Status AddScript(const python::Source& source, TraceSpace* space);

// The space of the text alone; `function` is the index of the function to tune
// in `module`.
absl::StatusOr<std::unique_ptr<TraceSpace>> MakeScriptSpace(
    const Module& module, int function, const python::Source& source);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_SCRIPT_SPACE_H_
