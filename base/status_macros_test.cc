#include "kiln/base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {
namespace {

absl::StatusOr<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return absl::InvalidArgumentError("negative");
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Twice(int value) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<int> made, Make(value));
  KILN_RETURN_IF_ERROR(absl::OkStatus());
  return 2 * *made;
}

TEST(StatusMacrosTest, PassesValuesOn) { EXPECT_EQ(*Twice(4), 8); }

TEST(StatusMacrosTest, ReturnsTheFirstError) {
  EXPECT_EQ(Twice(-1).status(), absl::InvalidArgumentError("negative"));
}

}  // namespace
}  // namespace kiln
