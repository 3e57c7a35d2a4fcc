// Whether two modules compute the same: interpreter and virtual machine on
// both, on the same random arguments.
#ifndef KILN_TESTS_CONFORMANCE_GRAPH_EXECUTE_H_
#define KILN_TESTS_CONFORMANCE_GRAPH_EXECUTE_H_

#include <cstdint>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

struct Execution {
  enum class Outcome {
    kSame,        // all that could be run gave the same, at least two runs
    kDifferent,   //
    kIncomplete,  // at most one run was possible
  };
  Outcome outcome = Outcome::kIncomplete;
  std::string detail;  // where they differ, or what could not be run and why
};

// Runs every function that both modules have, that is not private, and that
// takes the same arguments in both. Floats may differ by `relative` of the
// element, or of 1 if that is more: sums are taken in another order, and
// products contracted with them.
Execution ExecuteModules(const Module& before, const Module& after,
                         uint64_t seed, double relative = 2e-4);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_GRAPH_EXECUTE_H_
