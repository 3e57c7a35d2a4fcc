// Functions of a module by name: put in, taken out, checked.
#ifndef KILN_FRONTENDS_BUILDER_MODULE_EDIT_H_
#define KILN_FRONTENDS_BUILDER_MODULE_EDIT_H_

#include <string>

#include "absl/status/status.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

// That text can name a function so.
absl::Status CheckName(const std::string& name);

bool HasFunction(const Module& module, const std::string& name);
void RemoveFunction(Module& module, const std::string& name);
// In its place where the module has one of its name and kind, else as the last
// one.
void PutFunction(Module& module, GraphFunction f);
void PutFunction(Module& module, kiln::Function f);

GraphFunction Renamed(const GraphFunction& f, std::string name);

// What is known of a function as soon as it is there, that calls of it may say
// what they give. One that calls what comes later stays as it is.
GraphFunction InferredIfCan(const GraphFunction& f, const Module& module);

// That graph functions use what they define and calls meet what they call, and
// that tensor functions are well formed. Inference is another matter.
absl::Status CheckWholeModule(const Module& module);

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_MODULE_EDIT_H_
