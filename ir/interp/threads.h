// The threads of a GPU block, as fibers that take turns between barriers.
// Internal to ir/interp.
#ifndef KILN_IR_INTERP_THREADS_H_
#define KILN_IR_INTERP_THREADS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kiln/ir/interp/machine.h"

namespace kiln::interp_internal {

// "threadIdx.x", with the number of threads along it.
using ThreadExtents = std::map<std::string, int64_t>;

// Runs `body` once for each thread of the block, each on a copy of `frame`;
// the first failure goes to `frame`. The threads meet at barriers.
void RunThreads(Frame& frame, const ThreadExtents& extents,
                const StmtCode& body, const Place* place);

// Called by a thread: lets the others run until all stand at the barrier
// `site`.
void WaitAtBarrier(Frame& frame, const void* site);

// The index of the calling thread along `tag`; -1 where the block has no such
// axis.
int64_t ThreadIndex(const Frame& frame, const std::string& tag);

// The storage that all threads of the block share for the allocation `key`;
// the first to ask makes it.
std::shared_ptr<Storage>& SharedStorage(Frame& frame, const void* key);

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_THREADS_H_
