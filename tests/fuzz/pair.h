// One random pair of a program and a schedule, checked from end to end.
#ifndef KILN_TESTS_FUZZ_PAIR_H_
#define KILN_TESTS_FUZZ_PAIR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/schedule/testing/random_trace.h"

namespace kiln {

struct PairOptions {
  RandomProgramOptions program = {
      .max_stages = 4, .max_extent = 12, .max_work = 1 << 11};
  RandomTraceOptions trace;
  // Instead of random programs; symbolic extents are 7.
  std::shared_ptr<const Function> given = nullptr;
  // Print each program and its trace before anything is done with them, for
  // pairs that end the process.
  bool print = false;
};

struct FuzzCounts {
  StepCounts steps;
  int64_t pairs = 0;
  int64_t compiled = 0;      // through LLVM
  int64_t not_for_cpu = 0;   // threads, or parallel loops inside one another
  int64_t instructions = 0;  // of all traces
};
void Merge(const FuzzCounts& from, FuzzCounts* to);
std::string ToTable(const FuzzCounts& counts);

// Draws program, schedule and inputs from the seed. The scheduled program is
// verified, compiled and compared with the interpreter on the original one; it
// is interpreted too; the printed trace and the trace's message are read back,
// gone on with from a snapshot, as are the module's text and message. An error
// tells the seed, a small program and the shortest trace that fail in the same
// way, and what differs.
absl::Status CheckPair(uint64_t seed, const PairOptions& options,
                       FuzzCounts* counts);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_PAIR_H_
