#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/capi/arguments.h"
#include "kiln/vm/capi/boundary.h"
#include "kiln/vm/capi/handles.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/packed_library.h"

namespace kiln::capi {
namespace {

constexpr int32_t kMostThreads = 1024;

absl::Status CheckOptions(const KilnMachineOptions& options) {
  if (options.struct_bytes != sizeof(KilnMachineOptions)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "struct_bytes is ", options.struct_bytes, " where this library has ",
        sizeof(KilnMachineOptions), ": set it to sizeof(KilnMachineOptions)"));
  }
  if (options.threads < 0 || options.threads > kMostThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", options.threads,
                     "; it has to be from 0 to ", kMostThreads));
  }
  if (options.num_libraries < 0) {
    return absl::InvalidArgumentError("num_libraries is negative");
  }
  if (options.num_libraries == 0 || options.libraries != nullptr) {
    return absl::OkStatus();
  }
  return IsNull("`libraries`");
}

absl::StatusOr<vm::FunctionTable> Functions(const KilnMachineOptions& options) {
  vm::FunctionTable functions;
  for (int32_t i = 0; i < options.num_libraries; ++i) {
    if (options.libraries[i] == nullptr) return IsNull("a library's path");
    KILN_ASSIGN_OR_RETURN(const vm::FunctionTable opened,
                          vm::OpenPackedLibrary(options.libraries[i]));
    functions.AddAll(opened);
  }
  return functions;
}

absl::StatusOr<KilnMachine*> Create(const KilnModel* model,
                                    const KilnMachineOptions* given) {
  if (model == nullptr) return IsNull("`model`");
  KilnMachineOptions options = {sizeof(KilnMachineOptions), 0, 0, nullptr};
  if (given != nullptr) {
    // Of another version it may be shorter than what is read here.
    std::memcpy(&options.struct_bytes, given, sizeof(options.struct_bytes));
    KILN_RETURN_IF_ERROR(CheckOptions(options));
    options = *given;
    KILN_RETURN_IF_ERROR(CheckOptions(options));
  }
  KILN_ASSIGN_OR_RETURN(vm::FunctionTable functions, Functions(options));
  ThreadPool::Options threads;
  threads.num_threads = options.threads;
  auto machine = std::make_unique<KilnMachine>(threads);
  KILN_ASSIGN_OR_RETURN(
      machine->machine,
      vm::Machine::Create(model->loaded, std::move(functions), &machine->host));
  return machine.release();
}

absl::Status Call(KilnMachine* machine, const char* function,
                  const KilnArgument* arguments, int32_t count,
                  KilnValue** result) {
  if (machine == nullptr) return IsNull("`machine`");
  if (function == nullptr) return IsNull("`function`");
  if (result == nullptr) return IsNull("`result`");
  Arguments args;
  KILN_RETURN_IF_ERROR(args.Add(arguments, count));
  if (machine->is_running.exchange(true)) {
    return absl::FailedPreconditionError(
        "the machine runs another call; make one for each thread");
  }
  const absl::Cleanup end = [machine] { machine->is_running = false; };
  KILN_ASSIGN_OR_RETURN(vm::Value value,
                        machine->machine->Call(function, args.values()));
  KILN_ASSIGN_OR_RETURN(value, args.Detached(std::move(value)));
  *result = new KilnValue{std::move(value)};
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln::capi

int32_t KilnMachineCreate(const KilnModel* model,
                          const KilnMachineOptions* options,
                          KilnMachine** machine) {
  if (machine != nullptr) *machine = nullptr;
  return kiln::capi::Guarded([&]() -> absl::Status {
    if (machine == nullptr) return kiln::capi::IsNull("`machine`");
    KILN_ASSIGN_OR_RETURN(*machine, kiln::capi::Create(model, options));
    return absl::OkStatus();
  });
}

void KilnMachineDestroy(KilnMachine* machine) { delete machine; }

int32_t KilnMachineCall(KilnMachine* machine, const char* function,
                        const KilnArgument* arguments, int32_t count,
                        KilnValue** result) {
  if (result != nullptr) *result = nullptr;
  return kiln::capi::Guarded([&] {
    return kiln::capi::Call(machine, function, arguments, count, result);
  });
}
