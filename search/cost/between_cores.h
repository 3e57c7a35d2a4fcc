// Time in which elements go from the caches of the core that computed them to
// those of another one, which reads them.
#ifndef KILN_SEARCH_COST_BETWEEN_CORES_H_
#define KILN_SEARCH_COST_BETWEEN_CORES_H_

#include "absl/container/flat_hash_map.h"
#include "kiln/base/machine.h"
#include "kiln/search/cost/nest.h"

namespace kiln {

// Asked for the stores of a program in their order.
class BetweenCores {
 public:
  BetweenCores(const Machine& machine, int threads)
      : machine_(machine), threads_(threads) {}

  // Seconds of a thread of the nest, for what other threads wrote before; from
  // then on what the nest writes is there, too.
  double Pass(const Nest& nest);

 private:
  double BytesFromOthers(const Nest& nest, const NestAccess& access) const;

  const Machine& machine_;
  const int threads_;
  struct Writer {
    int parallel_loop = -1;  // -1: one thread
    double row_lines = 0;    // of the part that a thread writes (Footprint)
  };
  absl::flat_hash_map<const BufferSummary*, Writer> writers_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_COST_BETWEEN_CORES_H_
