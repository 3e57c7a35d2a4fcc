// The arguments of a call to a function that is known, from the command line
// or drawn.
#ifndef KILN_TOOLS_SUPPORT_ARGUMENTS_H_
#define KILN_TOOLS_SUPPORT_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/contents.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln {

// As MakeArguments (input.h) for the signature of `f`. Random numbers that
// become indices are drawn inside of what they index
// (codegen/guard/input_ranges.h). Without any input, tensors that `f` updates
// hold random numbers as well.
absl::StatusOr<std::vector<PackedValue>> ArgumentsFor(
    const Function& f, const KernelSignature& signature,
    const std::vector<std::string>& inputs, uint64_t seed);

// The same arguments for a worker; tensors share their memory.
absl::StatusOr<CallContents> ToContents(const KernelSignature& signature,
                                        absl::Span<const PackedValue> args);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_ARGUMENTS_H_
