// Many random pairs on several threads.
#ifndef KILN_TESTS_FUZZ_FUZZ_H_
#define KILN_TESTS_FUZZ_FUZZ_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/tests/fuzz/pair.h"

namespace kiln {

struct FuzzOptions {
  uint64_t seed = 1;  // of the first pair; the next has the next one
  int64_t pairs = 10000;
  int threads = 1;
  int max_failures = 10;  // then it stops
  PairOptions pair;
};

struct FuzzResult {
  FuzzCounts counts;
  std::vector<std::string> failures;
};

// Calls `tell` with each failure as it is found, from one thread at a time.
FuzzResult Fuzz(const FuzzOptions& options,
                FunctionRef<void(const std::string&)> tell);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_FUZZ_H_
