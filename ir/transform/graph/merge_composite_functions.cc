// Bindings of a block form groups in order: a call of a composite function
// joins a group of its library that one of its arguments comes from, if no
// other argument needs that group's values by way of another one. With A and B
// for libraries:
//
//   a = A.add(x, y)     group 1
//   b = B.gelu(a)       group 2, which needs 1
//   c = A.relu(a)       group 1
//   d = A.add(b, c)     not 1: b needs it. Group 3, which needs 1 and 2
//
// and group 1 gives (a, c). Groups are called in an order in which each has
// what it needs.
#include "kiln/ir/transform/graph/merge_composite_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/transform/graph/composite.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/group_function.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;

// The composite function that a binding calls, or nullptr.
const graph::FunctionNode* CompositeOf(const graph::Expr& value,
                                       const Module& module) {
  const auto* call = value.As<graph::CallNode>();
  const auto* global = call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
  const graph::FunctionNode* f =
      global ? module.FindGraph(global->name) : nullptr;
  return f && f->attrs.count(kCompositeAttr) > 0 ? f : nullptr;
}

struct Group {
  std::string library;          // "": one binding of another kind
  std::vector<size_t> members;  // places in the block
  std::set<size_t> needs;       // other groups that its arguments come from
};

// Which group each binding of a block is in.
class Grouping {
 public:
  Grouping(const BindingBlock& block, const Module& module) {
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      places_[block.bindings[i].var.get()] = i;
      Add(i, block.bindings[i].value, module);
    }
  }

  const std::vector<Group>& groups() const { return groups_; }
  size_t GroupAt(size_t place) const { return group_of_[place]; }

  // Groups that the bindings of `value` are in.
  std::set<size_t> Sources(const graph::Expr& value) const {
    std::set<size_t> sources;
    graph::Visit(value, [&](const graph::Expr& e) {
      const auto found = places_.find(e.As<graph::VarNode>());
      const bool is_known =
          found != places_.end() && found->second < group_of_.size();
      if (is_known) sources.insert(group_of_[found->second]);
      return true;
    });
    return sources;
  }

 private:
  void Add(size_t place, const graph::Expr& value, const Module& module) {
    const std::set<size_t> sources = Sources(value);
    const std::string library = LibraryOf(CompositeOf(value, module));
    const size_t group = Choose(library, sources);
    groups_[group].members.push_back(place);
    for (const size_t source : sources) {
      if (source != group) groups_[group].needs.insert(source);
    }
    group_of_.push_back(group);
  }

  // What the groups need, directly or not.
  std::set<size_t> Beyond(const std::set<size_t>& groups) const {
    std::set<size_t> beyond;
    std::vector<size_t> open(groups.begin(), groups.end());
    while (!open.empty()) {
      const std::set<size_t>& needs = groups_[open.back()].needs;
      open.pop_back();
      for (const size_t needed : needs) {
        if (beyond.insert(needed).second) open.push_back(needed);
      }
    }
    return beyond;
  }

  size_t Choose(const std::string& library, const std::set<size_t>& sources) {
    const std::set<size_t> beyond = Beyond(sources);
    for (const size_t source : sources) {
      const bool joins = !library.empty() &&
                         groups_[source].library == library &&
                         !beyond.count(source);
      if (joins) return source;
    }
    groups_.push_back({library, {}, {}});
    return groups_.size() - 1;
  }

  std::unordered_map<const graph::VarNode*, size_t> places_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_;
};

class BlockMerger {
 public:
  BlockMerger(const BindingBlock& block, const UseCounts& uses, Module& module)
      : block_(block),
        uses_(uses),
        module_(module),
        grouping_(block, module),
        is_done_(grouping_.groups().size()) {}

