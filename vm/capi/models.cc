// A model is a loaded executable and, for each function that can be called,
// its signature in C's terms, worked out when it is opened. Of main(x: tensor
// float32[n, 784])
//
//   {"x", KILN_TENSOR, {KILN_DL_FLOAT, 32, 1}, 2, {-1, 784}}
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/capi/boundary.h"
#include "kiln/vm/capi/handles.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::capi {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

int32_t KindOf(const vm::Type& type) {
  switch (type.kind) {
    case vm::Type::Kind::kAny:
      return KILN_ANY;
    case vm::Type::Kind::kNumber:
      return type.dtype.is_float() ? KILN_REAL : KILN_INTEGER;
    case vm::Type::Kind::kShape:
      return KILN_SHAPE;
    case vm::Type::Kind::kTensor:
      return KILN_TENSOR;
    case vm::Type::Kind::kTuple:
      return KILN_TUPLE;
    case vm::Type::Kind::kFunction:
      return KILN_OTHER;
  }
  return KILN_ANY;
}

KilnDlType DlTypeOf(DType dtype) {
  const absl::StatusOr<NDArray> none = NDArray::Empty({0}, dtype);
  return none.ok() ? none->BorrowDlpack().dtype : KilnDlType();
}

ParameterInfo InfoOf(const vm::Executable& executable, const vm::Function& f,
                     size_t i) {
  ParameterInfo info;
  info.name = f.params[i];
  info.parameter.kind = KILN_ANY;
  info.parameter.rank = -1;
  const vm::Type* type = vm::ParamType(executable, f, i);
  if (type == nullptr) return info;
  info.parameter.kind = KindOf(*type);
  info.parameter.rank = type->rank;
  info.parameter.dtype = DlTypeOf(type->dtype);
  const bool has_extents =
      type->has_dims && type->kind != vm::Type::Kind::kNumber;
  for (size_t d = 0; has_extents && d < type->dims.size(); ++d) {
    info.extents.push_back(
        type->dims[d].is_constant() ? type->dims[d].constant() : int64_t{-1});
  }
  info.has_extents = has_extents;
  return info;
}

FunctionInfo InfoOf(const vm::Executable& executable, const vm::Function& f) {
  FunctionInfo info;
  info.name = f.name;
  info.signature = vm::SignatureText(executable, f);
  for (size_t i = 0; i < f.params.size(); ++i) {
    info.parameters.push_back(InfoOf(executable, f, i));
  }
  return info;
}

absl::StatusOr<KilnModel*> MakeModel(
    std::shared_ptr<const vm::LoadedExecutable> loaded) {
  auto model = std::make_unique<KilnModel>();
  for (const vm::Function& f : loaded->executable().functions) {
    if (f.is_private) continue;
    model->functions.push_back(InfoOf(loaded->executable(), f));
  }
  model->loaded = std::move(loaded);
  return model.release();
}

absl::StatusOr<KilnModel*> OpenSymbol(const void* symbol) {
  if (symbol == nullptr) return IsNull("`symbol`");
  KILN_ASSIGN_OR_RETURN(vm::SharedModel model, vm::OpenLinkedModel(symbol));
  KILN_ASSIGN_OR_RETURN(auto loaded,
                        vm::LoadedExecutable::Load(std::move(model)));
  return MakeModel(std::move(loaded));
}

absl::StatusOr<KilnModel*> OpenFile(const char* path) {
  if (path == nullptr) return IsNull("`path`");
  KILN_ASSIGN_OR_RETURN(auto loaded, vm::LoadedExecutable::Open(path));
  return MakeModel(std::move(loaded));
}

template <typename Open, typename From>
int32_t OpenModel(Open open, From from, KilnModel** model) {
  if (model != nullptr) *model = nullptr;
  return Guarded([&]() -> absl::Status {
    if (model == nullptr) return IsNull("`model`");
    KILN_ASSIGN_OR_RETURN(*model, open(from));
    return absl::OkStatus();
  });
}

absl::StatusOr<const FunctionInfo*> FindFunction(const KilnModel* model,
                                                 const char* name) {
  if (model == nullptr) return IsNull("`model`");
  if (name == nullptr) return IsNull("`function`");
  for (const FunctionInfo& f : model->functions) {
    if (f.name == name) return &f;
  }
  const std::string names = absl::StrJoin(
      model->functions, ", ",
      [](std::string* out, const FunctionInfo& f) { *out += f.name; });
  return absl::NotFoundError(absl::StrCat("no function is called ", name,
                                          "; there are ",
                                          names.empty() ? "none" : names));
}

absl::Status IsOutside(int32_t index, size_t count, const char* what) {
  return Invalid(
      absl::StrCat("there are ", count, " ", what, ", no number ", index));
}

absl::Status DescribeParameter(const KilnModel* model, const char* function,
                               int32_t index, KilnParameter* parameter) {
  if (parameter == nullptr) return IsNull("`parameter`");
  KILN_ASSIGN_OR_RETURN(const FunctionInfo* f, FindFunction(model, function));
  if (index < 0 || static_cast<size_t>(index) >= f->parameters.size()) {
    return IsOutside(index, f->parameters.size(), "parameters");
  }
  const ParameterInfo& info = f->parameters[index];
  *parameter = info.parameter;
  parameter->name = info.name.c_str();
  parameter->extents = info.has_extents ? info.extents.data() : nullptr;
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln::capi

int32_t KilnModelOpen(const char* path, KilnModel** model) {
  return kiln::capi::OpenModel(kiln::capi::OpenFile, path, model);
}

int32_t KilnModelOpenSymbol(const void* symbol, KilnModel** model) {
  return kiln::capi::OpenModel(kiln::capi::OpenSymbol, symbol, model);
}

void KilnModelClose(KilnModel* model) { delete model; }

int32_t KilnModelFunctionCount(const KilnModel* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->functions.size());
}

const char* KilnModelFunctionName(const KilnModel* model, int32_t index) {
  const char* name = nullptr;
  kiln::capi::Guarded([&]() -> absl::Status {
    if (model == nullptr) return kiln::capi::IsNull("`model`");
    if (index < 0 || static_cast<size_t>(index) >= model->functions.size()) {
      return kiln::capi::IsOutside(index, model->functions.size(), "functions");
    }
    name = model->functions[index].name.c_str();
    return absl::OkStatus();
  });
  return name;
}

const char* KilnModelFunctionSignature(const KilnModel* model,
                                       const char* function) {
  const char* signature = nullptr;
  kiln::capi::Guarded([&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const auto* f,
                          kiln::capi::FindFunction(model, function));
    signature = f->signature.c_str();
    return absl::OkStatus();
  });
  return signature;
}

int32_t KilnModelParameterCount(const KilnModel* model, const char* function) {
  int32_t count = -1;
  kiln::capi::Guarded([&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const auto* f,
                          kiln::capi::FindFunction(model, function));
    count = static_cast<int32_t>(f->parameters.size());
    return absl::OkStatus();
  });
  return count;
}

int32_t KilnModelParameter(const KilnModel* model, const char* function,
                           int32_t index, KilnParameter* parameter) {
  if (parameter != nullptr) *parameter = {};
  return kiln::capi::Guarded([&] {
    return kiln::capi::DescribeParameter(model, function, index, parameter);
  });
}
