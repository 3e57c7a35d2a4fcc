#include "kiln/vm/machine/packed_library.h"

#include <memory>
#include <string>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/machine/packed_abi.h"

namespace kiln::vm {
namespace {

using Library = std::shared_ptr<const LoadedObject>;

constexpr size_t kUsualArguments = 8;

// Arguments as C takes them.
class Arguments {
 public:
  explicit Arguments(size_t count) { tensors_.reserve(count); }

  absl::Status Add(const Value& value) {
    KilnPackedArgument arg = {};
    if (const auto* array = std::get_if<NDArray>(&value)) {
      tensors_.push_back(array->BorrowDlpack());
      arg.kind = KILN_PACKED_TENSOR;
      arg.value.tensor = &tensors_.back();
    } else if (const auto* integer = std::get_if<int64_t>(&value)) {
      arg.kind = KILN_PACKED_INTEGER;
      arg.value.integer = *integer;
    } else if (const auto* number = std::get_if<double>(&value)) {
      arg.kind = KILN_PACKED_FLOAT;
      arg.value.number = *number;
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      arg.kind = KILN_PACKED_TEXT;
      arg.value.text = text->c_str();
    } else if (const auto* shape = std::get_if<Shape>(&value)) {
      arg.kind = KILN_PACKED_SHAPE;
      arg.ndim = static_cast<int32_t>(shape->extents->size());
      arg.value.extents = shape->extents->data();
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument ", args_.size() + 1, " is ", Describe(value),
          "; functions of shared objects take tensors, numbers, text and "
          "shapes"));
    }
    args_.push_back(arg);
    return absl::OkStatus();
  }

  const KilnPackedArgument* data() const { return args_.data(); }
  int32_t size() const { return static_cast<int32_t>(args_.size()); }

 private:
  absl::InlinedVector<KilnPackedArgument, kUsualArguments> args_;
  absl::InlinedVector<KilnDlTensor, kUsualArguments> tensors_;
};

absl::StatusOr<Value> CallPacked(KilnPackedFunction f,
                                 absl::Span<const Value> values) {
  Arguments args(values.size());
  for (const Value& value : values) KILN_RETURN_IF_ERROR(args.Add(value));
  char message[KILN_PACKED_MESSAGE_BYTES] = {};
  const int32_t status = f(args.data(), args.size(), message);
  if (status == 0) return Value();
  message[KILN_PACKED_MESSAGE_BYTES - 1] = '\0';
  if (message[0] != '\0') return absl::InvalidArgumentError(message);
  return absl::InvalidArgumentError(
      absl::StrCat("the function returned ", status));
}

absl::Status NoLibrary(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, " ", why, "; packed_abi.h says what a library exports"));
}

absl::StatusOr<const KilnPackedEntry*> Entries(const LoadedObject& library,
                                               const std::string& path) {
  const absl::StatusOr<void*> version = library.Symbol("kiln_packed_abi");
  const absl::StatusOr<void*> table = library.Symbol("kiln_packed_functions");
  if (!version.ok() || !table.ok()) {
    return NoLibrary(path, "exports no packed functions");
  }
  const int32_t found = *static_cast<const int32_t*>(*version);
  if (found != KILN_PACKED_ABI_VERSION) {
    return NoLibrary(
        path, absl::StrCat("is made for version ", found,
                           " of the interface, not ", KILN_PACKED_ABI_VERSION));
  }
  const auto* entries = *static_cast<const KilnPackedEntry* const*>(*table);
  if (entries == nullptr) return NoLibrary(path, "has an empty table");
  return entries;
}

}  // namespace

absl::StatusOr<FunctionTable> OpenPackedLibrary(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const Library library, LoadedObject::Open(path));
  KILN_ASSIGN_OR_RETURN(const KilnPackedEntry* entry, Entries(*library, path));
  FunctionTable functions;
  for (; entry->name != nullptr; ++entry) {
    if (entry->function == nullptr) {
      return NoLibrary(path, absl::StrCat("has no function for ", entry->name));
    }
    functions.Add(entry->name,
                  [library, f = entry->function](absl::Span<const Value> args) {
                    return CallPacked(f, args);
                  });
  }
  return functions;
}

}  // namespace kiln::vm
