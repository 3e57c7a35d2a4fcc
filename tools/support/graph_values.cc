#include "kiln/tools/support/graph_values.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/support/execute.h"

namespace kiln {
namespace {

absl::StatusOr<std::vector<vm::Value>> ToVmValues(
    absl::Span<const graph::Value> values) {
  std::vector<vm::Value> converted;
  for (const graph::Value& value : values) {
    KILN_ASSIGN_OR_RETURN(vm::Value one, ToVmValue(value));
    converted.push_back(std::move(one));
  }
  return converted;
}

absl::StatusOr<graph::Value> CallPacked(const vm::Packed& f,
                                        absl::Span<const graph::Value> args) {
  KILN_ASSIGN_OR_RETURN(const std::vector<vm::Value> values, ToVmValues(args));
  KILN_ASSIGN_OR_RETURN(const vm::Value result, f(values));
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* tensor = std::get_if<graph::TensorValue>(&args[i]);
    if (!tensor) continue;
    std::memcpy((*tensor)->bytes.data(), std::get<NDArray>(values[i]).data(),
                (*tensor)->bytes.size());
  }
  return ToGraphValue(result);
}

}  // namespace

absl::StatusOr<graph::Value> ToGraphValue(const vm::Value& value) {
  if (const auto* array = std::get_if<NDArray>(&value)) {
    if (!array->is_null()) return graph::TensorOf(ToTensor(*array));
  }
  if (std::holds_alternative<std::monostate>(value)) return graph::Value();
  if (const auto* x = std::get_if<int64_t>(&value)) return graph::Value(*x);
  if (const auto* x = std::get_if<double>(&value)) return graph::Value(*x);
  if (const auto* x = std::get_if<std::string>(&value)) return graph::Value(*x);
  if (const auto* x = std::get_if<DType>(&value)) return graph::Value(*x);
  if (const auto* x = std::get_if<vm::Shape>(&value)) {
    return graph::Value(*x->extents);
  }
  if (const auto* tuple = std::get_if<vm::Tuple>(&value)) {
    std::vector<graph::Value> fields;
    for (const vm::Value& field : (*tuple)->fields) {
      KILN_ASSIGN_OR_RETURN(graph::Value one, ToGraphValue(field));
      fields.push_back(std::move(one));
    }
    return graph::TupleOfValues(std::move(fields));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(vm::Describe(value), " means nothing to the interpreter"));
}

absl::StatusOr<vm::Value> ToVmValue(const graph::Value& value) {
  if (const auto* tensor = std::get_if<graph::TensorValue>(&value)) {
    KILN_ASSIGN_OR_RETURN(NDArray array, ToNDArray(**tensor));
    return vm::Value(std::move(array));
  }
  if (std::holds_alternative<std::monostate>(value)) return vm::Value();
  if (const auto* x = std::get_if<int64_t>(&value)) return vm::Value(*x);
  if (const auto* x = std::get_if<double>(&value)) return vm::Value(*x);
  if (const auto* x = std::get_if<std::string>(&value)) return vm::Value(*x);
  if (const auto* x = std::get_if<DType>(&value)) return vm::Value(*x);
  if (const auto* x = std::get_if<graph::Extents>(&value)) {
    return vm::Value(vm::MakeShape(*x));
  }
  const auto* tuple =
      std::get_if<std::shared_ptr<const graph::TupleValue>>(&value);
  if (!tuple) {
    return absl::InvalidArgumentError(
        "a function of the interpreter means nothing to the machine");
  }
  KILN_ASSIGN_OR_RETURN(std::vector<vm::Value> fields,
                        ToVmValues((*tuple)->fields));
  return vm::Value(vm::MakeTuple(std::move(fields)));
}

graph::PackedTable ToPackedTable(const vm::FunctionTable& functions) {
  graph::PackedTable table;
  for (const auto& [name, f] : functions.functions()) {
    table[name] = [f = f](absl::Span<const graph::Value> args) {
      return CallPacked(f, args);
    };
  }
  return table;
}

}  // namespace kiln
