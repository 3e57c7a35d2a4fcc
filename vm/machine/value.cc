#include "kiln/vm/machine/value.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::vm {
namespace {

struct Describer {
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(const NDArray& array) const {
    return array.is_null() ? "a null tensor" : array.TypeString();
  }
  std::string operator()(int64_t value) const {
    return absl::StrCat("integer ", value);
  }
  std::string operator()(double value) const {
    return absl::StrCat("number ", value);
  }
  std::string operator()(const std::string& text) const {
    return absl::StrCat("text \"", text, "\"");
  }
  std::string operator()(const Shape& shape) const {
    return absl::StrCat("shape (", absl::StrJoin(*shape.extents, ", "), ")");
  }
  std::string operator()(const Tuple& tuple) const {
    return absl::StrCat("tuple of ", tuple->fields.size());
  }
  std::string operator()(const Closure&) const { return "function"; }
  std::string operator()(DType dtype) const {
    return absl::StrCat("data type ", dtype.ToString());
  }
  std::string operator()(const Object& object) const {
    return absl::StrCat("object ", object.type);
  }
};

}  // namespace

Shape MakeShape(std::vector<int64_t> extents) {
  return {std::make_shared<const std::vector<int64_t>>(std::move(extents))};
}

Tuple MakeTuple(std::vector<Value> fields) {
  return std::make_shared<const TupleValue>(TupleValue{std::move(fields)});
}

std::string Describe(const Value& value) {
  return std::visit(Describer(), value);
}

}  // namespace kiln::vm
