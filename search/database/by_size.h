// Records of functions with symbolic dimensions, which are timed at a few
// sizes, and the program that they make for all sizes.
#ifndef KILN_SEARCH_DATABASE_BY_SIZE_H_
#define KILN_SEARCH_DATABASE_BY_SIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"

namespace kiln {

// The programs of a function that were timed at one size, the fastest first.
struct TimedPrograms {
  DimSize size;
  std::vector<BestProgram> programs;
};

// Of a function with symbolic dimensions: for each size at which it was timed
// on the target (workloads with an attribute, ir/tensor/timed_size.h), the
// `most` fastest programs. Smaller sizes come first, by the product of the
// dimensions. Empty where there is none; the error is the database's.
absl::StatusOr<std::vector<TimedPrograms>> FindTimed(Database& database,
                                                     const Function& function,
                                                     const std::string& target,
                                                     int64_t most);

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
