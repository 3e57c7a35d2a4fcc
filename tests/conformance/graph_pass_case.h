// Passes over graph functions against recorded modules before and after them.
#ifndef KILN_TESTS_CONFORMANCE_GRAPH_PASS_CASE_H_
#define KILN_TESTS_CONFORMANCE_GRAPH_PASS_CASE_H_

#include "kiln/ir/tensor/module.h"
#include "kiln/tests/conformance/graph_case.h"

namespace kiln {

// Applies Kiln's pass for the one that the case names to `before` and compares
// with `after`, both with all struct info: kSame, kDifferent with the place,
// kFailed with the error of the pass, or kNotApplicable where there is no such
// pass, or what it was given does not follow from `after`.
GraphResult RunGraphPassCase(const GraphCase& c, const Module& before,
                             const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_GRAPH_PASS_CASE_H_
