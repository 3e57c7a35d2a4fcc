// Whether a pass leaves what a module computes.
#ifndef KILN_IR_TRANSFORM_GRAPH_SAME_RESULTS_H_
#define KILN_IR_TRANSFORM_GRAPH_SAME_RESULTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Extents of symbolic dimensions, by name; of others 3.
using TestExtents = std::map<std::string, int64_t>;

// Ok where `main` of both, which are inferred, gives the same in the graph
// interpreter for the same random arguments: numbers from 0 to 1, whole ones
// below 5.
absl::Status SameResults(const Module& before, const Module& after,
                         uint64_t seed, const TestExtents& extents = {});

// The same of a module as text, and of what passes make of it: "", or the
// error, with the module after them.
std::string MeaningAfter(const std::vector<std::string>& passes,
                         const std::string& text,
                         const TestExtents& extents = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_SAME_RESULTS_H_
