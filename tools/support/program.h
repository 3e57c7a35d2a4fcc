// The program that a tool works on, from any of the ways to name one.
#ifndef KILN_TOOLS_SUPPORT_PROGRAM_H_
#define KILN_TOOLS_SUPPORT_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// What the flags say. Exactly one of `module`, `workload` and `einsum` is set.
struct ProgramFlags {
  std::string module;    // a path, relative to the caller's folder; "-": stdin
  std::string workload;  // "gmm:1024,1024,1024", see ir/te/workloads.h
  std::string einsum;    // "C[i,j] += A[i,k] * B[k,j]", with `shape`
  std::string shape;     // "i=512,j=512,k=512"
  std::string func;      // which function; empty: the only one
  // False: code generation chooses nothing for any of the functions, whatever
  // they say (ir/tensor/automatic.h).
  bool is_auto = true;
};

// Reads and verifies the module: TVMScript, or a serialized one, which is told
// by its first bytes. Errors name the file or the flag, and the way out.
absl::StatusOr<Module> LoadProgram(const ProgramFlags& flags);

// A module from a file, by its contents.
absl::StatusOr<Module> LoadModuleFile(const std::string& path);

// The function that `func` names, or the only one when it is empty.
absl::StatusOr<const Function*> ChooseFunction(const Module& module,
                                               const std::string& func);

// Lines for --help: the named workloads with their dimensions.
std::string WorkloadHelp();

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_PROGRAM_H_
