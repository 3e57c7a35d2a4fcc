// A branch is a product and what follows it alone: matmul, perhaps add of a
// bias, perhaps an activation. Branches of one tensor are cut to what all of
// them have; the last binding of each becomes a field of the split, and the
// first of those is where the combined product stands:
//
//   a = relu(x @ w1 + b1)     y = relu(x @ concat(w1, w2) + concat(b1, b2))
//   b = relu(x @ w2 + b2)     t = split(y); a = t[0]; b = t[1]
#include "kiln/ir/transform/graph/combine_parallel_matmul.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::CallOp;

struct Branch {
  size_t product;             // the index of the binding
  std::optional<size_t> sum;  // of matmul + bias
  std::optional<size_t> activation;
  graph::Expr weight, bias;
  std::string op;  // of the activation

  size_t end() const { return activation ? *activation : sum ? *sum : product; }
};

// Of a variable.
const std::vector<Expr>* ExtentsOf(const graph::Expr& e) {
  const auto* var = e.As<graph::VarNode>();
  const auto* tensor = var ? var->info.As<graph::TensorInfo>() : nullptr;
  return tensor ? tensor->extents() : nullptr;
}

bool IsActivation(const std::string& op) {
  return op == "nn.relu" || op == "nn.gelu" || op == "nn.silu";
}

class BlockCombiner {
 public:
  BlockCombiner(const graph::BindingBlock& block, const UseCounts& uses,
                const AcceptsMatmuls& accepts)
      : bindings_(block.bindings), uses_(uses), accepts_(accepts) {}

