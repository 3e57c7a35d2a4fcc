// Each dataflow block becomes a graph of its bindings (fusion_groups.h): a call
// of a tensor function uses its arguments by the pattern of the function, a
// field uses its tuple and a tuple its fields one by one, and everything else
// is opaque. A group stands where its last binding stood.
#include "kiln/ir/transform/graph/fuse_ops.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/transform/graph/annotate_patterns.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/fusion_groups.h"
#include "kiln/ir/transform/graph/group_function.h"
#include "kiln/ir/transform/graph/sliding_window.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using graph::Expr;

// The tensor function that a binding calls, or nullptr.
const Function* CalleeOf(const Expr& value, const Module& module) {
  const auto* call = value.As<graph::CallNode>();
  if (!call || !call->IsOp("call_tir") || call->args.empty()) return nullptr;
  const auto* name = call->args[0].As<graph::GlobalVarNode>();
  return name ? module.Find(name->name) : nullptr;
}

OpPattern PatternOf(const Expr& value, const Module& module) {
  if (const Function* callee = CalleeOf(value, module)) {
    constexpr auto kOpaque = static_cast<int64_t>(OpPattern::kOpaque);
    const int64_t pattern = IntAttr(callee->attrs, kOpPatternAttr, kOpaque);
    const bool is_known = pattern >= 0 && pattern <= kOpaque;
    return is_known ? static_cast<OpPattern>(pattern) : OpPattern::kOpaque;
  }
  const auto* item = value.As<graph::TupleItemNode>();
  if (item && item->tuple.As<graph::VarNode>()) return OpPattern::kInjective;
  if (value.As<graph::TupleNode>()) return OpPattern::kTuple;
  return OpPattern::kOpaque;
}

// Bytes of a value that does not stay in the second cache of most processors
// from the kernel that writes it to the one that reads it.
constexpr int64_t kLargeBytes = 512 << 10;

bool IsLarge(const graph::Var& var) {
  const graph::TensorInfo* tensor = TensorInfoOf(var);
  if (!tensor || !tensor->extents()) return false;
  int64_t bytes = tensor->dtype.bytes();
  for (const auto& extent : *tensor->extents()) {
    const int64_t* known = AsInt(extent);
    if (!known) return false;
    bytes = std::min(bytes * std::min(*known, kLargeBytes), kLargeBytes);
  }
  return bytes >= kLargeBytes;
}

class BlockFuser {
 public:
  // `uses`: of all variables in the function.
  BlockFuser(const BindingBlock& block, const UseCounts& uses, int max_size,
             Module& module)
      : block_(block), uses_(uses), max_size_(max_size), module_(module) {}

  BindingBlock Run() {
    Build();
    const std::vector<int> groups = FusionGroups(nodes_, max_size_);
    std::map<int, std::vector<Binding>> members;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (IsTakenIn(i, groups)) {
        members[groups[i]].push_back(block_.bindings[i]);
      }
    }
    BindingBlock out{true, {}};
    for (size_t i = 0; i < groups.size(); ++i) {
      const Binding& binding = block_.bindings[i];
      const std::vector<Binding>& group = members[groups[i]];
      if (!IsTakenIn(i, groups) || !IsKernel(group)) {
        out.bindings.push_back(binding);
      } else if (group.back().var == binding.var && IsUsed(binding.var)) {
        out.bindings.push_back({binding.var, Call(group)});
      }
    }
    return out;
  }

 private:
  void Build() {
    nodes_.resize(block_.bindings.size());
    UseCounts inside;
    for (size_t i = 0; i < block_.bindings.size(); ++i) {
      const Binding& binding = block_.bindings[i];
      nodes_[i].pattern = PatternOf(binding.value, module_);
      nodes_[i].is_large = IsLarge(binding.var);
      const Function* callee = CalleeOf(binding.value, module_);
      nodes_[i].is_window = callee && IsSlidingWindow(*callee);
      const OpPattern pattern = nodes_[i].pattern == OpPattern::kTuple
                                    ? OpPattern::kInjective
                                    : nodes_[i].pattern;
      graph::Visit(binding.value, [&](const Expr& e) {
        const auto found = index_.find(e.As<graph::VarNode>());
        if (found == index_.end()) return true;
        ++inside[found->first];
        nodes_[found->second].uses.push_back({static_cast<int>(i), pattern});
        return true;
      });
      // A value may name the variable it is bound to: an earlier one's.
      index_[binding.var.get()] = static_cast<int>(i);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const graph::Var& var = block_.bindings[i].var;
      const auto all = uses_.find(var.get());
      const int count = all == uses_.end() ? 0 : all->second;
      nodes_[i].is_needed_outside =
          !var->is_dataflow || count > inside[var.get()];
    }
  }

  // A field of a tuple from outside is handed over, not the tuple.
  bool IsTakenIn(size_t i, const std::vector<int>& groups) const {
    const auto* item = block_.bindings[i].value.As<graph::TupleItemNode>();
    if (!item) return true;
    const auto tuple = index_.find(item->tuple.As<graph::VarNode>());
    return tuple != index_.end() && groups[tuple->second] == groups[i];
  }

  bool IsKernel(const std::vector<Binding>& group) const {
    return group.size() > 1 && !NameOf(group).empty();
  }

  bool IsUsed(const graph::Var& var) const {
    return !var->is_dataflow || uses_.count(var.get()) > 0;
  }

  // "_matmul_relu"; empty where no tensor function is called.
  std::string NameOf(const std::vector<Binding>& group) const {
    std::string name;
    for (const Binding& binding : group) {
      if (const Function* callee = CalleeOf(binding.value, module_)) {
        absl::StrAppend(&name, "_", callee->name);
      }
    }
    return name;
  }

  Expr Call(const std::vector<Binding>& group) {
    GroupFunction made = MakeGroupFunction("fused" + NameOf(group), group,
                                           /*lifts_constants=*/true);
    graph::FunctionFields fields = made.function->fields();
    fields.attrs["Primitive"] = Bool(true);
    const std::string name =
        AddGraphFunction(graph::GraphFunction(std::move(fields)), module_);
    return Expr(
        new graph::CallNode(graph::Global(name), std::move(made.args), {}, {}));
  }

  const BindingBlock& block_;
  const UseCounts& uses_;
  const int max_size_;
  Module& module_;
  std::vector<FlowNode> nodes_;
  std::unordered_map<const graph::VarNode*, int> index_;
};

// Blocks of nested sequences, too.
graph::Expr Fused(const graph::Expr& e, const UseCounts& uses, int max_size,
                  Module& module) {
  const graph::Expr below =
      graph::MapOperands(e, [&](const graph::Expr& operand) {
        return Fused(operand, uses, max_size, module);
      });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  std::vector<BindingBlock> blocks = seq->blocks;
  for (BindingBlock& block : blocks) {
    if (!block.is_dataflow) continue;
    block = BlockFuser(block, uses, max_size, module).Run();
  }
  return graph::Seq(std::move(blocks), seq->result);
}

}  // namespace

absl::StatusOr<Module> FuseOps(const Module& module, int max_size) {
  Module out = module;
  const size_t count = module.graph_functions.size();
  for (size_t i = 0; i < count; ++i) {
    const graph::GraphFunction f = module.graph_functions[i];
    if (IsPrimitive(*f)) continue;
    const graph::Expr fused = Fused(f, CountUses(f), max_size, out);
    out.graph_functions[i] =
        graph::GraphFunction(fused.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
