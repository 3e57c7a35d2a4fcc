// The threads of the process, each tied to one CPU while times are taken.
#ifndef KILN_TOOLS_RIVALS_PINNED_THREADS_H_
#define KILN_TOOLS_RIVALS_PINNED_THREADS_H_

#include <sched.h>

namespace kiln::bench {

// Without it the scheduler, which wakes a thread near the one that waits for
// it, may leave two threads that work together on one CPU for as long as a
// measurement takes.
class PinnedThreads {
 public:
  // Ties the calling thread to the first CPU that it may use, for as long as
  // this lives, and all others, in the order of their making, to those after
  // it in turn, for good: the workers that a library makes together come to
  // stand on different CPUs. Does nothing where fewer than two threads work,
  // or more than there are CPUs.
  explicit PinnedThreads(int working);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

 private:
  cpu_set_t before_;
  bool active_ = false;
};

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_PINNED_THREADS_H_
