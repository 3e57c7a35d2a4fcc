#include "kiln/ir/interp/tensor.h"

#include <utility>

#include "kiln/ir/interp/numeric.h"

namespace kiln {

Tensor::Tensor(DType dtype, std::vector<int64_t> shape)
    : dtype(dtype), shape(std::move(shape)) {
  int64_t count = 1;
  for (int64_t extent : this->shape) count *= extent;
  bytes.resize(static_cast<size_t>(count * dtype.bytes()));
}

int64_t Tensor::size() const {
  return static_cast<int64_t>(bytes.size()) / dtype.Element().bytes();
}

double Tensor::GetReal(int64_t i) const {
  const DType element = dtype.Element();
  const uint8_t* at = bytes.data() + i * element.bytes();
  if (element.is_float()) return LoadReal(element, at);
  const int64_t value = LoadInt(element, at);
  return element.is_uint() ? static_cast<double>(static_cast<uint64_t>(value))
                           : static_cast<double>(value);
}

int64_t Tensor::GetInt(int64_t i) const {
  const DType element = dtype.Element();
  const uint8_t* at = bytes.data() + i * element.bytes();
  return element.is_float() ? RealToInt(LoadReal(element, at), DType::Int(64))
                            : LoadInt(element, at);
}

void Tensor::Set(int64_t i, double value) {
  const DType element = dtype.Element();
  uint8_t* at = bytes.data() + i * element.bytes();
  if (element.is_float()) {
    StoreReal(element, RoundReal(element, value), at);
  } else {
    StoreInt(element, RealToInt(value, element), at);
  }
}

void Tensor::SetInt(int64_t i, int64_t value) {
  const DType element = dtype.Element();
  uint8_t* at = bytes.data() + i * element.bytes();
  if (element.is_float()) {
    StoreReal(element, IntToReal(value, DType::Int(64), element), at);
  } else {
    StoreInt(element, WrapInt(element, value), at);
  }
}

}  // namespace kiln
