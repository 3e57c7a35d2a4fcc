#include "kiln/codegen/graph/build_executable.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/graph/compile_function.h"
#include "kiln/codegen/graph/tables.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/vm/executable/verify.h"

namespace kiln {
std::set<std::string> CalledFunctions(const Module& module) {
  std::set<std::string> called;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* global = e.As<graph::GlobalVarNode>();
      const auto* packed = e.As<graph::ExternNode>();
      if (global || packed) called.insert(global ? global->name : packed->name);
      return true;
    });
  }
  return called;
}

absl::Status InFunction(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("tensor function ", name, ": ",
                                   std::string(status.message())));
}

namespace {

absl::Status AddKernels(const Module& module, const KernelCompiler& compile,
                        vm::Executable* executable, ExecutableTables* tables) {
  const std::set<std::string> called = CalledFunctions(module);
  for (const Function& f : module.functions) {
    if (!called.count(f.name)) continue;
    absl::StatusOr<CompiledKernel> kernel = compile(f);
    if (!kernel.ok()) return InFunction(f.name, kernel.status());
    KILN_ASSIGN_OR_RETURN(Blob object, Blob::Copy(kernel->object));
    tables->SetKernelIndex(f.name,
                           static_cast<int32_t>(executable->kernels.size()));
    executable->kernels.push_back(
        {kernel->symbol, kernel->signature, std::move(object)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<vm::Executable> BuildExecutable(const Module& module,
                                               const std::string& target,
                                               const KernelCompiler& compile) {
  vm::Executable executable;
  executable.target = target;
  executable.compiler = absl::StrCat("LLVM ", CompilerVersion());
  ExecutableTables tables(&executable);
  for (size_t i = 0; i < module.graph_functions.size(); ++i) {
    tables.SetFunctionIndex(module.graph_functions[i]->name,
                            static_cast<int32_t>(i));
  }
  KILN_RETURN_IF_ERROR(AddKernels(module, compile, &executable, &tables));
  for (const graph::GraphFunction& f : module.graph_functions) {
    KILN_ASSIGN_OR_RETURN(vm::Function compiled,
                          CompileGraphFunction(*f, tables));
    executable.functions.push_back(std::move(compiled));
  }
  KILN_RETURN_IF_ERROR(vm::Verify(executable));
  return executable;
}

}  // namespace kiln
