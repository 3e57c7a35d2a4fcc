#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/capi/boundary.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::capi {
namespace {

// What a value holds as `T`; the error says what it is instead.
template <typename T>
absl::StatusOr<const T*> Held(const KilnValue* value, const char* wanted) {
  if (value == nullptr) return IsNull("`value`");
  if (const T* held = std::get_if<T>(&value->value)) return held;
  return absl::InvalidArgumentError(absl::StrCat(
      "the value is no ", wanted, ", but ", vm::Describe(value->value)));
}

absl::StatusOr<const NDArray*> TensorOf(const KilnValue* value) {
  KILN_ASSIGN_OR_RETURN(const NDArray* array, Held<NDArray>(value, "tensor"));
  if (!array->is_null()) return array;
  return absl::InvalidArgumentError("the value is a null tensor");
}

// Reads a value of one kind into `out`, which is a default value on an error.
template <typename Out, typename Read>
int32_t ReadInto(Out* out, const Read& read) {
  if (out != nullptr) *out = Out();
  return Guarded([&]() -> absl::Status {
    if (out == nullptr) return IsNull("what to write the result to");
    KILN_ASSIGN_OR_RETURN(*out, read());
    return absl::OkStatus();
  });
}

absl::StatusOr<KilnValue*> FieldOf(const KilnValue* value, int32_t index) {
  KILN_ASSIGN_OR_RETURN(const vm::Tuple* tuple,
                        Held<vm::Tuple>(value, "tuple"));
  const auto& fields = (*tuple)->fields;
  if (index < 0 || static_cast<size_t>(index) >= fields.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the tuple has ", fields.size(), " fields, no number ", index));
  }
  return new KilnValue{fields[index]};
}

struct KindOfValue {
  int32_t operator()(std::monostate) const { return KILN_NONE; }
  int32_t operator()(const NDArray&) const { return KILN_TENSOR; }
  int32_t operator()(int64_t) const { return KILN_INTEGER; }
  int32_t operator()(double) const { return KILN_REAL; }
  int32_t operator()(const std::string&) const { return KILN_TEXT; }
  int32_t operator()(const vm::Shape&) const { return KILN_SHAPE; }
  int32_t operator()(const vm::Tuple&) const { return KILN_TUPLE; }
  int32_t operator()(const vm::Closure&) const { return KILN_OTHER; }
  int32_t operator()(DType) const { return KILN_OTHER; }
  int32_t operator()(const vm::Object&) const { return KILN_OTHER; }
};

}  // namespace
}  // namespace kiln::capi

namespace capi = kiln::capi;

void KilnValueRelease(KilnValue* value) { delete value; }

int32_t KilnValueKindOf(const KilnValue* value) {
  return value == nullptr ? KILN_NONE
                          : std::visit(capi::KindOfValue(), value->value);
}

int32_t KilnValueInteger(const KilnValue* value, int64_t* integer) {
  return capi::ReadInto(integer, [&]() -> absl::StatusOr<int64_t> {
    KILN_ASSIGN_OR_RETURN(const int64_t* held,
                          capi::Held<int64_t>(value, "integer"));
    return *held;
  });
}

int32_t KilnValueReal(const KilnValue* value, double* real) {
  return capi::ReadInto(real, [&]() -> absl::StatusOr<double> {
    KILN_ASSIGN_OR_RETURN(const double* held,
                          capi::Held<double>(value, "real number"));
    return *held;
  });
}

int32_t KilnValueText(const KilnValue* value, const char** text,
                      uint64_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  return capi::ReadInto(text, [&]() -> absl::StatusOr<const char*> {
    KILN_ASSIGN_OR_RETURN(const std::string* held,
                          capi::Held<std::string>(value, "text"));
    if (bytes != nullptr) *bytes = held->size();
    return held->c_str();
  });
}

int32_t KilnValueShape(const KilnValue* value, const int64_t** extents,
                       int32_t* count) {
  if (count != nullptr) *count = 0;
  return capi::ReadInto(extents, [&]() -> absl::StatusOr<const int64_t*> {
    if (count == nullptr) return capi::IsNull("`count`");
    KILN_ASSIGN_OR_RETURN(const kiln::vm::Shape* held,
                          capi::Held<kiln::vm::Shape>(value, "shape"));
    *count = static_cast<int32_t>(held->extents->size());
    return held->extents->data();
  });
}

int32_t KilnValueFieldCount(const KilnValue* value, int32_t* count) {
  return capi::ReadInto(count, [&]() -> absl::StatusOr<int32_t> {
    KILN_ASSIGN_OR_RETURN(const kiln::vm::Tuple* held,
                          capi::Held<kiln::vm::Tuple>(value, "tuple"));
    return static_cast<int32_t>((*held)->fields.size());
  });
}

int32_t KilnValueField(const KilnValue* value, int32_t index,
                       KilnValue** field) {
  return capi::ReadInto(field, [&] { return capi::FieldOf(value, index); });
}

int32_t KilnValueTensor(const KilnValue* value, KilnDlTensor* tensor) {
  return capi::ReadInto(tensor, [&]() -> absl::StatusOr<KilnDlTensor> {
    KILN_ASSIGN_OR_RETURN(const kiln::NDArray* held, capi::TensorOf(value));
    return held->BorrowDlpack();
  });
}

int32_t KilnValueToDlpack(const KilnValue* value,
                          KilnDlManagedTensor** tensor) {
  return capi::ReadInto(tensor, [&]() -> absl::StatusOr<KilnDlManagedTensor*> {
    KILN_ASSIGN_OR_RETURN(const kiln::NDArray* held, capi::TensorOf(value));
    return held->ToDlpack();
  });
}

int32_t KilnValueFromDlpack(KilnDlManagedTensor* tensor, KilnValue** value) {
  return capi::ReadInto(value, [&]() -> absl::StatusOr<KilnValue*> {
    auto made = std::make_unique<KilnValue>();
    KILN_ASSIGN_OR_RETURN(made->value, kiln::NDArray::FromDlpack(tensor));
    return made.release();
  });
}
