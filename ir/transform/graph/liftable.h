// What of a function can be done to its weights ahead of calls.
#ifndef KILN_IR_TRANSFORM_GRAPH_LIFTABLE_H_
#define KILN_IR_TRANSFORM_GRAPH_LIFTABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

using ScalarSet = std::set<const VarNode*>;

// Adds the dimensions that struct info brings in.
void AddDefined(const graph::StructInfo& info, ScalarSet& scalars);

// A function whose weights are the parameters behind its inputs.
struct LiftCandidate {
  size_t index;  // in the module
  int64_t num_inputs;
  graph::GraphFunction f;
  // What can be lifted, in order, with a number for each value: the same for
  // the same thing done to the same weights.
  std::vector<graph::Binding> liftable;
  std::vector<int> keys;

  std::vector<graph::Var> Weights() const {
    return {f->params.begin() + num_inputs, f->params.end()};
  }
};

// Whether the value is a mark that ends lifting.
bool StopsLifting(const graph::Expr& value);

// Fills `c.liftable`: bindings of dataflow blocks that need weights only.
void FindLiftable(const Module& module, LiftCandidate& c);

// Fills `c.keys`. Members of a group share the numbers of texts.
using TextNumbers = std::map<std::string, int>;
void NumberValues(TextNumbers& numbers, LiftCandidate& c);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LIFTABLE_H_
