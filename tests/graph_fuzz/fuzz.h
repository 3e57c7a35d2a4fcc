// Many random modules of graph functions.
#ifndef KILN_TESTS_GRAPH_FUZZ_FUZZ_H_
#define KILN_TESTS_GRAPH_FUZZ_FUZZ_H_

#include <cstdint>
#include <string>

#include "kiln/ir/expr/visit.h"
#include "kiln/tests/graph_fuzz/check.h"

namespace kiln {

struct GraphFuzzOptions {
  uint64_t seed = 1;  // of the first program; the next has the next one
  int64_t programs = 1000;
  int threads = 1;
  int max_failures = 10;  // then it stops
  bool print = false;     // each program before it is tried
  GraphCheckOptions check;
};

// Calls `tell` with the report of each failure, from one thread at a time; the
// number of failures. A report has the seed and the shortest program that
// fails in the same way.
int64_t FuzzGraphs(const GraphFuzzOptions& options,
                   FunctionRef<void(const std::string&)> tell);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_FUZZ_H_
