// What passes ask of functions and their bodies.
#ifndef KILN_IR_TRANSFORM_GRAPH_FUNCTIONS_H_
#define KILN_IR_TRANSFORM_GRAPH_FUNCTIONS_H_

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "kiln/ir/expr/attr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

// An attribute that is an integer or a bool; `missing` where there is none.
int64_t IntAttr(const AttrMap& attrs, const std::string& name, int64_t missing);

// Of a variable that is a tensor; nullptr of all else.
const graph::TensorInfo* TensorInfoOf(const graph::Expr& e);

// Whether both hold the same constants.
bool SameAttrs(const AttrMap& a, const AttrMap& b);

// Whether `f` is one kernel to be: what it calls is fused.
bool IsPrimitive(const graph::FunctionNode& f);

// Adds the functions of the module that `e` names.
void AddNames(const graph::Expr& e, std::set<std::string>& names);

graph::Expr CastTo(const graph::Expr& e, DType dtype);

// How often each variable is used in `e`, as a value or as the shape of one.
using UseCounts = std::unordered_map<const graph::VarNode*, int>;
UseCounts CountUses(const graph::Expr& e);
void AddShapeUses(const graph::StructInfo& info, UseCounts& uses);

// Adds a graph function under a name like its own; one that the module has
// already, equal up to names, is used again. Gives the name.
std::string AddGraphFunction(const graph::GraphFunction& f, Module& module);

// Whether evaluating `value`, which is in normal form, has no effect but its
// value.
bool IsPure(const graph::Expr& value, const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUNCTIONS_H_
