// Random tensor programs and inputs, for differential tests of schedules,
// passes and backends. The same seed gives the same program and inputs.
#ifndef KILN_IR_TESTING_RANDOM_PROGRAM_H_
#define KILN_IR_TESTING_RANDOM_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct RandomProgramOptions {
  int max_stages = 4;          // blocks, at least 1
  int64_t max_extent = 13;     // of fresh dimensions
  int64_t max_work = 1 << 13;  // iterations of any one block
};

// A valid function "main" of one element type (float32 mostly; some float64,
// float16, int32, int64): elementwise chains with broadcast, reductions,
// matmuls, 1-D and 2-D convolutions with padding and strides, pooling windows,
// permutations, strided, reversed and repeated reads. Extents seldom divide.
// Values stay small enough that nothing overflows on RandomInputs. What no
// block reads is an output; inputs come first among the parameters. Half of
// them (even seeds) allow normwise errors, half of these have even extents
// mostly. One in sixteen leaves the layout of its second and further inputs
// free.
Function RandomProgram(uint64_t seed, const RandomProgramOptions& options = {});

// A tensor for each parameter of `f`, whose extents are constant or else
// `symbol`: floats are multiples of 1/64 in [-1, 1], integers in [-8, 8]
// (unsigned: [0, 8]), bools either. Outputs hold such numbers too, so that
// elements left unwritten show. A scalar is a tensor without dimensions.
std::vector<Tensor> RandomInputs(const Function& f, uint64_t seed,
                                 int64_t symbol = -1);

}  // namespace kiln

#endif  // KILN_IR_TESTING_RANDOM_PROGRAM_H_
