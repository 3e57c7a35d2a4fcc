#include "kiln/search/task/task.h"

namespace kiln {

int64_t TuneState::failed() const {
  int64_t total = 0;
  for (int64_t count : counts) total += count;
  return total - counts[static_cast<int>(Verdict::kOk)];
}

}  // namespace kiln
