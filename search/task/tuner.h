// One task alone: draw programs of a space, build, check and time them, keep
// every trial, and know the best. For several, see scheduler.h.
#ifndef KILN_SEARCH_TASK_TUNER_H_
#define KILN_SEARCH_TASK_TUNER_H_

#include <limits>

#include "absl/status/statusor.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/database/database.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/strategy/strategy.h"
#include "kiln/search/task/session.h"
#include "kiln/search/task/task.h"

namespace kiln {

struct TuneOptions : SessionOptions {
  // Outlives the run, and is used for one run of one task. Null: random draws.
  Strategy* strategy = nullptr;
  double max_seconds = std::numeric_limits<double>::infinity();
};

class Tuner {
 public:
  // All but the task outlive the tuner.
  Tuner(Builder* builder, Runner* runner, Database* database, ThreadPool* pool)
      : builder_(*builder),
        runner_(*runner),
        database_(*database),
        pool_(*pool) {}

  // Runs until `trials` programs of the workload have a record, the space ends,
  // time is up or `stop` says so. A program that the database knows for this
  // workload and target is never measured again. The error is one of the
  // database or of the machine: what a candidate does is in its record.
  absl::StatusOr<TuneState> Run(const TuneTask& task,
                                const TuneOptions& options);

 private:
  Builder& builder_;
  Runner& runner_;
  Database& database_;
  ThreadPool& pool_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_TUNER_H_
