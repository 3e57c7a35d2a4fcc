// Kernels come from objects, each of which is linked once however many kernels
// it has, or from a shared object that the system has loaded; from there on it
// is the same:
//
//   Executable ── objects ─────┐
//                              ├──► LoadedKernel for each kernel
//   SharedModel ── entries ────┘
#include "kiln/vm/machine/loaded_executable.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/blob.h"
#include "kiln/base/cpu_features.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/executable/verify.h"
#include "kiln/vm/library/elf_image.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::vm {
namespace {

using Objects = std::map<Sha256Digest, std::shared_ptr<const LoadedObject>>;

absl::StatusOr<Value> ValueOf(const Constant& constant) {
  if (const auto* tensor = std::get_if<TensorConstant>(&constant)) {
    // The verifier and the compiler see to it that nothing writes there.
    void* data = const_cast<uint8_t*>(tensor->data.data());
    KILN_ASSIGN_OR_RETURN(NDArray array,
                          NDArray::View(data, tensor->shape, tensor->dtype,
                                        std::make_shared<Blob>(tensor->data)));
    return Value(std::move(array));
  }
  if (const auto* integer = std::get_if<int64_t>(&constant)) {
    return Value(*integer);
  }
  if (const auto* real = std::get_if<double>(&constant)) return Value(*real);
  if (const auto* text = std::get_if<std::string>(&constant)) {
    return Value(*text);
  }
  return Value(std::get<DType>(constant));
}

absl::Status CheckProcessor(const Executable& executable) {
  if (executable.kernels.empty()) return absl::OkStatus();
  const std::vector<std::string> missing =
      MissingCpuFeatures(executable.cpu_features);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "was compiled for another processor (", executable.target,
      "): this one lacks ", absl::StrJoin(missing, ", "),
      "; compile it with --target \"llvm -mcpu=...\" for this one"));
}

absl::StatusOr<LoadedKernel> LinkKernel(const Kernel& kernel,
                                        Objects& objects) {
  std::shared_ptr<const LoadedObject>& object = objects[kernel.object.digest()];
  if (object == nullptr) {
    KILN_ASSIGN_OR_RETURN(object, LoadedObject::Load(kernel.object.bytes()));
  }
  KILN_ASSIGN_OR_RETURN(KilnKernel entry, object->Kernel(kernel.symbol));
  return LoadedKernel::Create(kernel.signature, entry, object);
}

absl::StatusOr<std::shared_ptr<const LoadedExecutable>> OpenFile(
    const std::string& path) {
  bool is_shared = false;
  {
    KILN_ASSIGN_OR_RETURN(const Blob file, Blob::Map(path));
    is_shared = IsElf(file.bytes());
  }
  if (is_shared) {
    KILN_ASSIGN_OR_RETURN(SharedModel model, OpenSharedModel(path));
    return LoadedExecutable::Load(std::move(model));
  }
  KILN_ASSIGN_OR_RETURN(Executable executable, ReadExecutable(path));
  return LoadedExecutable::Load(std::move(executable));
}

}  // namespace

absl::Status LoadedExecutable::AddConstants() {
  for (const Constant& constant : executable_.constants) {
    KILN_ASSIGN_OR_RETURN(Value value, ValueOf(constant));
    constants_.push_back(std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const LoadedExecutable>> LoadedExecutable::Load(
    Executable executable) {
  KILN_RETURN_IF_ERROR(Verify(executable));
  KILN_RETURN_IF_ERROR(CheckProcessor(executable));
  std::shared_ptr<LoadedExecutable> loaded(
      new LoadedExecutable(std::move(executable)));
  Objects objects;
  for (const Kernel& kernel : loaded->executable_.kernels) {
    KILN_ASSIGN_OR_RETURN(LoadedKernel linked, LinkKernel(kernel, objects));
    loaded->kernels_.push_back(std::move(linked));
  }
  KILN_RETURN_IF_ERROR(loaded->AddConstants());
  return loaded;
}

absl::StatusOr<std::shared_ptr<const LoadedExecutable>> LoadedExecutable::Load(
    SharedModel model) {
  KILN_RETURN_IF_ERROR(CheckProcessor(model.executable));
  std::shared_ptr<LoadedExecutable> loaded(
      new LoadedExecutable(std::move(model.executable)));
  const std::vector<Kernel>& kernels = loaded->executable_.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(LoadedKernel kernel,
                          LoadedKernel::Create(kernels[i].signature,
                                               model.entries[i], model.owner));
    loaded->kernels_.push_back(std::move(kernel));
  }
  KILN_RETURN_IF_ERROR(loaded->AddConstants());
  return loaded;
}

absl::StatusOr<std::shared_ptr<const LoadedExecutable>> LoadedExecutable::Open(
    const std::string& path) {
  auto loaded = OpenFile(path);
  if (loaded.ok() || absl::StrContains(loaded.status().message(), path)) {
    return loaded;
  }
  return absl::Status(loaded.status().code(),
                      absl::StrCat(path, " ", loaded.status().message()));
}

}  // namespace kiln::vm
