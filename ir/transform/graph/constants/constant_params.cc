#include "kiln/ir/transform/graph/constants/constant_params.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/tensor/layout_free.h"

namespace kiln {
namespace {

// The calls of one function.
struct Calls {
  int uses = 0;                               // under its name, as whatever
  int calls = 0;                              // of these, by R.call_tir
  std::optional<std::vector<int>> constants;  // null: not called yet
};

bool IsKnownConstant(const graph::Expr& e) {
  const auto* constant = e.As<graph::ConstantNode>();
  return constant && constant->is_known();
}

void AddCall(const graph::TupleNode* args, Calls& calls) {
  ++calls.calls;
  std::vector<int> constants;
  for (size_t i = 0; args && i < args->fields.size(); ++i) {
    if (IsKnownConstant(args->fields[i])) {
      constants.push_back(static_cast<int>(i));
    }
  }
  if (calls.constants) {
    std::erase_if(constants, [&](int at) {
      return !std::binary_search(calls.constants->begin(),
                                 calls.constants->end(), at);
    });
  }
  calls.constants = std::move(constants);
}

std::map<std::string, Calls> AllCalls(const Module& module) {
  std::map<std::string, Calls> all;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(graph::Expr(f.get()), [&](const graph::Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      const auto* global = e.As<graph::GlobalVarNode>();
      const auto* packed = e.As<graph::ExternNode>();
      if (global) ++all[global->name].uses;
      if (packed) ++all[packed->name].uses;
      if (call && call->IsOp("call_tir") && call->args.size() >= 2) {
        const auto* callee = call->args[0].As<graph::GlobalVarNode>();
        const auto* args = call->args[1].As<graph::TupleNode>();
        if (callee) AddCall(args, all[callee->name]);
      }
      return true;
    });
  }
  return all;
}

int64_t BytesOfConstants(const Module& module) {
  std::set<const uint8_t*> seen;
  int64_t bytes = 0;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(graph::Expr(f.get()), [&](const graph::Expr& e) {
      if (IsKnownConstant(e)) {
        const Blob& data = *e.As<graph::ConstantNode>()->data;
        if (seen.insert(data.data()).second) {
          bytes += static_cast<int64_t>(data.size());
        }
      }
      return true;
    });
  }
  return bytes;
}

}  // namespace

std::map<std::string, std::vector<int>> ConstantParams(const Module& module) {
  std::map<std::string, std::vector<int>> params;
  for (auto& [name, calls] : AllCalls(module)) {
    const bool is_only_called = calls.calls > 0 && calls.calls == calls.uses;
    if (is_only_called && !calls.constants->empty()) {
      params[name] = *std::move(calls.constants);
    }
  }
  return params;
}

absl::StatusOr<Module> MarkConstantParams(const Module& module,
                                          int64_t cached_bytes) {
  Module out = module;
  const bool is_cold = BytesOfConstants(module) > cached_bytes;
  for (const auto& [name, positions] : ConstantParams(module)) {
    Function* const f = out.Find(name);
    if (!f) continue;
    std::vector<int> marked = LayoutFreeParams(*f);
    for (const int at : positions) {
      const bool is_there = at < static_cast<int>(f->params.size());
      const Buffer buffer = is_there ? f->params[at].buffer : Buffer();
      const bool is_marked = std::count(marked.begin(), marked.end(), at) > 0;
      if (buffer && buffer->shape.size() > 1 && !is_marked) {
        marked.push_back(at);
      }
    }
    if (marked.empty()) continue;
    SetLayoutFree(f, marked);
    if (is_cold) f->attrs[kColdConstants] = Attr(Bool(true));
  }
  return out;
}

}  // namespace kiln
