// Random arguments for a function, symbolic dimensions and scalars included.
#ifndef KILN_TESTS_CONFORMANCE_SMALL_INPUTS_H_
#define KILN_TESTS_CONFORMANCE_SMALL_INPUTS_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// An argument for each parameter, in order: a tensor, an integer or a float.
using InputValues = std::vector<std::variant<Tensor, int64_t, double>>;

// What the integer variables of `f` that have no value at compile time are:
// symbolic dimensions and integer parameters, each `value` plus its position
// among them, so that no two agree.
VarMap SymbolValues(const Function& f, int64_t value);

// The extents of the parameter's tensor under `symbols`; InvalidArgument where
// one is not decided or not positive.
absl::StatusOr<std::vector<int64_t>> ShapeUnder(const Param& param,
                                                const VarMap& symbols);

// InvalidArgument where a shape is not decided; ResourceExhausted where all
// tensors together are larger than `max_bytes`.
absl::StatusOr<InputValues> SmallInputs(const Function& f,
                                        const VarMap& symbols, uint64_t seed,
                                        int64_t max_bytes);

// Views of the values for the interpreter.
std::vector<Argument> AsArguments(InputValues& values);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_SMALL_INPUTS_H_
