// The functions of the outside that a machine may call, by name.
//
//   FunctionTable functions;
//   functions.Add("env.relu", [](absl::Span<const Value> args) { ... });
//   functions.AddKernel(PackedFunction("env.linear", ...));
//
// Nothing registers itself: a table is a value that one hands to a machine.
#ifndef KILN_VM_MACHINE_FUNCTION_TABLE_H_
#define KILN_VM_MACHINE_FUNCTION_TABLE_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln::vm {

// Takes values and gives one; nothing, where all it does is to write into
// tensors among the arguments.
using Packed = std::function<absl::StatusOr<Value>(absl::Span<const Value>)>;

class FunctionTable {
 public:
  // Replaces one of the same name.
  void Add(std::string name, Packed f) { functions_[std::move(name)] = f; }
  // One over tensors and numbers that writes into its arguments, under its
  // name.
  void AddKernel(PackedFunction f);
  // Those of the other table, too; its own stay.
  void AddAll(const FunctionTable& other);

  // Null where there is none.
  const Packed* Find(const std::string& name) const;
  const std::map<std::string, Packed>& functions() const { return functions_; }
  // "env.linear, env.relu", for messages.
  std::string Names() const;

 private:
  std::map<std::string, Packed> functions_;
};

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_FUNCTION_TABLE_H_
