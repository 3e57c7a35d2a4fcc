// Random loop nests as people write them by hand, for differential tests:
// what formulas for each element (random_program.h) cannot say. The same seed
// gives the same program and inputs.
#ifndef KILN_IR_TESTING_RANDOM_NESTS_H_
#define KILN_IR_TESTING_RANDOM_NESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct NestProgram {
  std::string text;
  Function function;           // "main"
  std::vector<Tensor> inputs;  // one for each parameter; scalars have no shape
};

// One to four nests over tensors mostly of one type (floats of 16 to 64 bits,
// integers of 8 to 64, bools): maps, reductions, gathers, scatters, histograms,
// scans, updates in place, stencils that read what they write, stores of a
// part, of one element by many iterations, of two elements by one; conditions
// around loads and stores, predicates, loops that split an iterator, iterators
// called spatial that are not, triangles of iterations, regions declared wider
// than they are, views of regions (two of one row, too), blocks inside blocks,
// bodies that are loops, variables, indices that wrap around, loops that the
// source makes parallel, vectorized or unrolled, symbolic extents, scalar
// parameters, layouts left free. One seed in 64 gives larger tensors.
//
// Iterations run in the order of the text, and contents of every parameter are
// given, so that the interpreter says what each means. Parameters that index
// hold numbers within what they index.
NestProgram RandomNests(uint64_t seed);

}  // namespace kiln

#endif  // KILN_IR_TESTING_RANDOM_NESTS_H_
