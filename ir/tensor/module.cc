#include "kiln/ir/tensor/module.h"

#include <algorithm>

#include "kiln/ir/expr/visit.h"

namespace kiln {

std::vector<Var> SymbolicDims(const Function& f) {
  std::vector<Var> dims;
  auto is_known = [&](const Var& var) {
    return std::any_of(f.params.begin(), f.params.end(),
                       [&](const Param& p) { return p.var == var; }) ||
           std::find(dims.begin(), dims.end(), var) != dims.end();
  };
  auto add = [&](const Expr& e) {
    for (const Var& var : FreeVars(e)) {
      if (!is_known(var)) dims.push_back(var);
    }
  };
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    for (const Expr& e : param.buffer->shape) add(e);
    for (const Expr& e : param.buffer->strides) add(e);
    if (param.buffer->elem_offset) add(param.buffer->elem_offset);
  }
  return dims;
}

const Function* Module::Find(std::string_view name) const {
  for (const Function& f : functions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

Function* Module::Find(std::string_view name) {
  return const_cast<Function*>(std::as_const(*this).Find(name));
}

const graph::FunctionNode* Module::FindGraph(std::string_view name) const {
  for (const graph::GraphFunction& f : graph_functions) {
    if (f->name == name) return f.get();
  }
  return nullptr;
}

Stmt MakeRoot(BlockId id, std::vector<Buffer> alloc_buffers, Stmt body) {
  BlockFields root;
  root.id = id;
  root.name = "root";
  root.alloc_buffers = std::move(alloc_buffers);
  root.body = std::move(body);
  return MakeRealize({}, Bool(true), MakeBlock(std::move(root)));
}

Function WithRootBody(Function f, Stmt body,
                      const std::vector<Buffer>& added_buffers) {
  BlockFields root = f.root().fields();
  root.body = std::move(body);
  root.alloc_buffers.insert(root.alloc_buffers.end(), added_buffers.begin(),
                            added_buffers.end());
  f.body = MakeRealize({}, Bool(true), MakeBlock(std::move(root)));
  return f;
}

}  // namespace kiln
