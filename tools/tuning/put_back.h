// What was tuned, in the place of the functions of a model.
#ifndef KILN_TOOLS_TUNING_PUT_BACK_H_
#define KILN_TOOLS_TUNING_PUT_BACK_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/tools/support/model.h"

namespace kiln {

// The database that `tune --work-dir` left in a folder. kNotFound, with the way
// out, where there is no such folder, none in it, or no trial that succeeded.
absl::StatusOr<std::unique_ptr<Database>> OpenTuned(
    const std::string& work_dir);

struct TunedModule {
  Module module;
  std::set<std::string> tuned;  // functions that were put back
  std::map<std::string, std::string>
      why;  // by function, of those that were not
};

// The tensor functions that graph functions call (call_counts.h), each with the
// schedule of its best record on the target. Records are found whatever names
// the function that was tuned had, and of whatever model it was one. The error
// is the database's.
absl::StatusOr<TunedModule> PutBackBest(const Module& module,
                                        Database& database,
                                        const Target& target);

// Functions that were put back as they are, others by `rest`.
Scheduler KeepTuned(std::set<std::string> tuned, Scheduler rest);

// Functions with the schedules of their best records on the target, those
// without one by `rest`. The database outlives it.
Scheduler ScheduleFromRecords(Database* database, const Target& target,
                              Scheduler rest);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_PUT_BACK_H_
