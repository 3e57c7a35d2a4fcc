// Where R.call_tir_inplace writes what it gives.
#ifndef KILN_IR_OPS_IN_PLACE_H_
#define KILN_IR_OPS_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// For each result of the call the argument, counted from 0, that holds it
// afterwards, or -1 where it is a new tensor. InvalidArgument where these are
// not as many as results, or name one of more than `num_args` arguments.
absl::StatusOr<std::vector<int64_t>> InPlaceIndices(const graph::CallNode& call,
                                                    size_t num_args);

}  // namespace kiln

#endif  // KILN_IR_OPS_IN_PLACE_H_
