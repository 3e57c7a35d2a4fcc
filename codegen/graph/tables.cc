#include "kiln/codegen/graph/tables.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"

namespace kiln {
namespace {

// Texts that differ where the types do.
std::string KeyOf(const KernelDim& dim) {
  std::string key;
  for (const KernelDim::Step& step : dim.steps()) {
    absl::StrAppend(&key, static_cast<int>(step.op), ":", step.value, " ");
  }
  return key;
}

std::string KeyOf(const vm::Type& type) {
  std::string key =
      absl::StrCat(static_cast<int>(type.kind), ",", type.dtype.Key(), ",",
                   type.rank, ",", type.has_dims, "[");
  for (const KernelDim& dim : type.dims) absl::StrAppend(&key, KeyOf(dim), ";");
  for (int32_t field : type.fields) absl::StrAppend(&key, ",", field);
  return key;
}

template <typename T>
int32_t Intern(std::map<std::string, int32_t>& known, const std::string& key,
               std::vector<T>& items, const T& item) {
  const auto [it, added] =
      known.emplace(key, static_cast<int32_t>(items.size()));
  if (added) items.push_back(item);
  return it->second;
}

int32_t IndexIn(const std::map<std::string, int32_t>& known,
                const std::string& name) {
  const auto it = known.find(name);
  return it == known.end() ? vm::Instruction::kNone : it->second;
}

}  // namespace

int32_t ExecutableTables::AddString(const std::string& text) {
  return Intern(strings_, text, executable_->strings, text);
}

int32_t ExecutableTables::AddType(const vm::Type& type) {
  return Intern(types_, KeyOf(type), executable_->types, type);
}

int32_t ExecutableTables::AddConstant(const vm::Constant& constant) {
  executable_->constants.push_back(constant);
  return static_cast<int32_t>(executable_->constants.size()) - 1;
}

absl::StatusOr<int32_t> ExecutableTables::AddTensor(
    const graph::ConstantNode& constant) {
  const auto it = tensors_.find(&constant);
  if (it != tensors_.end()) return it->second;
  KILN_RETURN_IF_ERROR(graph::CheckHasBytes(constant));
  const int32_t index = AddConstant(
      vm::TensorConstant{constant.dtype, constant.shape, *constant.data});
  tensors_[&constant] = index;
  return index;
}

int32_t ExecutableTables::FunctionIndex(const std::string& name) const {
  return IndexIn(functions_, name);
}

int32_t ExecutableTables::KernelIndex(const std::string& name) const {
  return IndexIn(kernels_, name);
}

absl::Status ExecutableTables::CheckWritten(
    int32_t kernel, const std::vector<vm::Operand>& args) const {
  const KernelSignature& signature = executable_->kernels[kernel].signature;
  for (size_t i = 0; i < args.size() && i < signature.params.size(); ++i) {
    const KernelParam& param = signature.params[i];
    const bool writes_constant = args[i].kind == vm::Operand::Kind::kConstant &&
                                 param.kind == KernelParam::Kind::kBuffer &&
                                 signature.buffers[param.index].written;
    if (!writes_constant) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(signature.name, " writes into its argument ", i + 1,
                     ", which is a constant"));
  }
  return absl::OkStatus();
}

}  // namespace kiln
