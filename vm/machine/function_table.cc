#include "kiln/vm/machine/function_table.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"

namespace kiln::vm {
namespace {

absl::StatusOr<Value> CallKernel(const PackedFunction& f,
                                 absl::Span<const Value> args) {
  std::vector<PackedValue> packed;
  for (const Value& arg : args) {
    if (const auto* array = std::get_if<NDArray>(&arg)) {
      packed.emplace_back(*array);
    } else if (const auto* integer = std::get_if<int64_t>(&arg)) {
      packed.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&arg)) {
      packed.emplace_back(*real);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(f.name(), " takes tensors and numbers; argument ",
                       packed.size() + 1, " is ", Describe(arg)));
    }
  }
  KILN_RETURN_IF_ERROR(f(packed));
  return Value();
}

}  // namespace

void FunctionTable::AddKernel(PackedFunction f) {
  std::string name = f.name();
  Add(std::move(name), [f = std::move(f)](absl::Span<const Value> args) {
    return CallKernel(f, args);
  });
}

void FunctionTable::AddAll(const FunctionTable& other) {
  functions_.insert(other.functions_.begin(), other.functions_.end());
}

const Packed* FunctionTable::Find(const std::string& name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : &it->second;
}

std::string FunctionTable::Names() const {
  return absl::StrJoin(
      functions_, ", ",
      [](std::string* out, const auto& entry) { *out += entry.first; });
}

}  // namespace kiln::vm
