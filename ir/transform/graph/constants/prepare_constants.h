// Constants are laid out as the schedules of the functions that read them want.
//
//   y = R.call_tir(cls.dense, (x, W), ...)
//
// where a schedule of dense begins by copying W into panels, becomes
//
//   y = R.call_tir(cls.dense, (x, panels), ...)
//
// with the panels as a constant, and a dense without the copy.
#ifndef KILN_IR_TRANSFORM_GRAPH_CONSTANTS_PREPARE_CONSTANTS_H_
#define KILN_IR_TRANSFORM_GRAPH_CONSTANTS_PREPARE_CONSTANTS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Runs a tensor function once, in place, on a tensor for each parameter: the
// interpreter, or compiled code.
using TensorFunctionRunner =
    std::function<absl::Status(const Function&, std::vector<Tensor>&)>;

// Takes a module whose tensor functions are scheduled. Functions with a
// preparation (ir/transform/split_preparation.h) some argument of which is no
// constant, or with symbolic extents, prepare in every call. Errors are
// those of `run`, and of preparations that cannot be told apart.
absl::StatusOr<Module> PrepareConstants(const Module& module,
                                        const TensorFunctionRunner& run);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_CONSTANTS_PREPARE_CONSTANTS_H_
