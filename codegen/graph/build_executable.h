// A module to an executable.
//
//   KILN_ASSIGN_OR_RETURN(module, InferModule(module));
//   KILN_ASSIGN_OR_RETURN(module, LegalizeOps(module));
//   KILN_ASSIGN_OR_RETURN(vm::Executable model, BuildExecutable(
//       module, target, [&](const Function& f) {
//         return CompileKernel(f, target);
//       }));
#ifndef KILN_CODEGEN_GRAPH_BUILD_EXECUTABLE_H_
#define KILN_CODEGEN_GRAPH_BUILD_EXECUTABLE_H_

#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// Schedules a tensor function as it likes, and compiles it.
using KernelCompiler =
    std::function<absl::StatusOr<CompiledKernel>(const Function&)>;

// The names of tensor functions that graph functions use, by R.call_tir, as
// R.call_dps_packed("f", ...), as values.
std::set<std::string> CalledFunctions(const Module& module);

// An error of a tensor function, with its name.
absl::Status InFunction(const std::string& name, const absl::Status& status);

// Every graph function becomes bytecode, every tensor function that one calls a
// kernel. `target` is written down for the reader. The module has struct info
// throughout and its ops are legalized; the error of one that is not names the
// function and the variable.
absl::StatusOr<vm::Executable> BuildExecutable(const Module& module,
                                               const std::string& target,
                                               const KernelCompiler& compile);

}  // namespace kiln

#endif  // KILN_CODEGEN_GRAPH_BUILD_EXECUTABLE_H_
