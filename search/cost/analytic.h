// How long a scheduled function takes, from its text and the machine's
// constants alone.
//
// Each store is a nest of loops around a register tile (the unrolled and
// vectorized loops inside). Its time is the longest of: arithmetic (with the
// lanes that tails waste, the latency of chains of accumulators, registers
// spilled), and for each level of memory the bytes that have to come from
// beyond it, over its bandwidth; what overlaps badly adds a share. Parallel
// loops divide by the threads that they keep busy.
#ifndef KILN_SEARCH_COST_ANALYTIC_H_
#define KILN_SEARCH_COST_ANALYTIC_H_

#include <array>
#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/search/feature/summary.h"

namespace kiln {

// The seconds of one store, and of what they are made.
struct StoreEstimate {
  double seconds = 0;
  double arithmetic = 0;  // seconds that the arithmetic units work
  // Seconds that each level is busy serving what the nearer ones miss.
  std::array<double, kNumMemoryLevels> transfer = {};
  double cold = 0;          // that it waits for constants from memory
  double overhead = 0;      // loops, launches of threads, other cores
  double registers = 0;     // vector registers that the tile asks for
  double busy_threads = 1;  // on average
  double lane_use = 1;      // of vectors, the share of useful lanes
};

struct TimeEstimate {
  double seconds = 0;
  // One for each store, as in the summary.
  std::vector<StoreEstimate> stores;
  // Where the program is sure to be among the slow ones: why. Else empty.
  std::string hopeless;
};

TimeEstimate EstimateTime(const ProgramSummary& program, const Machine& machine,
                          int threads);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_ANALYTIC_H_
