// Early return for absl::Status and absl::StatusOr.
//
//   KILN_RETURN_IF_ERROR(Verify(module));
//   KILN_ASSIGN_OR_RETURN(Module module, ParseModule(text));
#ifndef KILN_BASE_STATUS_MACROS_H_
#define KILN_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define KILN_STATUS_CONCAT_INNER(a, b) a##b
#define KILN_STATUS_CONCAT(a, b) KILN_STATUS_CONCAT_INNER(a, b)

#define KILN_RETURN_IF_ERROR(expr)                                  \
  do {                                                              \
    if (::absl::Status kiln_status_ = (expr); !kiln_status_.ok()) { \
      return kiln_status_;                                          \
    }                                                               \
  } while (false)

#define KILN_ASSIGN_OR_RETURN(lhs, ...)                                     \
  KILN_ASSIGN_OR_RETURN_IMPL(KILN_STATUS_CONCAT(kiln_status_or_, __LINE__), \
                             lhs, (__VA_ARGS__))

#define KILN_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = expr;                                 \
  if (!tmp.ok()) return std::move(tmp).status();   \
  lhs = std::move(tmp).value()

#endif  // KILN_BASE_STATUS_MACROS_H_
