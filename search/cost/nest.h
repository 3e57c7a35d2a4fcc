// A store and its loops as one thread runs them: extents, the register tile,
// and what its accesses touch from each depth on.
#ifndef KILN_SEARCH_COST_NEST_H_
#define KILN_SEARCH_COST_NEST_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/base/machine.h"
#include "kiln/search/feature/summary.h"

namespace kiln {

// What an access touches while the loops of some depth and deeper run.
struct Footprint {
  double lines = 0;
  double row_lines = 1;  // next to each other
  // Sets of the first cache that rows begin in, were they without end.
  double row_sets = 1;
  double pages = 0;
  // Bytes of the first and of the second cache that it takes: more than its
  // lines where power-of-two strides put them into few sets.
  double l1_bytes = 0, l2_bytes = 0;
};

// A part of a row that is touched before other rows are.
struct RowRun {
  double bytes = 0;
  int loop = 0;      // goes on to the next part
  double stays = 1;  // after so many of its iterations
};

struct NestAccess {
  const AccessSummary* access = nullptr;
  const BufferSummary* buffer = nullptr;
  // By loop, from outermost: bytes between iterations. 0: the same elements.
  absl::InlinedVector<double, 12> strides;
  // By loop: how often it goes over the same elements, as f % 8 does 8 times
  // for f in 64. 1: it goes over others all the time.
  absl::InlinedVector<double, 12> rounds;
  // By loop: for how many iterations it stays at the same elements, as f // 8
  // does for 8, before it goes on to others.
  absl::InlinedVector<double, 12> stays;
  // By depth; the last entry is one iteration of all loops.
  absl::InlinedVector<Footprint, 12> footprints;
  // Loops before this one are around the allocation: each of their iterations
  // has the same memory.
  int owned_depth = 0;
  bool in_registers = false;  // stays there while the loop around the tile runs
  // Comes from memory before that loop and goes back after it.
  bool waits_in_memory = false;
  // Where loops over its last dimension stand around one over another, what it
  // comes to of a row before each of them goes on, from the innermost.
  absl::InlinedVector<RowRun, 2> runs;
};

struct Nest {
  // By loop, from outermost. A parallel loop is as long as one thread's share.
  absl::InlinedVector<double, 12> extents;
  std::vector<NestAccess> accesses;  // as in the summary

  int threads = 1;          // that work at a time, at most
  double busy_threads = 1;  // on average
  double launches = 0;      // of the parallel loop
  int parallel_loop = -1;   // in the program; -1: none
  int parallel = -1;        // the same loop, among those of the nest

  // Loops from here on are unrolled or vectorized: one iteration of the others
  // runs the tile as straight code.
  int tile = 0;
  int lane_loop = -1;       // runs in vector lanes; -1: none does
  double vectors = 1;       // registers that its lanes fill
  double lane_use = 1;      // share of useful lanes in them
  double lane_repeats = 1;  // times that a loop that stays a loop fills them
  double tile_steps = 1;    // iterations of the tile, lanes as one
  // Its steps are those of one instruction; -1: none is.
  int dot_loop = -1;
  // Of an iteration of the loop around the tile, where its loops are a product
  // that instructions for tiles of matrices take: how many of these, and how
  // many tiles they load. 0: they are not.
  double tile_products = 0, tile_loads = 0;
  // What the tile reads comes once and as it lies, however it is used: a square
  // that is transposed in registers.
  bool reads_tile_once = false;

  int depth() const { return static_cast<int>(extents.size()); }
  // Iterations of the loops [first, last).
  double Iterations(int first, int last) const;
  // Sums that the tile keeps in registers stay there while the loops from here
  // on run.
  int RegisterDepth(const NestAccess& sums) const;
};

Nest MakeNest(const ProgramSummary& program, const StoreSummary& store,
              const Machine& machine, int threads);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_NEST_H_
