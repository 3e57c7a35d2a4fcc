// The best known program of a function on a target, and what is near where
// there is none.
#ifndef KILN_SEARCH_DATABASE_LOOKUP_H_
#define KILN_SEARCH_DATABASE_LOOKUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/record.h"

namespace kiln {

struct BestProgram {
  // Scheduled, under the names that were asked for, as is the record's trace.
  Function scheduled;
  TuningRecord record;
  Workload workload;  // what was tuned; may have other names
};

// `target` as in records: Fingerprint() and " threads=N". Functions are the
// same when they have one WorkloadKey. kNotFound says what is nearest: the
// same function on other targets, one whose trials all failed, the same
// computation on other shapes or of another type. A record whose trace does not
// apply any more is passed over for the next best.
absl::StatusOr<BestProgram> FindBest(Database& database,
                                     const Function& function,
                                     const std::string& target);

// The `most` best, as FindBest would give them one after another, and behind
// them, where it is none of these, the first that was ever measured: what a
// search takes for the fastest before it has measured anything. Empty where
// there is none; the error is the database's.
absl::StatusOr<std::vector<BestProgram>> FindBestAndFirst(
    Database& database, const Function& function, const std::string& target,
    int64_t most);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_LOOKUP_H_
