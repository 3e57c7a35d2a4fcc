// Every use of a weight is a binding of its own. Weights that are numbers name
// dimensions of others: they are bound first, and the others are cast to shapes
// that speak of them:
//
//   extent: R.Prim("int64") = model_params[0]
//   lv: R.Tensor(ndim=1) = model_params[1]
//   weight: R.Tensor((extent,)) = R.match_cast(lv, R.Tensor((extent,)))
#include "kiln/ir/transform/graph/transform_function.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using GraphExpr = graph::Expr;
using GraphVar = graph::Var;

using NodeSet = std::unordered_set<const graph::VarNode*>;

class TransformMaker {
 public:
  explicit TransformMaker(const LiftCandidate& c) : weights_(c.Weights()) {
    for (const Binding& b : c.liftable) values_[b.var.get()] = b.value;
    for (const GraphVar& weight : weights_) {
      if (weight->info.As<graph::PrimInfo>()) {
        AddDefined(weight->info, numbers_);
      }
    }
    std::vector<graph::StructInfo> fields;
    for (const GraphVar& weight : weights_) {
      fields.push_back(WithoutNumbers(weight->info));
    }
    params_ = GraphVar("model_params", graph::Tuple(std::move(fields)));
  }

  graph::GraphFunction Make(const std::string& name, const LiftCandidate& c,
                            const std::vector<GraphVar>& shapes,
                            const std::vector<GraphVar>& outputs) {
    BindNumbers();
    NodeSet needed;
    for (const GraphVar& output : outputs) Need(output, needed);
    for (const Binding& binding : c.liftable) {
      if (needed.count(binding.var.get()) > 0) Lift(binding);
    }
    graph::FunctionFields fields;
    fields.name = name;
    fields.params = {params_};
    fields.attrs = {{"num_input", Int(0)}};
    GraphExpr result = Result(c, shapes, outputs);
    std::vector<BindingBlock> blocks = {{false, std::move(numbers_first_)},
                                        {true, std::move(bindings_)}};
    std::erase_if(blocks, [](const BindingBlock& block) {
      return block.bindings.empty();
    });
    fields.body = graph::Seq(std::move(blocks), std::move(result));
    return graph::GraphFunction(std::move(fields));
  }

 private:
  bool SpeaksOfNumbers(const graph::StructInfo& info) const {
    bool speaks = false;
    graph::VisitScalars(info, [&](const graph::Scalar& e) {
      for (const Var& var : FreeVars(e)) {
        speaks = speaks || numbers_.count(var.get()) > 0;
      }
    });
    return speaks;
  }

  graph::StructInfo WithoutNumbers(const graph::StructInfo& info) const {
    return graph::Forget(
        info, {[&](const VarNode* var) { return numbers_.count(var) == 0; },
               [](const graph::VarNode*) { return true; }});
  }

  // Weights that are numbers, and those that speak of them.
  void BindNumbers() {
    for (size_t i = 0; i < weights_.size(); ++i) {
      const GraphVar& weight = weights_[i];
      if (!SpeaksOfNumbers(weight->info)) continue;
      const GraphExpr item = graph::Item(params_, static_cast<int>(i));
      const bool is_number = weight->info.As<graph::PrimInfo>();
      const GraphVar var(weight->name, weight->info, !is_number);
      bound_[weight.get()] = var;
      if (is_number) {
        numbers_first_.push_back({var, item});
        continue;
      }
      const GraphVar field("lv", WithoutNumbers(weight->info), true);
      bindings_.push_back({field, item});
      bindings_.push_back(
          {var, GraphExpr(new graph::MatchCastNode(field, weight->info))});
    }
  }

  // What a name or a field stands for: another name, a tuple, or itself.
  GraphExpr Meant(const GraphExpr& e) const {
    if (const auto* item = e.As<graph::TupleItemNode>()) {
      const GraphExpr tuple = Meant(item->tuple);
      const auto* known = tuple.As<graph::TupleNode>();
      const auto index = static_cast<size_t>(item->index);
      const bool is_there = known && index < known->fields.size();
      return is_there ? Meant(known->fields[index]) : e;
    }
    const auto found = values_.find(e.As<graph::VarNode>());
    if (found == values_.end()) return e;
    const GraphExpr value = Meant(found->second);
    const bool is_known =
        value.As<graph::TupleNode>() || value.As<graph::VarNode>();
    return is_known ? value : e;
  }

  // A field is what stands in the tuple.
  GraphExpr ValueOf(const GraphExpr& value) const {
    return value.As<graph::TupleItemNode>() ? Meant(value) : value;
  }

  void Need(const GraphExpr& e, NodeSet& needed) {
    graph::Visit(e, [&](const GraphExpr& below) {
      const auto* var = below.As<graph::VarNode>();
      const auto found = values_.find(var);
      if (found != values_.end() && needed.insert(var).second) {
        Need(ValueOf(found->second), needed);
      }
      return true;
    });
  }

  // `e` over what is bound here; each use of a weight is a binding.
  GraphExpr Here(const GraphExpr& e) {
    const auto* var = e.As<graph::VarNode>();
    if (!var) {
      return graph::MapOperands(
          e, [&](const GraphExpr& operand) { return Here(operand); });
    }
    const auto found = bound_.find(var);
    if (found != bound_.end()) return found->second;
    const GraphExpr field = FieldFor(var);
    if (!field) return e;
    const GraphVar use(var->name, var->info, true);
    bindings_.push_back({use, field});
    return use;
  }

  GraphExpr FieldFor(const graph::VarNode* var) const {
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i].get() == var) {
        return graph::Item(params_, static_cast<int>(i));
      }
    }
    return {};
  }

  void Lift(const Binding& binding) {
    const GraphExpr value = ValueOf(binding.value);
    const auto* name = value.As<graph::VarNode>();
    const GraphExpr field =
        name && bound_.count(name) == 0 ? FieldFor(name) : GraphExpr();
    const GraphVar var(binding.var->name, binding.var->info, true);
    GraphExpr own = field ? field : Here(value);
    bindings_.push_back({var, std::move(own)});
    bound_[binding.var.get()] = var;
  }

  GraphExpr Result(const LiftCandidate& c, const std::vector<GraphVar>& shapes,
                   const std::vector<GraphVar>& outputs) {
    std::vector<GraphExpr> fields;
    for (const GraphVar& shape : shapes) {
      fields.push_back(
          graph::ShapeOf(*shape->info.As<graph::ShapeInfo>()->values));
    }
    if (outputs.empty() && shapes.empty()) return graph::TupleOf({});
    const bool is_same = shapes.empty() && outputs == c.Weights();
    if (is_same) return params_;
    for (const GraphVar& output : outputs) fields.push_back(Here(output));
    const GraphVar tuple("output_tuple");
    bindings_.push_back({tuple, graph::TupleOf(std::move(fields))});
    return tuple;
  }

  std::vector<GraphVar> weights_;
  std::unordered_map<const graph::VarNode*, GraphExpr> values_;
  ScalarSet numbers_;  // dimensions that weights which are numbers name
  GraphVar params_;
  std::vector<Binding> numbers_first_, bindings_;
  std::unordered_map<const graph::VarNode*, GraphExpr> bound_;
};

}  // namespace

graph::GraphFunction TransformFunction(const std::string& name,
                                       const LiftCandidate& c,
                                       const std::vector<graph::Var>& shapes,
                                       const std::vector<graph::Var>& outputs) {
  return TransformMaker(c).Make(name, c, shapes, outputs);
}

}  // namespace kiln
