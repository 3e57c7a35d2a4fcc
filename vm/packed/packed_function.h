// Functions over tensors and scalars whose types are found out at run time.
//
// Nothing registers itself: a packed function is a value that one hands on.
#ifndef KILN_VM_PACKED_PACKED_FUNCTION_H_
#define KILN_VM_PACKED_PACKED_FUNCTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// A tensor, an integer (bool included) or a float.
using PackedValue = std::variant<NDArray, int64_t, double>;

// Results are written into tensors among the arguments.
class PackedFunction {
 public:
  using Body = std::function<absl::Status(absl::Span<const PackedValue>)>;

  PackedFunction() = default;
  PackedFunction(std::string name, Body body)
      : name_(std::move(name)), body_(std::move(body)) {}

  const std::string& name() const { return name_; }
  bool is_null() const { return body_ == nullptr; }

  // Calling a null function is an error, not a crash.
  absl::Status operator()(absl::Span<const PackedValue> args) const;

 private:
  std::string name_;
  Body body_;
};

}  // namespace kiln

#endif  // KILN_VM_PACKED_PACKED_FUNCTION_H_
