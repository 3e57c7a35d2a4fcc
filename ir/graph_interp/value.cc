#include "kiln/ir/graph_interp/value.h"

#include <utility>

namespace kiln::graph {
namespace {

std::vector<Scalar> Constants(const std::vector<int64_t>& numbers) {
  std::vector<Scalar> constants;
  for (int64_t number : numbers) constants.push_back(Int(number));
  return constants;
}

struct InfoMaker {
  StructInfo operator()(std::monostate) const { return Object(); }
  StructInfo operator()(const TensorValue& tensor) const {
    return graph::Tensor(Constants(tensor->shape), tensor->dtype);
  }
  StructInfo operator()(int64_t value) const {
    return Prim(DType::Index(), Int(value));
  }
  StructInfo operator()(double) const { return Prim(DType::Float(64)); }
  StructInfo operator()(const std::string&) const { return Object(); }
  StructInfo operator()(const Extents& extents) const {
    return Shape(Constants(extents));
  }
  StructInfo operator()(const std::shared_ptr<const TupleValue>& tuple) const {
    std::vector<StructInfo> fields;
    for (const Value& field : tuple->fields) {
      fields.push_back(InfoOfValue(field));
    }
    return Tuple(std::move(fields));
  }
  StructInfo operator()(const std::shared_ptr<const ClosureValue>&) const {
    return Callable(std::nullopt, Object(), /*is_pure=*/false);
  }
  StructInfo operator()(DType) const { return Object(); }
};

}  // namespace

Value TensorOf(kiln::Tensor tensor) {
  return std::make_shared<kiln::Tensor>(std::move(tensor));
}

Value TupleOfValues(std::vector<Value> fields) {
  return std::make_shared<const TupleValue>(TupleValue{std::move(fields)});
}

StructInfo InfoOfValue(const Value& value) {
  return std::visit(InfoMaker(), value);
}

}  // namespace kiln::graph
