// Functions for the code generators of libraries: composite ones, which say
// which pattern they are, and those around them, which say whose they are.
#ifndef KILN_IR_TRANSFORM_GRAPH_COMPOSITE_H_
#define KILN_IR_TRANSFORM_GRAPH_COMPOSITE_H_

#include <set>
#include <string>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

inline constexpr char kCompositeAttr[] = "Composite";
inline constexpr char kCodegenAttr[] = "Codegen";

// The attribute's text, or "".
std::string StringAttr(const graph::FunctionNode& f, const char* name);

// "dnnl" of a function with "Composite": "dnnl.conv2d"; "" of others.
std::string LibraryOf(const graph::FunctionNode* f);

// A variable that holds a copy of `composite` within another function, and the
// copy: with dimensions of its own, and no attribute but that one.
graph::Binding LocalComposite(const graph::FunctionNode& composite);

// Without those of the graph functions that nothing names.
void DropUnnamed(const std::set<std::string>& functions, Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_COMPOSITE_H_
