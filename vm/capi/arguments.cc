// A tensor of the caller's is borrowed for the call: nothing of it may be kept
// by the result. Of
//
//   main(x) = (x, x + 1)
//
// the first field would be the caller's memory, so it becomes a copy.
#include "kiln/vm/capi/arguments.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/capi/boundary.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln::capi {
namespace {

// Tuples within tuples. A value is dropped field by field, so results, which
// may become arguments, have a limit as well.
constexpr int kMaxDepth = 100, kMaxResultDepth = 1000;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<vm::Value> ShapeOf(const KilnArgument& argument) {
  const int64_t* extents = argument.as.extents;
  if (argument.count < 0) return Invalid("a shape has a negative rank");
  if (argument.count > 0 && extents == nullptr) return IsNull("its shape");
  return vm::Value(
      vm::MakeShape(std::vector<int64_t>(extents, extents + argument.count)));
}

}  // namespace

absl::StatusOr<vm::Value> Arguments::TensorOf(const KilnDlTensor* tensor) {
  if (tensor == nullptr) return IsNull("its tensor");
  auto borrowed = std::make_unique<KilnDlManagedTensor>();
  borrowed->tensor = *tensor;
  borrowed->deleter = [](KilnDlManagedTensor* self) { delete self; };
  KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::FromDlpack(borrowed.get()));
  borrowed.release();  // the array's
  borrowed_.push_back(array);
  return vm::Value(std::move(array));
}

absl::StatusOr<vm::Value> Arguments::TupleOf(const KilnArgument& argument,
                                             int depth) {
  if (depth >= kMaxDepth) {
    return Invalid(absl::StrCat("tuples lie in each other more than ",
                                kMaxDepth, " times"));
  }
  if (argument.count < 0) return Invalid("a tuple has a negative size");
  if (argument.count > 0 && argument.as.fields == nullptr) {
    return IsNull("its fields");
  }
  std::vector<vm::Value> fields;
  for (int32_t i = 0; i < argument.count; ++i) {
    KILN_ASSIGN_OR_RETURN(vm::Value field,
                          ValueOf(argument.as.fields[i], depth + 1));
    fields.push_back(std::move(field));
  }
  return vm::Value(vm::MakeTuple(std::move(fields)));
}

absl::StatusOr<vm::Value> Arguments::ValueOf(const KilnArgument& argument,
                                             int depth) {
  if (argument.kind == KILN_NONE) return vm::Value();
  if (argument.kind == KILN_TENSOR) return TensorOf(argument.as.tensor);
  if (argument.kind == KILN_INTEGER) return vm::Value(argument.as.integer);
  if (argument.kind == KILN_REAL) return vm::Value(argument.as.real);
  if (argument.kind == KILN_SHAPE) return ShapeOf(argument);
  if (argument.kind == KILN_TUPLE) return TupleOf(argument, depth);
  if (argument.kind == KILN_TEXT) {
    if (argument.as.text == nullptr) return IsNull("its text");
    return vm::Value(std::string(argument.as.text));
  }
  if (argument.kind == KILN_VALUE) {
    if (argument.as.value == nullptr) return IsNull("its value");
    return argument.as.value->value;
  }
  return Invalid(
      absl::StrCat("there are no arguments of kind ", argument.kind));
}

absl::Status Arguments::Add(const KilnArgument* arguments, int32_t count) {
  if (count < 0) return Invalid("a negative number of arguments");
  if (count > 0 && arguments == nullptr) return IsNull("`arguments`");
  values_.reserve(count);
  for (int32_t i = 0; i < count; ++i) {
    absl::StatusOr<vm::Value> value = ValueOf(arguments[i], 0);
    if (!value.ok()) {
      return absl::Status(value.status().code(),
                          absl::StrCat("argument ", i, ": ",
                                       std::string(value.status().message())));
    }
    values_.push_back(*std::move(value));
  }
  return absl::OkStatus();
}

bool Arguments::IsBorrowed(const NDArray& array) const {
  for (const NDArray& other : borrowed_) {
    if (KilnShareMemory(array.data(), array.bytes(), other.data(),
                        other.bytes())) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<vm::Value> Arguments::Detached(vm::Value result,
                                              int depth) const {
  if (const auto* array = std::get_if<NDArray>(&result)) {
    if (array->is_null() || !IsBorrowed(*array)) return result;
    KILN_ASSIGN_OR_RETURN(NDArray copy, array->Clone());
    return vm::Value(std::move(copy));
  }
  const auto* tuple = std::get_if<vm::Tuple>(&result);
  if (!tuple || *tuple == nullptr) return result;
  if (depth >= kMaxResultDepth) {
    return Invalid(
        absl::StrCat("tuples of the result lie in each other more "
                     "than ",
                     kMaxResultDepth, " times"));
  }
  std::vector<vm::Value> fields;
  for (const vm::Value& field : (*tuple)->fields) {
    KILN_ASSIGN_OR_RETURN(vm::Value detached, Detached(field, depth + 1));
    fields.push_back(std::move(detached));
  }
  return vm::Value(vm::MakeTuple(std::move(fields)));
}

}  // namespace kiln::capi
