// Values of graph functions in the interpreter.
#ifndef KILN_IR_GRAPH_INTERP_VALUE_H_
#define KILN_IR_GRAPH_INTERP_VALUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::graph {

struct TupleValue;
struct ClosureValue;

using TensorValue = std::shared_ptr<::kiln::Tensor>;  // never null
using Extents = std::vector<int64_t>;

// Nothing, a tensor (copies share it), an integer (bool included), a float,
// text, extents, a tuple, a function, a data type.
using Value =
    std::variant<std::monostate, TensorValue, int64_t, double, std::string,
                 Extents, std::shared_ptr<const TupleValue>,
                 std::shared_ptr<const ClosureValue>, DType>;

struct TupleValue {
  std::vector<Value> fields;
};

// A function of the outside, as vm/machine/function_table.h has them: takes
// values and gives one, or nothing if it writes into tensors among them.
using PackedFn = std::function<absl::StatusOr<Value>(absl::Span<const Value>)>;
using PackedTable = std::map<std::string, PackedFn>;

Value TensorOf(::kiln::Tensor tensor);
Value TupleOfValues(std::vector<Value> fields);

// What is known of it: everything.
StructInfo InfoOfValue(const Value& value);

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_INTERP_VALUE_H_
