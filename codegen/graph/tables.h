// The tables of an executable while it is made: equal entries are one.
#ifndef KILN_CODEGEN_GRAPH_TABLES_H_
#define KILN_CODEGEN_GRAPH_TABLES_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

class ExecutableTables {
 public:
  explicit ExecutableTables(vm::Executable* executable)
      : executable_(executable) {}

  int32_t AddString(const std::string& text);
  int32_t AddType(const vm::Type& type);
  int32_t AddConstant(const vm::Constant& constant);
  // A tensor of the program. InvalidArgument where its bytes are not known.
  absl::StatusOr<int32_t> AddTensor(const graph::ConstantNode& constant);

  // Where the functions of the module are. kNone for those that there are not.
  int32_t FunctionIndex(const std::string& name) const;
  int32_t KernelIndex(const std::string& name) const;
  // InvalidArgument where the kernel writes into an operand that is a constant.
  absl::Status CheckWritten(int32_t kernel,
                            const std::vector<vm::Operand>& args) const;
  void SetFunctionIndex(const std::string& name, int32_t index) {
    functions_[name] = index;
  }
  void SetKernelIndex(const std::string& name, int32_t index) {
    kernels_[name] = index;
  }

 private:
  vm::Executable* executable_;
  std::map<std::string, int32_t> strings_, types_;
  std::map<std::string, int32_t> functions_, kernels_;
  std::unordered_map<const graph::ConstantNode*, int32_t> tensors_;
};

}  // namespace kiln

#endif  // KILN_CODEGEN_GRAPH_TABLES_H_
