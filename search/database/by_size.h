// Records of functions with symbolic dimensions, which are timed at a few
// sizes, and the program that they make for all sizes.
#ifndef KILN_SEARCH_DATABASE_BY_SIZE_H_
#define KILN_SEARCH_DATABASE_BY_SIZE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/record.h"

namespace kiln {

// The records of a function that was timed at one size, the fastest first. The
// traces are in the names of the workload.
struct TimedRecords {
  DimSize size;
  Workload workload;
  std::vector<TuningRecord> records;
};

// Of a function with symbolic dimensions: the records at each size at which it
// was timed on the target (workloads with an attribute,
// ir/tensor/timed_size.h). Smaller sizes come first, by the product of the
// dimensions. Empty where there is none; the error is the database's.
absl::StatusOr<std::vector<TimedRecords>> FindTimed(Database& database,
                                                    const Function& function,
                                                    const std::string& target);

// As FindBest. A function with symbolic dimensions that was timed at some sizes
// gets the programs with the least geometric mean of times over these sizes,
// dispatched by the product of the dimensions (ir/transform/
// dispatch_by_size.h): up to the geometric mean of two neighbouring sizes a
// call takes the program of the smaller one. All of them bring constant
// arguments into one layout. The record is that of the last program at the
// largest size, with the traces of all.
absl::StatusOr<BestProgram> FindBestBySize(Database& database,
                                           const Function& function,
                                           const std::string& target);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_BY_SIZE_H_
