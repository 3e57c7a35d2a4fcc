// A program outside Kiln's workspace that stands on its libraries.
#include <cstdio>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"

namespace {

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd");
  return value / 2;
}

absl::Status Run() {
  KILN_ASSIGN_OR_RETURN(int half, Half(42));
  std::printf("%d\n", half);
  return absl::OkStatus();
}

}  // namespace

int main() { return Run().ok() ? 0 : 1; }
