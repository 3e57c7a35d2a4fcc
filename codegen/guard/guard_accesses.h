// A variant of a function that tells the first access outside of a buffer
// instead of making it.
#ifndef KILN_CODEGEN_GUARD_GUARD_ACCESSES_H_
#define KILN_CODEGEN_GUARD_GUARD_ACCESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// One dimension of an access that is not known to be in bounds.
struct GuardedAccess {
  std::string access;  // "E[idx[i], j]"
  std::string buffer;
  int dimension = 0;
  bool is_store = false;
};

// int64 elements of the report: 1 + the position in `accesses` (0: nothing
// happened), the index, and the extent that it is outside of.
inline constexpr int kGuardReportSize = 3;

struct GuardedFunction {
  // Runs in the order of the program, on one thread. Its last parameter is the
  // report, int64[kGuardReportSize], zero before the call. An access outside of
  // its buffer is left out: a load gives 0.
  Function function;
  std::vector<GuardedAccess> accesses;
};

// `f` with the accesses guarded that are not known to be in bounds, each
// dimension for itself; nullopt where all are known to be. Code behind
// addresses is not looked into. The error is one of lowering `f`.
absl::StatusOr<std::optional<GuardedFunction>> GuardAccesses(const Function& f);

// What the report says: OK, or kOutOfRange with the access, its buffer, the
// dimension, the index and the extent.
absl::Status ReadGuardReport(const GuardedFunction& guarded,
                             absl::Span<const int64_t> report);

}  // namespace kiln

#endif  // KILN_CODEGEN_GUARD_GUARD_ACCESSES_H_
