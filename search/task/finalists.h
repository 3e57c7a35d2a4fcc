// The kernels of a task that are timed again before the best is named: the
// fastest, and of each way to schedule its fastest. One look at a kernel may
// fall into a moment of noise and cost it half of its speed; with a way to
// schedule of which few points were tried, the whole way would be lost. The
// first one that a task measures takes part, too: a search proposes first what
// would be taken without a measurement, which is the one to beat. The fastest
// of earlier runs take part as well: they may have been lucky, or not compared.
#ifndef KILN_SEARCH_TASK_FINALISTS_H_
#define KILN_SEARCH_TASK_FINALISTS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/record.h"
#include "kiln/search/measure/builder.h"

namespace kiln {

struct Finalist {
  TuningRecord record;  // of a correct kernel
  BuildResult build;
  // Of an earlier run: what is built when it is timed again. Else null.
  std::shared_ptr<const Function> to_build;
  size_t alternative = 0;  // the way to schedule, see space.h
  bool is_first = false;   // of the task
};

class Finalists {
 public:
  explicit Finalists(int most) : most_(most) {}

  // Remembers it if it is among the fastest.
  void Keep(Finalist one);
  // Forgets all; the fastest come first. Left out are those that are too slow
  // to become the best, beside the fastest of this run, and all but the first
  // few where one call takes so long that a comparison would too.
  std::vector<Finalist> Take();

  size_t size() const { return all_.size(); }

 private:
  const int most_;
  bool empty_yet_ = true;
  std::vector<Finalist> all_;  // the fastest first
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_FINALISTS_H_
