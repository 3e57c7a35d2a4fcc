// Between C and the rest: errors become numbers and texts, handles objects.
#ifndef KILN_VM_CAPI_BOUNDARY_H_
#define KILN_VM_CAPI_BOUNDARY_H_

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/vm/machine/value.h"

struct KilnValue {
  kiln::vm::Value value;
};

namespace kiln::capi {

// Keeps the text for KilnErrorText.
int32_t Report(const absl::Status& status);

absl::Status IsNull(const char* what);

// Runs `body`, which gives a status. Nothing is thrown across the boundary.
template <typename F>
int32_t Guarded(const F& body) {
  try {
    return Report(body());
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError("there is no memory left"));
  } catch (const std::exception& error) {
    return Report(absl::InternalError(error.what()));
  }
}

}  // namespace kiln::capi

#endif  // KILN_VM_CAPI_BOUNDARY_H_
