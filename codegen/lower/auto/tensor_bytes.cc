#include "kiln/codegen/lower/auto/tensor_bytes.h"

#include <cstdint>

#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {

double BytesOf(const Buffer& buffer) {
  const int64_t* size =
      buffer->shape.size() == 1 ? AsInt(buffer->shape[0]) : nullptr;
  return size ? static_cast<double>(*size) * buffer->dtype.bytes() : 0;
}

double TensorBytes(const Function& f) {
  double bytes = 0;
  for (const Param& param : f.params) {
    if (param.buffer) bytes += BytesOf(param.buffer);
  }
  Visit(f.body, [&](const Stmt& s) {
    const auto* allocate = s.As<AllocateNode>();
    if (allocate && !allocate->is_view) bytes += BytesOf(allocate->buffer);
    return true;
  });
  return bytes;
}

}  // namespace kiln::lower
