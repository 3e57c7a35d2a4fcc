#include "kiln/vm/capi/boundary.h"

#include "kiln/base/version.h"
#include "kiln/vm/capi/kiln.h"

namespace kiln::capi {
namespace {

std::string& ErrorText() {
  thread_local std::string text;
  return text;
}

}  // namespace

int32_t Report(const absl::Status& status) {
  static_assert(KILN_INVALID_ARGUMENT ==
                static_cast<int>(absl::StatusCode::kInvalidArgument));
  static_assert(KILN_NOT_FOUND ==
                static_cast<int>(absl::StatusCode::kNotFound));
  static_assert(KILN_RESOURCE_EXHAUSTED ==
                static_cast<int>(absl::StatusCode::kResourceExhausted));
  static_assert(KILN_FAILED_PRECONDITION ==
                static_cast<int>(absl::StatusCode::kFailedPrecondition));
  static_assert(KILN_INTERNAL == static_cast<int>(absl::StatusCode::kInternal));
  if (status.ok()) return KILN_OK;
  ErrorText() = std::string(status.message());
  return static_cast<int32_t>(status.code());
}

absl::Status IsNull(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is a null pointer"));
}

}  // namespace kiln::capi

int32_t KilnApiVersion(void) { return KILN_API_VERSION; }

const char* KilnVersion(void) { return kiln::kVersion; }

const char* KilnErrorText(void) { return kiln::capi::ErrorText().c_str(); }
