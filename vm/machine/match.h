// Whether a value is what a type of an executable says, and what its shape
// tells of numbers.
#ifndef KILN_VM_MACHINE_MATCH_H_
#define KILN_VM_MACHINE_MATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/machine/value.h"

namespace kiln::vm {

// The dims of a function that runs; those that are not known yet are empty.
using Dims = std::vector<std::optional<int64_t>>;

// Sets the dims that the value tells and that are not known; checks all else.
// The error says what was expected and what came. The type verifies for `f`.
absl::Status Match(const Executable& executable, const Function& f,
                   const Type& type, const Value& value, Dims& dims);

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_MATCH_H_
