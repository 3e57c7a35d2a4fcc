// Primitive functions become tensor functions one by one; calls of them hand
// over tensors one by one, and the numbers that shapes hold:
//
//   cls.fused(x, y, R.shape([n]))   R.call_tir(cls.fused, (x[0], x[1], y, n))
//
// for a tuple `x`, whose fields are bound to variables of their own.
#include "kiln/ir/transform/graph/fuse_tir.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/canonicalize_bindings.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/fused_function.h"

namespace kiln {
namespace {

using graph::StructInfo;

// The arguments of a call, laid out as parameters of a tensor function.
struct Arguments {
  std::vector<graph::Expr> tensors, numbers;
};

void AddNumbers(const StructInfo& info, std::vector<graph::Expr>& out) {
  if (const auto* shape = info.As<graph::ShapeInfo>()) {
    for (const graph::Scalar& value : *shape->values) {
      out.push_back(graph::Number(value));
    }
  }
  const auto* prim = info.As<graph::PrimInfo>();
  if (prim && prim->value) out.push_back(graph::Number(prim->value));
}

void AddArgument(const graph::Expr& arg, const StructInfo& param,
                 graph::Emitter& emit, Arguments& out) {
  const auto* tuple = param.As<graph::TupleInfo>();
  if (param.As<graph::TensorInfo>()) {
    out.tensors.push_back(arg);
  } else if (tuple) {
    const auto* fields = arg.As<graph::TupleNode>();
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      graph::Expr field =
          fields ? fields->fields[i] : graph::Item(arg, static_cast<int>(i));
      if (!fields) field = emit.Emit(field);
      AddArgument(field, tuple->fields[i], emit, out);
    }
  } else if (arg.As<graph::PrimNode>()) {
    out.numbers.push_back(arg);
  } else {
    AddNumbers(graph::InfoOf(arg), out.numbers);
  }
}

// Numbers that the caller does not know one by one cannot be handed over.
bool IsKnown(const StructInfo& info) {
  const auto* shape = info.As<graph::ShapeInfo>();
  const auto* prim = info.As<graph::PrimInfo>();
  const auto* tuple = info.As<graph::TupleInfo>();
  if (tuple) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), IsKnown);
  }
  return (!shape || shape->values) && (!prim || prim->value);
}

std::vector<StructInfo> OutputsOf(const StructInfo& info) {
  if (const auto* tuple = info.As<graph::TupleInfo>()) return tuple->fields;
  return {info};
}

// How often functions are called with arguments that can be handed over, and
// how often they are named at all.
struct Uses {
  std::map<std::string, int> calls, names;
};

Uses UsesOf(const Module& module) {
  Uses uses;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      if (const auto* global = e.As<graph::GlobalVarNode>()) {
        ++uses.names[global->name];
      }
      const auto* call = e.As<graph::CallNode>();
      const auto* callee =
          call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
      const bool fits =
          callee && std::all_of(call->args.begin(), call->args.end(),
                                [](const graph::Expr& arg) {
                                  return IsKnown(graph::InfoOf(arg));
                                });
      if (fits) ++uses.calls[callee->name];
      return true;
    });
  }
  return uses;
}

class Fuser {
 public:
  explicit Fuser(const Module& module) : module_(module) {}

  Module Run() {
    Uses uses = UsesOf(module_);
    for (const graph::GraphFunction& f : module_.graph_functions) {
      const bool is_wanted =
          IsPrimitive(*f) && uses.calls[f->name] == uses.names[f->name];
      if (!is_wanted) continue;
      auto fused = FusedFunction(*f, module_);
      if (fused) fused_.emplace(f->name, *std::move(fused));
    }
    Module out = module_;
    out.graph_functions.clear();
    for (const graph::GraphFunction& f : module_.graph_functions) {
      if (fused_.count(f->name) == 0) out.graph_functions.push_back(Calls(f));
    }
    DropUnused(out);
    for (auto& [name, f] : fused_) out.functions.push_back(f);
    return out;
  }

 private:
  graph::GraphFunction Calls(const graph::GraphFunction& f) {
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* call = binding.value.As<graph::CallNode>();
          const auto* callee =
              call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
          if (!callee || fused_.count(callee->name) == 0) return false;
          emit.Emit(binding.var, Call(*call, binding.var->info, emit));
          return true;
        });
    return graph::GraphFunction(e.As<graph::FunctionNode>());
  }

  graph::Expr Call(const graph::CallNode& call, const StructInfo& result,
                   graph::Emitter& emit) {
    const auto* callee = call.callee.As<graph::GlobalVarNode>();
    const graph::FunctionNode& f = *module_.FindGraph(callee->name);
    Arguments args;
    for (size_t i = 0; i < call.args.size(); ++i) {
      AddArgument(call.args[i], f.params[i]->info, emit, args);
    }
    args.tensors.insert(args.tensors.end(), args.numbers.begin(),
                        args.numbers.end());
    return graph::CallOp("call_tir",
                         {call.callee, graph::TupleOf(std::move(args.tensors))},
                         {}, OutputsOf(result));
  }

  void DropUnused(Module& out) const {
    std::set<std::string> had, has;
    for (const graph::GraphFunction& f : module_.graph_functions) {
      if (fused_.count(f->name) > 0) AddNames(f, had);
    }
    for (const graph::GraphFunction& f : out.graph_functions) AddNames(f, has);
    const auto is_unused = [&](const Function& f) {
      return had.count(f.name) > 0 && has.count(f.name) == 0;
    };
    out.functions.erase(
        std::remove_if(out.functions.begin(), out.functions.end(), is_unused),
        out.functions.end());
  }

  const Module& module_;
  std::map<std::string, Function> fused_;
};

}  // namespace

absl::StatusOr<Module> FuseTensorFunctions(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const Module fused, InferModule(Fuser(module).Run()));
  return CanonicalizeBindings(fused);
}

}  // namespace kiln
