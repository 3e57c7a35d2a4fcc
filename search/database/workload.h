// Workloads of functions: by which key the records of a function are found,
// whatever its names.
#ifndef KILN_SEARCH_DATABASE_WORKLOAD_H_
#define KILN_SEARCH_DATABASE_WORKLOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/record.h"

namespace kiln {

// SHA-256 of the canonical form of the function (ir/tensor/canonical.h) and of
// which of its blocks share a name, as 64 lower-case hex digits. Functions have
// one key exactly when they are equal up to the names of variables, buffers,
// blocks, and of themselves, by a renaming of blocks that is one to one; then
// what a trace says of one can be said of the other (rename_trace.h).
std::string WorkloadKey(const Function& f);

// The normalized function as text, with numbers as "#" and types as "?" where
// asked for: what tells apart how two functions differ.
std::string Outline(const Function& f, bool no_numbers, bool no_types);

// `function` is the name of one of the module's. Other functions of the module
// do not count for the key. The outline of a function that is timed at a size
// (ir/tensor/timed_size.h) is the key of the same function without one: all its
// sizes are found by that.
Workload WorkloadOf(const Module& module, const std::string& function);

// A module read back, and the index of the function that was tuned.
struct StoredFunction {
  Module module;
  int index = 0;

  const Function& get() const { return module.functions[index]; }
};
absl::StatusOr<StoredFunction> ReadWorkload(const Workload& workload);

// With key and outline worked out from the text; as it is where the text does
// not read (of another version of Kiln).
Workload WithKey(Workload workload);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_WORKLOAD_H_