  BindingBlock Run() {
    std::vector<size_t> order(is_done_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto last = [&](size_t group) {
      return grouping_.groups()[group].members.back();
    };
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return last(a) < last(b); });
    for (const size_t group : order) Emit(group);
    return std::move(out_);
  }

 private:
  const Binding& At(size_t place) const { return block_.bindings[place]; }

  // The group, behind all that it needs.
  void Emit(size_t index) {
    if (is_done_[index]) return;
    is_done_[index] = true;
    const Group& group = grouping_.groups()[index];
    for (const size_t needed : group.needs) Emit(needed);
    if (group.library.empty()) {
      out_.bindings.push_back(At(group.members[0]));
    } else {
      EmitCall(index, group);
    }
  }

  void EmitCall(size_t index, const Group& group) {
    const std::vector<Binding> outputs = Outputs(index, group);
    std::vector<Binding> members;
    for (const size_t place : group.members) members.push_back(At(place));
    const graph::Expr call = Call(group, std::move(members), outputs);
    if (outputs.size() == 1) {
      out_.bindings.push_back({outputs[0].var, call});
      return;
    }
    const graph::Var tuple("lv", {}, /*is_dataflow=*/true);
    out_.bindings.push_back({tuple, call});
    for (size_t i = 0; i < outputs.size(); ++i) {
      out_.bindings.push_back(
          {outputs[i].var, graph::Item(tuple, static_cast<int>(i))});
    }
  }

  // The members that are needed outside; of none the last one.
  std::vector<Binding> Outputs(size_t index, const Group& group) const {
    UseCounts inside;
    for (const size_t place : group.members) {
      graph::Visit(At(place).value, [&](const graph::Expr& e) {
        if (const auto* var = e.As<graph::VarNode>()) ++inside[var];
        return true;
      });
    }
    std::vector<Binding> outputs;
    for (const size_t place : group.members) {
      const graph::Var& var = At(place).var;
      const auto all = uses_.find(var.get());
      const int count = all == uses_.end() ? 0 : all->second;
      const bool is_needed = !var->is_dataflow || count > inside[var.get()];
      if (is_needed) outputs.push_back(At(place));
    }
    if (outputs.empty()) outputs.push_back(At(group.members.back()));
    return outputs;
  }

  graph::Expr Call(const Group& group, std::vector<Binding> members,
                   const std::vector<Binding>& outputs) {
    const std::string base = UniqueFunctionName(module_, NameOf(members));
    std::vector<Binding> body = WithLocals(std::move(members));
    graph::Expr result = outputs[0].var;
    if (outputs.size() > 1) {
      std::vector<graph::Expr> fields;
      for (const Binding& output : outputs) fields.push_back(output.var);
      result = graph::TupleOf(std::move(fields));
    }
    GroupFunction made = MakeGroupFunction(
        absl::StrCat(base, "_", group.library), std::move(body), result,
        /*lifts_constants=*/true);
    graph::FunctionFields fields = made.function->fields();
    fields.is_private = false;
    fields.attrs = {{kCodegenAttr, group.library}};
    const std::string name =
        AddGraphFunction(graph::GraphFunction(std::move(fields)), module_);
    return graph::Expr(
        new graph::CallNode(graph::Global(name), std::move(made.args), {}, {}));
  }

  // "fused_relax_add_relax_nn_relu" of calls of fused_relax_add and so on.
  static std::string NameOf(const std::vector<Binding>& members) {
    constexpr std::string_view kFused = "fused_";
    std::string name = "fused";
    for (const Binding& member : members) {
      const auto* call = member.value.As<graph::CallNode>();
      std::string callee = call->callee.As<graph::GlobalVarNode>()->name;
      if (callee.rfind(kFused, 0) == 0) callee.erase(0, kFused.size());
      absl::StrAppend(&name, "_", callee);
    }
    return name;
  }

  // Each composite function as a local one, ahead of its first call.
  std::vector<Binding> WithLocals(std::vector<Binding> members) const {
    std::map<const graph::FunctionNode*, graph::Var> locals;
    std::vector<Binding> body;
    for (Binding& member : members) {
      const graph::FunctionNode* composite = CompositeOf(member.value, module_);
      graph::Var& local = locals[composite];
      if (!local) {
        body.push_back(LocalComposite(*composite));
        local = body.back().var;
      }
      const auto* call = member.value.As<graph::CallNode>();
      body.push_back({member.var, graph::Expr(new graph::CallNode(
                                      local, call->args, {}, {}))});
    }
    return body;
  }

  const BindingBlock& block_;
  const UseCounts& uses_;
  Module& module_;
  const Grouping grouping_;
  std::vector<bool> is_done_;
  BindingBlock out_{true, {}};
};

// Blocks of nested sequences, too.
graph::Expr Merged(const graph::Expr& e, const UseCounts& uses,
                   Module& module) {
  const graph::Expr below =
      graph::MapOperands(e, [&](const graph::Expr& operand) {
        return Merged(operand, uses, module);
      });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  std::vector<BindingBlock> blocks = seq->blocks;
  for (BindingBlock& block : blocks) {
    if (block.is_dataflow) block = BlockMerger(block, uses, module).Run();
  }
  return graph::Seq(std::move(blocks), seq->result);
}

}  // namespace

absl::StatusOr<Module> MergeCompositeFunctions(const Module& module) {
  Module out = module;
  std::set<std::string> composites;
  for (const graph::GraphFunction& f : module.graph_functions) {
    if (f->attrs.count(kCompositeAttr) > 0 && f->is_private) {
      composites.insert(f->name);
    }
  }
  for (size_t i = 0; i < module.graph_functions.size(); ++i) {
    const graph::GraphFunction f = module.graph_functions[i];
    if (composites.count(f->name) > 0 || f->attrs.count(kCodegenAttr) > 0) {
      continue;
    }
    const graph::Expr merged = Merged(f, CountUses(f), out);
    out.graph_functions[i] =
        graph::GraphFunction(merged.As<graph::FunctionNode>());
  }
  DropUnnamed(composites, out);
  return out;
}

}  // namespace kiln
