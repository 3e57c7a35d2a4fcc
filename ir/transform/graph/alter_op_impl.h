// Calls of tensor functions become calls of other ones that do the same on
// tensors in other layouts. A function says which op it is by the attribute
// `operator_name`.
//
//   y = R.call_tir(cls.add, (x, x), R.Tensor((16,)))
//
//   a = R.layout_transform(x, lambda i: (i // 4, i % 4))
//   b = R.layout_transform(x, lambda i: (i // 4, i % 4))
//   c = R.call_tir(cls.relax_add_replacement, (a, b), R.Tensor((4, 4)))
//   y = R.layout_transform(c, lambda i, j: (i * 4 + j,))
#ifndef KILN_IR_TRANSFORM_GRAPH_ALTER_OP_IMPL_H_
#define KILN_IR_TRANSFORM_GRAPH_ALTER_OP_IMPL_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Where the element at `inputs` goes.
struct LayoutMap {
  std::vector<Var> inputs;
  std::vector<Expr> outputs;
};

struct OpImplementation {
  Function function;
  // For each tensor that a call hands over, then for each that it gets, the
  // layout in which `function` has it; nullopt: as it is. None: all as they
  // are.
  std::vector<std::optional<LayoutMap>> layouts;
};

// By `operator_name`.
using OpImplementations = std::map<std::string, OpImplementation>;

// Takes a module with struct info. Where a layout rounds extents up, what an
// input has there is 0, and what a result has there is cut off by a function
// `remove_pad`. InvalidArgument for layouts of another number or rank than the
// tensors of a call, and for a result's layout that cannot be inverted: its
// extents have to be numbers, and its map a bijection of the rounded ones.
absl::StatusOr<Module> AlterOpImplementations(
    const Module& module, const OpImplementations& implementations);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_ALTER_OP_IMPL_H_
