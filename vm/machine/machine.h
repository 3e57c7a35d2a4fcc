// Runs executables.
//
//   KILN_ASSIGN_OR_RETURN(auto model, vm::LoadedExecutable::Open(path));
//   ThreadPool pool;
//   KernelHost host(&pool);
//   KILN_ASSIGN_OR_RETURN(auto machine, vm::Machine::Create(model, {}, &host));
//   KILN_ASSIGN_OR_RETURN(vm::Value y, machine->Call("main", {x, weights}));
//
// No compiler is linked in.
#ifndef KILN_VM_MACHINE_MACHINE_H_
#define KILN_VM_MACHINE_MACHINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/observed_call.h"
#include "kiln/vm/machine/value.h"

namespace kiln::vm {

struct MachineOptions {
  // Calls of functions within each other.
  int max_depth = 1000;
  // Instructions that a call from outside may take; 0: any number.
  int64_t max_instructions = 0;
  // Called behind each kernel and packed function.
  std::function<void(const ObservedCall&)> observe;
};

class Machine {
 public:
  // Refuses an executable that calls a packed function which neither
  // `functions` nor builtins.h has. `host` outlives the machine. Machines of
  // several threads may share the executable, each with a host of its own.
  static absl::StatusOr<std::unique_ptr<Machine>> Create(
      std::shared_ptr<const LoadedExecutable> loaded, FunctionTable functions,
      const KernelHost* host, MachineOptions options = {});
  // Loads the executable first, for this machine alone.
  static absl::StatusOr<std::unique_ptr<Machine>> Create(
      Executable executable, FunctionTable functions, const KernelHost* host,
      MachineOptions options = {});
  ~Machine();

  const Executable& executable() const;

  // The result of a function that is not private. Arguments are not changed,
  // but by packed functions and by calls that the program declares as in place.
  // Errors name the function, the variable and the reason; the machine can be
  // used again. Calls may not overlap.
  absl::StatusOr<Value> Call(std::string_view function,
                             absl::Span<const Value> args);

  // Calls what a function gave.
  absl::StatusOr<Value> CallClosure(const Closure& closure,
                                    absl::Span<const Value> args);

 private:
  class Impl;
  explicit Machine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_MACHINE_H_
