// A match says which variables its pattern looked into: these, in the order of
// their bindings, are a group. Of the pattern relu(add(x, y)) on
//
//   a = R.exp(x)            not looked into
//   b = R.add(a, a)         in the group
//   c = b                   another name on the way: in the group, too
//   d = R.nn.relu(c)        its last value; the call stands here
//
// so that everything the group needs is there ahead of the call.
#include "kiln/ir/transform/graph/fuse_ops_by_pattern.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/transform/graph/composite.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/group_function.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using Group = std::set<size_t>;  // places of bindings in a block

bool IsAnnotated(const graph::FunctionNode& f) {
  return IsPrimitive(f) || f.attrs.count(kCompositeAttr) > 0 ||
         f.attrs.count(kCodegenAttr) > 0;
}

// The groups of one pattern in one block.
class BlockMatcher {
 public:
  BlockMatcher(const BindingBlock& block, const BoundValues& bound,
               const UseCounts& uses)
      : block_(block), bound_(bound), uses_(uses) {
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      places_[block.bindings[i].var.get()] = i;
    }
  }

  std::vector<Group> Run(const FusionPattern& pattern) {
    std::vector<Group> groups;
    for (size_t i = 0; i < block_.bindings.size(); ++i) {
      const graph::Expr& value = block_.bindings[i].value;
      if (value.As<graph::VarNode>()) continue;  // only another name
      const auto match = pattern.pattern.Match(block_.bindings[i].var, bound_);
      if (!match || (pattern.accepts && !pattern.accepts(*match))) continue;
      Group group = GroupOf(*match, i);
      if (IsClosed(group)) AddGroup(std::move(group), groups);
    }
    return groups;
  }

 private:
  Group GroupOf(const Match& match, size_t root) const {
    Group group = {root};
    for (graph::Expr e : match.Inner()) {
      auto place = places_.find(e.As<graph::VarNode>());
      while (place != places_.end()) {
        group.insert(place->second);
        e = block_.bindings[place->second].value;
        place = places_.find(e.As<graph::VarNode>());
      }
    }
    return group;
  }

  // Whether nothing but the last value is needed elsewhere.
  bool IsClosed(const Group& group) const {
    UseCounts inside;
    for (const size_t place : group) {
      graph::Visit(block_.bindings[place].value, [&](const graph::Expr& e) {
        if (const auto* var = e.As<graph::VarNode>()) ++inside[var];
        return true;
      });
    }
    for (const size_t place : group) {
      if (place == *group.rbegin()) continue;
      const graph::Var& var = block_.bindings[place].var;
      const auto all = uses_.find(var.get());
      const int count = all == uses_.end() ? 0 : all->second;
      if (!var->is_dataflow || count > inside[var.get()]) return false;
    }
    return true;
  }

  static void AddGroup(Group group, std::vector<Group>& groups) {
    std::vector<Group> kept;
    for (const Group& other : groups) {
      std::vector<size_t> common;
      std::set_intersection(group.begin(), group.end(), other.begin(),
                            other.end(), std::back_inserter(common));
      if (common.empty()) kept.push_back(other);
      if (!common.empty() && common.size() < other.size()) return;
    }
    kept.push_back(std::move(group));
    groups = std::move(kept);
  }

  const BindingBlock& block_;
  const BoundValues& bound_;
  const UseCounts& uses_;
  std::unordered_map<const graph::VarNode*, size_t> places_;
};

// "_relax_matmul_relax_add".
std::string NameOf(const std::vector<Binding>& group) {
  std::string name;
  for (const Binding& binding : group) {
    const auto* call = binding.value.As<graph::CallNode>();
    if (!call) continue;
    if (const auto* op = call->callee.As<graph::OpNode>()) {
      absl::StrAppend(&name, "_relax_",
                      absl::StrReplaceAll(op->name, {{".", "_"}}));
    } else if (const auto* global = call->callee.As<graph::GlobalVarNode>()) {
      absl::StrAppend(&name, "_", global->name);
    }
  }
  return name;
}

class PatternFuser {
 public:
  PatternFuser(const FusionPattern& pattern,
               const PatternFusionOptions& options, Module& module,
               std::set<std::string>& made)
      : pattern_(pattern), options_(options), module_(module), made_(made) {}

  graph::GraphFunction Run(const graph::GraphFunction& f) {
    bound_ = BoundValuesOf(f);
    uses_ = CountUses(f);
    const graph::Expr fused = Fused(f);
    return graph::GraphFunction(fused.As<graph::FunctionNode>());
  }

