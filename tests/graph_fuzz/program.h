// Random modules of graph functions, as text.
#ifndef KILN_TESTS_GRAPH_FUZZ_PROGRAM_H_
#define KILN_TESTS_GRAPH_FUZZ_PROGRAM_H_

#include <cstdint>
#include <string>

namespace kiln {

// A module whose function main takes tensors with elements in [-2, 2] and in
// which elements stay small: ops of several types, static and symbolic
// extents, dataflow blocks, branches, tuples, casts, private functions.
// Symbolic dimensions are from 1 to kMostExtent (shape_calls.h).
std::string RandomGraphProgram(uint64_t seed);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_PROGRAM_H_