  graph::BindingBlock Run() {
    for (size_t i = 0; i < bindings_.size(); ++i) {
      index_[bindings_[i].var.get()] = i;
    }
    for (size_t i = 0; i < bindings_.size(); ++i) AddBranch(i);
    for (auto& [left, branches] : branches_) {
      for (std::vector<Branch>& group : Groups(branches)) Plan(left, group);
    }
    graph::BindingBlock out{true, {}};
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const auto plan = plans_.find(i);
      if (plan != plans_.end()) Emit(plan->second, out.bindings);
      for (const size_t moved : moved_[i]) {
        out.bindings.push_back({bindings_[moved].var, replaced_.at(moved)});
      }
      if (IsMoved(i)) continue;
      const auto value = replaced_.find(i);
      out.bindings.push_back(value == replaced_.end()
                                 ? bindings_[i]
                                 : Binding{bindings_[i].var, value->second});
    }
    return out;
  }

 private:
  bool IsMoved(size_t i) const {
    return std::any_of(moved_.begin(), moved_.end(), [&](const auto& entry) {
      return entry.second.count(i) > 0;
    });
  }

  struct CombinedProduct {
    graph::Expr left;
    std::vector<Branch> branches;
    graph::Var result;
  };

  const graph::CallNode* Call(size_t i, std::string_view op) const {
    const auto* call = bindings_[i].value.As<graph::CallNode>();
    return call && call->IsOp(op) ? call : nullptr;
  }

  // The only binding that uses the value of another one, behind it.
  std::optional<size_t> OnlyUser(size_t i) const {
    const graph::VarNode* var = bindings_[i].var.get();
    const auto uses = uses_.find(var);
    if (!var->is_dataflow || uses == uses_.end() || uses->second != 1) {
      return std::nullopt;
    }
    for (size_t k = i + 1; k < bindings_.size(); ++k) {
      if (CountUses(bindings_[k].value).count(var) > 0) return k;
    }
    return std::nullopt;
  }

  void AddBranch(size_t i) {
    const auto* product = Call(i, "matmul");
    if (!product || !product->args[0].As<graph::VarNode>()) return;
    const auto* extents = ExtentsOf(product->args[1]);
    if (!extents || extents->size() < 2) return;
    Branch branch{i, {}, {}, product->args[1], {}, ""};
    std::optional<size_t> next = OnlyUser(i);
    const auto* sum = next ? Call(*next, "add") : nullptr;
    if (sum && sum->args[0].get() == bindings_[i].var.get() &&
        IsBias(sum->args[1], extents->back())) {
      branch.sum = next;
      branch.bias = sum->args[1];
      next = OnlyUser(*next);
    }
    const auto* call =
        next ? bindings_[*next].value.As<graph::CallNode>() : nullptr;
    const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
    if (op && IsActivation(op->name)) {
      branch.activation = next;
      branch.op = op->name;
    }
    for (auto& [left, branches] : branches_) {
      if (left.get() == product->args[0].get()) {
        return branches.push_back(std::move(branch));
      }
    }
    branches_.push_back({product->args[0], {std::move(branch)}});
  }

  // One number for each column.
  static bool IsBias(const graph::Expr& bias, const Expr& columns) {
    const auto* extents = ExtentsOf(bias);
    Analyzer analyzer;
    return extents && extents->size() == 1 &&
           analyzer.CanProveEqual((*extents)[0], columns);
  }

  bool Agree(const Branch& a, const Branch& b) const {
    const auto& left = *ExtentsOf(a.weight);
    const auto& right = *ExtentsOf(b.weight);
    if (left.size() != right.size()) return false;
    Analyzer analyzer;
    for (size_t i = 0; i + 1 < left.size(); ++i) {
      if (!analyzer.CanProveEqual(left[i], right[i])) return false;
    }
    return HaveOneType(a.weight, b.weight) &&
           HaveOneType(bindings_[a.product].var, bindings_[b.product].var);
  }

  static bool HaveOneType(const graph::Expr& a, const graph::Expr& b) {
    const graph::StructInfo left = graph::InfoOf(a), right = graph::InfoOf(b);
    const auto* left_tensor = left.As<graph::TensorInfo>();
    const auto* right_tensor = right.As<graph::TensorInfo>();
    return left_tensor && right_tensor &&
           left_tensor->dtype == right_tensor->dtype;
  }

  std::vector<std::vector<Branch>> Groups(
      const std::vector<Branch>& branches) const {
    std::vector<std::vector<Branch>> groups;
    for (const Branch& branch : branches) {
      const auto found = std::find_if(
          groups.begin(), groups.end(),
          [&](const auto& group) { return Agree(group[0], branch); });
      if (found == groups.end()) {
        groups.push_back({branch});
      } else {
        found->push_back(branch);
      }
    }
    return groups;
  }

  // Cuts the branches to what all have.
  static void Cut(std::vector<Branch>& group) {
    const bool has_sums =
        std::all_of(group.begin(), group.end(), [&](const Branch& b) {
          return b.sum && group[0].sum && HaveOneType(b.bias, group[0].bias);
        });
    const bool has_none =
        std::none_of(group.begin(), group.end(),
                     [](const Branch& b) { return b.sum.has_value(); });
    const bool shares_op = std::all_of(
        group.begin(), group.end(),
        [&](const Branch& b) { return b.activation && b.op == group[0].op; });
    for (Branch& branch : group) {
      if (!shares_op || (!has_sums && !has_none)) branch.activation.reset();
      if (!has_sums) branch.sum.reset();
    }
  }

  bool IsKnownAt(const graph::Expr& e, size_t place) const {
    const auto found = index_.find(e.As<graph::VarNode>());
    return found == index_.end() || found->second < place;
  }

  void Plan(const graph::Expr& left, std::vector<Branch>& group) {
    if (group.size() < 2) return;
    Cut(group);
    std::stable_sort(group.begin(), group.end(),
                     [](const Branch& a, const Branch& b) {
                       return IsStatic(a) && !IsStatic(b);
                     });
    if (!IsStatic(group[group.size() - 2])) return;
    const size_t place = PlaceOf(group);
    if (IsUsedBefore(group, place)) return;
    if (accepts_ && !accepts_(AsAsked(left, group))) return;
    const graph::Var result("lv", {}, true);
    for (size_t i = 0; i < group.size(); ++i) {
      const size_t end = group[i].end();
      replaced_[end] = graph::Item(result, static_cast<int>(i));
      if (end < place) moved_[place].insert(end);
    }
    plans_[place] = {left, group, result};
  }

  // The first end of a branch that all weights and biases are ahead of; the
  // ends before it move there.
  size_t PlaceOf(const std::vector<Branch>& group) const {
    size_t place = bindings_.size();
    for (const Branch& branch : group) {
      const bool is_known =
          std::all_of(group.begin(), group.end(), [&](const Branch& other) {
            return IsKnownAt(other.weight, branch.end()) &&
                   (!other.sum || IsKnownAt(other.bias, branch.end()));
          });
      if (is_known) place = std::min(place, branch.end());
    }
    return place;
  }

  // Whether something reads the end of a branch ahead of `place`, one branch
  // that of another, or nothing would be there in time.
  bool IsUsedBefore(const std::vector<Branch>& group, size_t place) const {
    if (place == bindings_.size()) return true;
    for (const Branch& branch : group) {
      const graph::VarNode* end = bindings_[branch.end()].var.get();
      for (size_t i = branch.end() + 1; i < place; ++i) {
        if (CountUses(bindings_[i].value).count(end) > 0) return true;
      }
      if (IsOperand(end, group)) return true;
    }
    return false;
  }

  // Whether the variable is a weight or a bias of one of the branches.
  static bool IsOperand(const graph::VarNode* var,
                        const std::vector<Branch>& group) {
    return std::any_of(group.begin(), group.end(), [&](const Branch& branch) {
      return branch.weight.As<graph::VarNode>() == var ||
             (branch.sum && branch.bias.As<graph::VarNode>() == var);
    });
  }

  static ParallelMatmuls AsAsked(const graph::Expr& left,
                                 const std::vector<Branch>& group) {
    ParallelMatmuls asked{left, {}, {}};
    for (const Branch& branch : group) {
      asked.weights.push_back(branch.weight);
      if (branch.sum) asked.biases.push_back(branch.bias);
    }
    return asked;
  }

  static bool IsStatic(const Branch& branch) {
    return AsInt(ExtentsOf(branch.weight)->back());
  }

  static graph::Var Bind(graph::Expr value, std::vector<Binding>& out) {
    out.push_back({graph::Var("lv", {}, true), std::move(value)});
    return out.back().var;
  }

  void Emit(const CombinedProduct& combined, std::vector<Binding>& out) const {
    const Branch& first = combined.branches[0];
    std::vector<graph::Expr> weights, biases;
    AttrList cuts;
    int64_t columns = 0;
    for (const Branch& branch : combined.branches) {
      weights.push_back(branch.weight);
      biases.push_back(branch.bias);
      const int64_t* count = AsInt(ExtentsOf(branch.weight)->back());
      columns += count ? *count : 0;
      if (&branch != &combined.branches.back()) cuts.push_back(Int(columns));
    }
    const auto rank = static_cast<int64_t>(ExtentsOf(first.weight)->size());
    const auto* info =
        bindings_[first.product].var->info.As<graph::TensorInfo>();
    const graph::Expr weight = Bind(
        CallOp("concat", {graph::TupleOf(weights)}, {{"axis", Int(rank - 1)}}),
        out);
    graph::Expr value = Bind(CallOp("matmul", {combined.left, weight},
                                    {{"out_dtype", info->dtype.ToString()}}),
                             out);
    if (first.sum) {
      const graph::Expr bias = Bind(
          CallOp("concat", {graph::TupleOf(biases)}, {{"axis", Int(0)}}), out);
      value = Bind(CallOp("add", {value, bias}), out);
    }
    if (first.activation) {
      const auto* call =
          bindings_[*first.activation].value.As<graph::CallNode>();
      value = Bind(CallOp(first.op, {value}, call->attrs), out);
    }
    out.push_back(
        {combined.result, CallOp("split", {value},
                                 {{"indices_or_sections", std::move(cuts)},
                                  {"axis", Int(info->rank - 1)}})});
  }

  const std::vector<Binding>& bindings_;
  const UseCounts& uses_;
  const AcceptsMatmuls& accepts_;
  std::unordered_map<const graph::VarNode*, size_t> index_;
  std::vector<std::pair<graph::Expr, std::vector<Branch>>> branches_;
  std::map<size_t, CombinedProduct> plans_;
  std::map<size_t, graph::Expr> replaced_;
  std::map<size_t, std::set<size_t>> moved_;  // by where they go
};

graph::Expr Combined(const graph::Expr& e, const UseCounts& uses,
                     const AcceptsMatmuls& accepts) {
  const graph::Expr below =
      graph::MapOperands(e, [&](const graph::Expr& operand) {
        return Combined(operand, uses, accepts);
      });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  std::vector<graph::BindingBlock> blocks = seq->blocks;
  for (graph::BindingBlock& block : blocks) {
    if (block.is_dataflow) block = BlockCombiner(block, uses, accepts).Run();
  }
  return graph::Seq(std::move(blocks), seq->result);
}

}  // namespace

absl::StatusOr<Module> CombineParallelMatmul(const Module& module,
                                             const AcceptsMatmuls& accepts) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body) continue;
    f = graph::WithBody(*f, Combined(f->body, CountUses(f), accepts));
  }
  KILN_ASSIGN_OR_RETURN(Module inferred, InferModule(out));
  return WithoutUnusedBindings(std::move(inferred));
}

}  // namespace kiln
