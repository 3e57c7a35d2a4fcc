// Whether two modules compute the same on random data.
#ifndef KILN_TESTS_CONFORMANCE_SAME_MEANING_H_
#define KILN_TESTS_CONFORMANCE_SAME_MEANING_H_

#include <cstdint>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

struct Agreement {
  bool executed = false;
  bool agrees = true;
  // How the two were run, why they could not be, or where they differ.
  std::string detail;
};

// Runs every function of `before` and its counterpart of the same position on
// the same random inputs: in the interpreter, or compiled where that would
// take long. Symbolic dimensions and scalar parameters get small values.
// Functions without parameters, or whose parameters change in type or shape,
// are not run.
Agreement CompareMeaning(const Module& before, const Module& after,
                         uint64_t seed);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_SAME_MEANING_H_