 private:
  // Blocks of nested sequences, too.
  graph::Expr Fused(const graph::Expr& e) {
    const auto* f = e.As<graph::FunctionNode>();
    if (f && IsAnnotated(*f)) return e;
    const graph::Expr below = graph::MapOperands(
        e, [&](const graph::Expr& operand) { return Fused(operand); });
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return below;
    std::vector<BindingBlock> blocks = seq->blocks;
    for (BindingBlock& block : blocks) {
      if (block.is_dataflow) block = FusedBlock(block);
    }
    return graph::Seq(std::move(blocks), seq->result);
  }

  BindingBlock FusedBlock(const BindingBlock& block) {
    const std::vector<Group> groups =
        BlockMatcher(block, bound_, uses_).Run(pattern_);
    std::unordered_map<size_t, const Group*> group_of;
    for (const Group& group : groups) {
      for (const size_t place : group) group_of[place] = &group;
    }
    BindingBlock out{true, {}};
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const auto found = group_of.find(i);
      if (found == group_of.end()) {
        out.bindings.push_back(block.bindings[i]);
      } else if (*found->second->rbegin() == i) {
        out.bindings.push_back(
            {block.bindings[i].var, Call(block, *found->second)});
      }
    }
    return out;
  }

  graph::Expr Call(const BindingBlock& block, const Group& group) {
    std::vector<Binding> members;
    for (const size_t place : group) members.push_back(block.bindings[place]);
    GroupFunction made = MakeGroupFunction("fused" + NameOf(members), members,
                                           !options_.keeps_constants);
    graph::FunctionFields fields = made.function->fields();
    fields.attrs[kCompositeAttr] = pattern_.name;
    fields.attrs["Primitive"] = Bool(true);
    const std::string name =
        AddGraphFunction(graph::GraphFunction(std::move(fields)), module_);
    made_.insert(name);
    return graph::Expr(
        new graph::CallNode(graph::Global(name), std::move(made.args), {}, {}));
  }

  const FusionPattern& pattern_;
  const PatternFusionOptions& options_;
  Module& module_;
  std::set<std::string>& made_;
  BoundValues bound_;
  UseCounts uses_;
};

// The function around a composite one, under a name that speaks of both.
graph::GraphFunction Around(const graph::FunctionNode& composite) {
  const Binding local = LocalComposite(composite);
  const graph::GraphFunction outer =
      WithOwnDims(graph::WithFreshVars(graph::Expr(&composite)));
  graph::FunctionFields fields = outer->fields();
  fields.attrs = {{kCodegenAttr, LibraryOf(&composite)}};
  fields.name = absl::StrCat(composite.name, "_", LibraryOf(&composite));
  fields.is_private = false;
  const graph::Var output("output", fields.result);
  const std::vector<graph::Expr> args(fields.params.begin(),
                                      fields.params.end());
  const graph::Expr call(new graph::CallNode(local.var, args, {}, {}));
  fields.body = graph::Seq({{false, {local, {output, call}}}}, output);
  return graph::GraphFunction(std::move(fields));
}

void AnnotateCodegen(const std::set<std::string>& composites, Module& module) {
  std::unordered_map<std::string, std::string> names;
  for (const std::string& name : composites) {
    const graph::GraphFunction around = Around(*module.FindGraph(name));
    names[name] = AddGraphFunction(around, module);
  }
  for (graph::GraphFunction& f : module.graph_functions) {
    const graph::Expr renamed = graph::Rewrite(f, [&](const graph::Expr& e) {
      const auto* global = e.As<graph::GlobalVarNode>();
      const auto found = global ? names.find(global->name) : names.end();
      return found == names.end() ? graph::Expr()
                                  : graph::Global(found->second);
    });
    f = graph::GraphFunction(renamed.As<graph::FunctionNode>());
  }
  DropUnnamed(composites, module);
}

}  // namespace

absl::StatusOr<Module> FuseOpsByPattern(
    const Module& module, const std::vector<FusionPattern>& patterns,
    const PatternFusionOptions& options) {
  Module out = module;
  std::set<std::string> made;
  const size_t count = module.graph_functions.size();
  for (const FusionPattern& pattern : patterns) {
    for (size_t i = 0; i < count; ++i) {
      if (IsAnnotated(*out.graph_functions[i])) continue;
      const graph::GraphFunction f = out.graph_functions[i];
      out.graph_functions[i] = PatternFuser(pattern, options, out, made).Run(f);
    }
  }
  if (options.annotates_codegen) AnnotateCodegen(made, out);
  return out;
}

}  // namespace kiln
