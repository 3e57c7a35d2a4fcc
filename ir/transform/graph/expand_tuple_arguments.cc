#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/canonicalize_bindings.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/signatures.h"

namespace kiln {
namespace {

using graph::Expr;
using graph::StructInfo;

// The value of a parameter, made of parameters for its fields.
Expr Expanded(const StructInfo& info, const std::string& name,
              std::vector<graph::Var>& params) {
  const auto* tuple = info.As<graph::TupleInfo>();
  if (!tuple) {
    params.emplace_back(name, info);
    return params.back();
  }
  std::vector<Expr> fields;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    fields.push_back(
        Expanded(tuple->fields[i], absl::StrCat(name, "_", i), params));
  }
  return graph::TupleOf(std::move(fields));
}

void AddFields(const Expr& arg, const StructInfo& param, graph::Emitter& emit,
               std::vector<Expr>& out) {
  const auto* info = param.As<graph::TupleInfo>();
  if (!info) return out.push_back(arg);
  const auto* tuple = arg.As<graph::TupleNode>();
  for (size_t i = 0; i < info->fields.size(); ++i) {
    const Expr field = tuple ? tuple->fields[i]
                             : emit.Emit(graph::Item(arg, static_cast<int>(i)));
    AddFields(field, info->fields[i], emit, out);
  }
}

}  // namespace

absl::StatusOr<Module> ExpandTupleArguments(const Module& module) {
  Module out = module;
  std::map<std::string, ArgumentRule> rules;
  const std::set<std::string> names = OnlyCalled(module);
  for (graph::GraphFunction& f : out.graph_functions) {
    if (names.count(f->name) == 0) continue;
    graph::FunctionFields fields = f->fields();
    const std::vector<graph::Var> params = std::move(fields.params);
    fields.params.clear();
    std::vector<graph::Binding> tuples;
    for (const graph::Var& param : params) {
      const graph::Expr value =
          Expanded(param->info, param->name, fields.params);
      if (value.As<graph::TupleNode>()) {
        tuples.push_back({param, value});
      } else {
        fields.params.back() = param;
      }
    }
    if (tuples.empty()) continue;
    const auto& seq = *f->body.As<graph::SeqNode>();
    std::vector<graph::BindingBlock> blocks = seq.blocks;
    blocks.insert(blocks.begin(), {false, std::move(tuples)});
    fields.body = graph::Seq(std::move(blocks), seq.result);
    rules[f->name] = [params](const graph::CallNode& call,
                              graph::Emitter& emit) {
      std::vector<graph::Expr> args;
      for (size_t i = 0; i < params.size(); ++i) {
        AddFields(call.args[i], params[i]->info, emit, args);
      }
      return args;
    };
    f = graph::GraphFunction(std::move(fields));
  }
  if (rules.empty()) return out;
  RewriteArguments(rules, out);
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(out));
  KILN_ASSIGN_OR_RETURN(const Module canonical, CanonicalizeBindings(inferred));
  return EliminateDeadCode(canonical);
}

}  // namespace kiln
