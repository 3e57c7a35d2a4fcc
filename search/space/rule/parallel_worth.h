// Whether the loops of a function are worth the launch of threads.
#ifndef KILN_SEARCH_SPACE_RULE_PARALLEL_WORTH_H_
#define KILN_SEARCH_SPACE_RULE_PARALLEL_WORTH_H_

#include <cstdint>

#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class ParallelWorth : uint8_t {
  kNever,  // a call is over before another thread has begun
  kOpen,   // it depends on the code: a cost model or a measurement decides
  kAlways,
};

// By the operations and bytes of one call as the function is written. A
// function of open extents, whose calls may be long, is kAlways.
ParallelWorth ParallelWorthOf(const Function& f);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_PARALLEL_WORTH_H_
