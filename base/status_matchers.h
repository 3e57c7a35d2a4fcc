// GoogleTest matchers and assertions for absl::Status and absl::StatusOr.
#ifndef KILN_BASE_STATUS_MATCHERS_H_
#define KILN_BASE_STATUS_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"

namespace kiln {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status) {
  return status.status();
}

// Matches a status or a StatusOr with this code and a message that `matcher`
// accepts.
MATCHER_P2(StatusIs, code, matcher, "") {
  const absl::Status& status = GetStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(matcher, std::string(status.message()),
                                       result_listener);
}

// Matches a StatusOr that is ok and whose value `matcher` accepts.
MATCHER_P(IsOkAndHolds, matcher, "") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(matcher, *arg, result_listener);
}

}  // namespace kiln

#define KILN_EXPECT_OK(expr)                          \
  do {                                                \
    const auto& kiln_value_ = (expr);                 \
    EXPECT_TRUE(kiln_value_.ok())                     \
        << ::kiln::GetStatus(kiln_value_).ToString(); \
  } while (false)
#define KILN_ASSERT_OK(expr)                          \
  do {                                                \
    const auto& kiln_value_ = (expr);                 \
    ASSERT_TRUE(kiln_value_.ok())                     \
        << ::kiln::GetStatus(kiln_value_).ToString(); \
  } while (false)

#define KILN_ASSERT_OK_AND_ASSIGN(lhs, ...) \
  KILN_ASSERT_OK_AND_ASSIGN_IMPL(           \
      KILN_STATUS_CONCAT(kiln_status_or_, __LINE__), lhs, (__VA_ARGS__))
#define KILN_ASSERT_OK_AND_ASSIGN_IMPL(tmp, lhs, expr) \
  auto tmp = expr;                                     \
  ASSERT_TRUE(tmp.ok()) << tmp.status().ToString();    \
  lhs = std::move(tmp).value()

#endif  // KILN_BASE_STATUS_MATCHERS_H_
