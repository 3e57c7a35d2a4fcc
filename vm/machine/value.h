// What registers of the machine hold, and packed functions take and give.
#ifndef KILN_VM_MACHINE_VALUE_H_
#define KILN_VM_MACHINE_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kiln/ir/type/dtype.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::vm {

struct TupleValue;
struct ClosureValue;

// Extents.
struct Shape {
  std::shared_ptr<const std::vector<int64_t>> extents;  // not null
};
using Tuple = std::shared_ptr<const TupleValue>;
using Closure = std::shared_ptr<const ClosureValue>;

// Something of the caller's that functions hand on.
struct Object {
  std::string type;
  std::shared_ptr<void> value;
};

// Nothing, a tensor, an integer (bool included), a float, text, extents, a
// tuple, a function, a data type or an object. Copies share tensors.
using Value = std::variant<std::monostate, NDArray, int64_t, double,
                           std::string, Shape, Tuple, Closure, DType, Object>;

struct TupleValue {
  std::vector<Value> fields;
};

// A function of an executable whose last arguments are known.
struct ClosureValue {
  int32_t function = 0;
  const void* owner = nullptr;  // the executable
  std::vector<Value> captured;
};

Shape MakeShape(std::vector<int64_t> extents);
Tuple MakeTuple(std::vector<Value> fields);

// What it is: "float32[3, 4]", "integer 3", "tuple of 2", "shape (2, 3)".
std::string Describe(const Value& value);

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_VALUE_H_
