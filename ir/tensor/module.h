// Functions and modules.
#ifndef KILN_IR_TENSOR_MODULE_H_
#define KILN_IR_TENSOR_MODULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// A parameter: a scalar `var`, or a tensor. A tensor's `var` is its handle.
struct Param {
  Var var;
  Buffer buffer;  // null for a scalar
};

// A tensor function. Before lowering, `body` is the realization of the root
// block: a block named "root" with no iterators, whose alloc_buffers are the
// intermediate tensors. Variables in the shapes of parameters that are not
// parameters themselves are symbolic dimensions, bound at the call.
struct Function {
  std::string name;
  std::vector<Param> params;
  AttrMap attrs;  // "global_symbol", "tir.noalias", ...
  bool is_private = false;
  Stmt body;
  // The next free loop or block id. Every id in `body` is smaller.
  int64_t next_id = 1;

  int64_t NewId() { return next_id++; }
  const BlockNode& root() const { return *body.As<BlockRealizeNode>()->block; }
};

// The symbolic dimensions of `f`, in order of first appearance.
std::vector<Var> SymbolicDims(const Function& f);

// Named functions in the order of their definition.
struct Module {
  std::string name = "Module";
  AttrMap attrs;
  std::vector<Function> functions;
  std::vector<graph::GraphFunction> graph_functions;

  // The function called `name`, or nullptr.
  const Function* Find(std::string_view name) const;
  Function* Find(std::string_view name);
  const graph::FunctionNode* FindGraph(std::string_view name) const;
};

// Wraps `body` in a realized root block that allocates `alloc_buffers`.
Stmt MakeRoot(BlockId id, std::vector<Buffer> alloc_buffers, Stmt body);
// A copy of `f` with `body` under the same root block.
Function WithRootBody(Function f, Stmt body,
                      const std::vector<Buffer>& added_buffers = {});

}  // namespace kiln

#endif  // KILN_IR_TENSOR_MODULE_H_
