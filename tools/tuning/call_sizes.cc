// A walk in the order of evaluation, which knows more and more dimensions:
//
//   def main(x: R.Tensor((n, 4)))                  n = 16, as the caller says
//     y = R.match_cast(f(x), R.Tensor((m,)))       m, where f tells it
//     R.call_tir(cls.g, (x,), R.Tensor((n * 4,)))  g's i of (i, 4): 16
//     cls.layer(x)                                 layer's own n: 16
#include "kiln/tools/tuning/call_sizes.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"

namespace kiln {
namespace {

using Sizes = std::map<std::string, std::set<DimSize>>;

bool HasScalarParams(const Function& f) {
  for (const Param& param : f.params) {
    if (!param.buffer) return true;
  }
  return false;
}

// The size of a call with tensors of these shapes, nullptr for unknown ones.
std::optional<DimSize> SizeOfCall(
    const Function& f, const std::vector<graph::StructInfo>& arguments) {
  std::map<const VarNode*, int64_t> values;
  for (size_t i = 0; i < arguments.size() && i < f.params.size(); ++i) {
    const auto* tensor = arguments[i].As<graph::TensorInfo>();
    const auto* extents = tensor ? tensor->extents() : nullptr;
    const std::vector<Expr>& shape = f.params[i].buffer->shape;
    if (!extents || extents->size() != shape.size()) continue;
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto* dim = shape[d].As<VarNode>();
      const int64_t* extent = AsInt((*extents)[d]);
      if (dim && extent) values.emplace(dim, *extent);
    }
  }
  DimSize size;
  for (const Var& dim : SymbolicDims(f)) {
    const auto value = values.find(dim.get());
    if (value == values.end()) return std::nullopt;
    size.push_back(value->second);
  }
  return size;
}

class Walk {
 public:
  explicit Walk(const Module& module) : module_(module) {}

  void Enter(const graph::FunctionNode& f, graph::Substitution known) {
    std::string key = f.name;
    for (const graph::Var& var : f.params) {
      absl::StrAppend(&key, " ", TextOf(var->info, known));
    }
    if (!f.body || !entered_.insert(key).second) return;
    graph::Visit(f.body, [&](const graph::Expr& e) {
      if (const auto* cast = e.As<graph::MatchCastNode>()) {
        graph::Match(cast->info, Known(cast->value, known), known);
      }
      if (const auto* call = e.As<graph::CallNode>()) Take(*call, known);
      return true;
    });
  }

  Sizes Found() { return std::move(found_); }

 private:
  static graph::StructInfo Known(const graph::Expr& e,
                                 const graph::Substitution& known) {
    return graph::Substitute(graph::InfoOf(e), known);
  }
  static std::string TextOf(const graph::StructInfo& info,
                            const graph::Substitution& known) {
    const auto told = graph::Substitute(info, known);
    const auto* tensor = told.As<graph::TensorInfo>();
    const auto* extents = tensor ? tensor->extents() : nullptr;
    std::string text;
    for (size_t i = 0; extents && i < extents->size(); ++i) {
      const int64_t* extent = AsInt((*extents)[i]);
      absl::StrAppend(&text, extent ? absl::StrCat(*extent) : "?", ",");
    }
    return text;
  }

  void Take(const graph::CallNode& call, const graph::Substitution& known) {
    if (const auto* global = call.callee.As<graph::GlobalVarNode>()) {
      TakeGraph(global->name, call, known);
    } else if (!call.args.empty()) {
      const auto* callee = call.args[0].As<graph::GlobalVarNode>();
      if (callee) TakeTensor(callee->name, call, known);
    }
  }

  void TakeGraph(const std::string& name, const graph::CallNode& call,
                 const graph::Substitution& known) {
    const graph::FunctionNode* callee = module_.FindGraph(name);
    if (!callee) return;
    graph::Substitution told;
    for (size_t i = 0; i < callee->params.size() && i < call.args.size(); ++i) {
      graph::Match(callee->params[i]->info, Known(call.args[i], known), told);
    }
    Enter(*callee, std::move(told));
  }

  // R.call_tir(cls.f, (x, y), ...) and the like.
  void TakeTensor(const std::string& name, const graph::CallNode& call,
                  const graph::Substitution& known) {
    const Function* f = module_.Find(name);
    if (!f || SymbolicDims(*f).empty() || HasScalarParams(*f)) return;
    std::vector<graph::StructInfo> arguments;
    const auto* fields =
        call.args.size() > 1 ? call.args[1].As<graph::TupleNode>() : nullptr;
    for (size_t i = 0; fields && i < fields->fields.size(); ++i) {
      arguments.push_back(Known(fields->fields[i], known));
    }
    for (const graph::StructInfo& info : call.infos) {
      arguments.push_back(graph::Substitute(info, known));
    }
    const std::optional<DimSize> size = SizeOfCall(*f, arguments);
    if (size) found_[name].insert(*size);
  }

  const Module& module_;
  std::set<std::string> entered_;  // with their arguments
  Sizes found_;
};

}  // namespace

std::map<std::string, std::set<DimSize>> CallSizes(const Module& module,
                                                   const std::string& entry,
                                                   const DimValues& dims) {
  const graph::FunctionNode* f = module.FindGraph(entry);
  if (!f) return {};
  graph::Substitution known;
  for (const graph::Var& param : f->params) {
    graph::VisitScalars(param->info, [&](const graph::Scalar& e) {
      for (const Var& var : FreeVars(e)) {
        const auto value = dims.find(var.name());
        if (value == dims.end()) continue;
        known.scalars[var.get()] = Int(value->second, var.dtype());
      }
    });
  }
  Walk walk(module);
  walk.Enter(*f, std::move(known));
  return walk.Found();
}

}  // namespace kiln
