// Schedules timed where a model runs them.
#ifndef KILN_TOOLS_TUNING_RANK_IN_MODEL_H_
#define KILN_TOOLS_TUNING_RANK_IN_MODEL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/tools/tuning/ranked_in_model.h"

namespace kiln {

struct RankInModelRequest {
  Target target;
  double seconds = 30;         // about; compiling included
  std::function<bool()> stop;  // polled
  int schedules = 4;           // of each function, at most
};

// Alone, a kernel finds its tensors in the caches as its last call left them,
// and in a model as other kernels did. So the fastest few of each function are
// compared again: the prepared module is compiled with the best of each, with
// the second of each and so on; these run in turns, and of every function the
// schedule whose calls took least is ranked first in the database, the others
// by how much longer they took. Functions without a record get default
// schedules.
//
// Arguments are random. A model of open extents, or whose arguments cannot be
// drawn, or that cannot run here, is skipped, as is one for which there is no
// time or which is stopped; the error is the database's or a schedule's.
absl::StatusOr<RankedInModel> RankInModel(const Module& prepared,
                                          Database& database,
                                          const RankInModelRequest& request);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_RANK_IN_MODEL_H_
