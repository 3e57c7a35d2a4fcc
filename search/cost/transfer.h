// What each level of the memory has to serve while a store's loops run.
#ifndef KILN_SEARCH_COST_TRANSFER_H_
#define KILN_SEARCH_COST_TRANSFER_H_

#include "kiln/base/machine.h"
#include "kiln/search/cost/nest.h"

namespace kiln {

// The seconds in which a level (beyond the first) serves one thread what the
// level before it is too small for: in each iteration of the innermost loop
// whose data do not fit there, all lines of that iteration; less for an access
// whose lines the next iteration finds still there.
struct Transfer {
  double seconds = 0;
  // Of them, those in which reads come all the time, also as panels that
  // lowering asks for ahead (PlanNextPanel).
  double steady = 0;
};
Transfer TransferOf(const Nest& nest, const Machine& machine, MemoryLevelId id);

// What the elements of cold buffers (BufferSummary::is_cold) take, which come
// from memory once.
struct ColdReads {
  double seconds = 0;  // for one thread
  // Of the time that the loops take, the share in which they come: all where a
  // panel is asked for while loops pass over the one before, a third where all
  // panels are gone over three times.
  double share = 1;
  double steady = 0;  // of the seconds, as of a transfer
};
ColdReads ColdReadsOf(const Nest& nest, const Machine& machine);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_TRANSFER_H_
