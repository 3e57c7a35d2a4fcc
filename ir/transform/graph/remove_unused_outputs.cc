// First which fields callers look at, function by function; a function whose
// result is used as a whole keeps it. Then results get shorter, and last the
// fields of calls are counted anew:
//
//   def f(a): return (b, c)        return c
//   t = f(x); r = t[1]             r = f(x)
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/normalize.h"
#include "kiln/ir/transform/graph/signatures.h"

namespace kiln {
namespace {

using Fields = std::set<int>;

// The fields of results that callers look at, by the name of the function;
// those of whose results anything else is used are left out.
class Looks {
 public:
  explicit Looks(const Module& module) : names_(OnlyCalled(module)) {
    for (const std::string& name : names_) used_[name];
    for (const graph::GraphFunction& f : module.graph_functions) Add(f);
  }

  const std::map<std::string, Fields>& used() const { return used_; }

 private:
  void Add(const graph::GraphFunction& f) {
    UseCounts items, all = CountUses(f);
    std::unordered_map<const graph::VarNode*, std::string> results;
    graph::RewriteBindings(f, [&](const graph::Binding& binding, auto&) {
      const auto* call = binding.value.As<graph::CallNode>();
      const auto* callee =
          call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
      if (callee) results[binding.var.get()] = callee->name;
      const auto* item = binding.value.As<graph::TupleItemNode>();
      const auto found =
          results.find(item ? item->tuple.As<graph::VarNode>() : nullptr);
      if (found != results.end()) {
        ++items[found->first];
        if (used_.count(found->second)) {
          used_[found->second].insert(item->index);
        }
      }
      return false;
    });
    for (const auto& [var, name] : results) {
      if (items[var] != all[var]) used_.erase(name);
    }
  }

  std::set<std::string> names_;
  std::map<std::string, Fields> used_;
};

graph::Expr Chosen(const graph::TupleNode& result, const Fields& fields) {
  std::vector<graph::Expr> chosen;
  for (const int field : fields) chosen.push_back(result.fields[field]);
  return chosen.size() == 1 ? chosen[0] : graph::TupleOf(std::move(chosen));
}

class Remover {
 public:
  explicit Remover(const Module& module) : out_(module) {}

  Module Run() {
    const Looks looks(out_);
    for (graph::GraphFunction& f : out_.graph_functions) {
      const auto found = looks.used().find(f->name);
      if (found != looks.used().end()) Shorten(f, found->second);
    }
    for (graph::GraphFunction& f : out_.graph_functions) {
      const graph::Expr e = Callers(f);
      f = graph::GraphFunction(e.As<graph::FunctionNode>());
    }
    return std::move(out_);
  }

 private:
  void Shorten(graph::GraphFunction& f, const Fields& fields) {
    const auto* seq = f->body.As<graph::SeqNode>();
    const auto* result = seq ? seq->result.As<graph::TupleNode>() : nullptr;
    if (!result || fields.empty() || fields.size() == result->fields.size()) {
      return;
    }
    graph::FunctionFields changed = f->fields();
    changed.body = graph::Seq(seq->blocks, Chosen(*result, fields));
    changed.result = {};
    f = graph::GraphFunction(std::move(changed));
    chosen_[f->name] = fields;
  }

  using FieldsByVar = std::unordered_map<const graph::VarNode*, const Fields*>;

  // What a binding calls has fewer fields: those, else nullptr.
  const Fields* ChosenBy(const graph::Binding& binding) const {
    const auto* call = binding.value.As<graph::CallNode>();
    const auto* callee =
        call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
    const auto chosen = chosen_.find(callee ? callee->name : std::string());
    return chosen == chosen_.end() ? nullptr : &chosen->second;
  }

  // The variables that are fields of such results, with what is left of those.
  FieldsByVar FieldsIn(const graph::GraphFunction& f) const {
    FieldsByVar results, fields;
    graph::RewriteBindings(f, [&](const graph::Binding& binding, auto&) {
      const Fields* chosen = ChosenBy(binding);
      if (chosen) results[binding.var.get()] = chosen;
      const auto* item = binding.value.As<graph::TupleItemNode>();
      const auto found =
          results.find(item ? item->tuple.As<graph::VarNode>() : nullptr);
      if (found != results.end()) fields[binding.var.get()] = found->second;
      return false;
    });
    return fields;
  }

  // Results without info, and fields counted anew.
  graph::Expr Callers(const graph::GraphFunction& f) const {
    const FieldsByVar fields = FieldsIn(f);
    return graph::RewriteBindings(f, [&](const graph::Binding& binding,
                                         graph::Emitter& emit) {
      if (ChosenBy(binding)) {
        const graph::Var var(binding.var->name, {}, binding.var->is_dataflow);
        emit.Emit(var, binding.value);
        emit.Replace(binding.var, var);
        return true;
      }
      const auto found = fields.find(binding.var.get());
      if (found == fields.end()) return false;
      EmitField(binding, *binding.value.As<graph::TupleItemNode>(),
                *found->second, emit);
      return true;
    });
  }

  static void EmitField(const graph::Binding& binding,
                        const graph::TupleItemNode& item, const Fields& fields,
                        graph::Emitter& emit) {
    if (fields.size() == 1) return emit.Replace(binding.var, item.tuple);
    const auto index = static_cast<int>(
        std::distance(fields.begin(), fields.find(item.index)));
    const graph::Var var(binding.var->name, {}, binding.var->is_dataflow);
    emit.Emit(var, graph::Item(item.tuple, index));
    emit.Replace(binding.var, var);
  }

  Module out_;
  std::map<std::string, Fields> chosen_;
};

}  // namespace

absl::StatusOr<Module> RemoveUnusedOutputs(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const Module lean,
                        EliminateDeadCode(Remover(module).Run()));
  return NormalizeGraph(lean);
}

}  // namespace kiln
