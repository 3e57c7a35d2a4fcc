#include "kiln/vm/packed/packed_function.h"

namespace kiln {

absl::Status PackedFunction::operator()(
    absl::Span<const PackedValue> args) const {
  if (is_null()) {
    return absl::FailedPreconditionError("call of a null packed function");
  }
  return body_(args);
}

}  // namespace kiln
