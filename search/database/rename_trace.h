// A trace of a function, said of the same function under other names.
//
//   a:  with T.block("C"): ...        b:  with T.block("product"): ...
//   b0 = sch.get_block("C", "main")   b0 = sch.get_block("product", "mm")
//
// Steps name functions, blocks and buffers; blocks and buffers that earlier
// steps have made, too ("C_local"). So both programs are scheduled step by
// step, and a name is looked up in one and read off at its place in the other.
#ifndef KILN_SEARCH_DATABASE_RENAME_TRACE_H_
#define KILN_SEARCH_DATABASE_RENAME_TRACE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/record.h"
#include "kiln/search/database/workload.h"

namespace kiln {

struct RenamedTrace {
  std::string trace;   // in the names of `to`
  Function scheduled;  // what it makes of `to`
};

// `trace` is one of `from`; both functions have one WorkloadKey. Refused where
// a step of it is, or where it schedules another function of the module.
absl::StatusOr<RenamedTrace> RenameTrace(const StoredFunction& from,
                                         const std::string& trace,
                                         const StoredFunction& to);

// Brings records from the names of one workload to those of another.
class TraceRenamer {
 public:
  // Changes nothing.
  TraceRenamer() = default;
  // Nothing to do where both have the same text, or one of them does not read.
  TraceRenamer(const Workload& from, const Workload& to);

  bool changes_names() const { return from_.has_value(); }
  // A trace that cannot be carried out (of a refused schedule, or of another
  // version of Kiln) stays as it is.
  std::string operator()(const std::string& trace) const;

 private:
  std::optional<StoredFunction> from_, to_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_RENAME_TRACE_H_
