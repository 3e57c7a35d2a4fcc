#include "kiln/ir/graph/constant.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/type/narrow_float.h"

namespace kiln::graph {
namespace {

template <typename T>
void Put(T value, std::string& bytes) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

template <typename T>
T Get(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double AsReal(const Scalar& value) {
  const int64_t* whole = AsInt(value);
  if (whole && value.dtype().is_uint()) return static_cast<uint64_t>(*whole);
  return whole ? static_cast<double>(*whole) : value.As<FloatImmNode>()->value;
}

bool Holds(DType dtype, int64_t value) {
  if (dtype.is_bool()) return value == 0 || value == 1;
  if (dtype.bits() == 64) return dtype.is_int() || value >= 0;
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  const int64_t least = dtype.is_int() ? -(int64_t{1} << bits) : 0;
  return value >= least && value < (int64_t{1} << bits);
}

void PutReal(DType dtype, double value, std::string& bytes) {
  if (dtype.bits() == 64) return Put(value, bytes);
  if (dtype.bits() == 32) return Put(static_cast<float>(value), bytes);
  Put(EncodeNarrow(dtype, value), bytes);
}

absl::Status PutElement(DType dtype, const Scalar& value, std::string& bytes) {
  if (!value.As<IntImmNode>() && !value.As<FloatImmNode>()) {
    return absl::InvalidArgumentError("an element of a constant is a number");
  }
  if (dtype.is_float()) {
    PutReal(dtype, AsReal(value), bytes);
    return absl::OkStatus();
  }
  const int64_t* whole = AsInt(value);
  if (!whole || !Holds(dtype, *whole)) {
    return absl::InvalidArgumentError(
        absl::StrCat(whole ? absl::StrCat(*whole) : absl::StrCat(AsReal(value)),
                     " is no value of ", dtype.ToString()));
  }
  // The lower bytes come first on every machine that is supported.
  char raw[8];
  std::memcpy(raw, whole, sizeof(raw));
  bytes.append(raw, dtype.bytes());
  return absl::OkStatus();
}

int64_t Whole(DType dtype, const uint8_t* at) {
  switch (dtype.bytes()) {
    case 1:
      return dtype.is_int() ? Get<int8_t>(at) : Get<uint8_t>(at);
    case 2:
      return dtype.is_int() ? Get<int16_t>(at) : Get<uint16_t>(at);
    case 4:
      // The two have no common type but uint32.
      if (dtype.is_int()) return Get<int32_t>(at);
      return Get<uint32_t>(at);
    default:
      return Get<int64_t>(at);
  }
}

double Real(DType dtype, const uint8_t* at) {
  if (dtype.bits() == 64) return Get<double>(at);
  if (dtype.bits() == 32) return Get<float>(at);
  return DecodeNarrow(dtype, Get<uint16_t>(at));
}

}  // namespace

int64_t CountElements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

absl::StatusOr<Expr> MakeConstant(DType dtype, std::vector<int64_t> shape,
                                  const std::vector<Scalar>& values) {
  if (dtype.is_void() || dtype.is_handle() || !dtype.is_scalar()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are no constants of ", dtype.ToString()));
  }
  std::string bytes;
  for (const Scalar& value : values) {
    KILN_RETURN_IF_ERROR(PutElement(dtype, value, bytes));
  }
  KILN_ASSIGN_OR_RETURN(Blob data, Blob::Copy(bytes));
  return Expr(new ConstantNode(dtype, std::move(shape), std::move(data)));
}

absl::Status CheckHasBytes(const ConstantNode& constant) {
  if (constant.is_known()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the elements of constant ", constant.index,
      " of the metadata are not in the module, and its type is unknown; print "
      "the module with its metadata, write it as a serialized one, or make the "
      "constant a parameter"));
}

Scalar ElementOf(const ConstantNode& constant, int64_t index) {
  const DType dtype = constant.dtype;
  const uint8_t* at = constant.data->data() + index * dtype.bytes();
  if (dtype.is_float()) return Float(Real(dtype, at), dtype);
  return Int(Whole(dtype, at), dtype);
}

}  // namespace kiln::graph
