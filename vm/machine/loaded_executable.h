// An executable whose code is in memory, for any number of machines.
//
//   KILN_ASSIGN_OR_RETURN(auto model, vm::LoadedExecutable::Open("model.so"));
//   KILN_ASSIGN_OR_RETURN(auto machine,
//                         vm::Machine::Create(model, functions, &host));
#ifndef KILN_VM_MACHINE_LOADED_EXECUTABLE_H_
#define KILN_VM_MACHINE_LOADED_EXECUTABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln::vm {

// Never changes: threads may share it. Constants are views of the executable's
// bytes, which values keep.
class LoadedExecutable {
 public:
  // Verifies it and links its kernels' objects in memory. FailedPrecondition,
  // with their names, where this processor lacks instructions that the kernels
  // need.
  static absl::StatusOr<std::shared_ptr<const LoadedExecutable>> Load(
      Executable executable);
  // Of a model in a shared object, which has been verified.
  static absl::StatusOr<std::shared_ptr<const LoadedExecutable>> Load(
      SharedModel model);
  // Either, from a file: one that vm/executable/file.h reads, or a shared
  // object. The message begins with the path. kNotFound for no such file.
  static absl::StatusOr<std::shared_ptr<const LoadedExecutable>> Open(
      const std::string& path);

  const Executable& executable() const { return executable_; }
  // In the order of those of the executable.
  const std::vector<LoadedKernel>& kernels() const { return kernels_; }
  const std::vector<Value>& constants() const { return constants_; }

 private:
  explicit LoadedExecutable(Executable executable)
      : executable_(std::move(executable)) {}
  absl::Status AddConstants();

  const Executable executable_;
  std::vector<LoadedKernel> kernels_;
  std::vector<Value> constants_;
};

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_LOADED_EXECUTABLE_H_
