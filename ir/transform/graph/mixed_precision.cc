// One walk in order. A variable of float32 is sent to what holds its value now,
// which may be of float16 (or bfloat16, and so below):
//
// - What must be of float16 gets casts ahead of its operands; a result that is
//   not given out is kept as float16.
// - What follows is of float16 where all its operands are, or are constants
// that
//   fit; else its operands are cast back.
// - What is only ever used as float16 is cast where it is bound, a parameter at
//   the beginning of the block.
#include "kiln/ir/transform/graph/mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/precision_policy.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using GraphExpr = graph::Expr;
using GraphVar = graph::Var;

const DType kFull = DType::Float(32);

double LargestOf(DType half) {
  constexpr double kLargestFloat16 = 65504, kLargestBFloat16 = 0x1.fep127;
  return half == DType::Float(16) ? kLargestFloat16 : kLargestBFloat16;
}

bool IsTensorOf(const graph::StructInfo& info, DType dtype) {
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && tensor->dtype == dtype;
}

bool Holds(const graph::StructInfo& info, DType dtype) {
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    return std::any_of(
        tuple->fields.begin(), tuple->fields.end(),
        [&](const graph::StructInfo& field) { return Holds(field, dtype); });
  }
  return IsTensorOf(info, dtype);
}

// With float16 in place of float32.
graph::StructInfo Halved(const graph::StructInfo& info, DType half) {
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    std::vector<graph::StructInfo> fields;
    for (const auto& field : tuple->fields)
      fields.push_back(Halved(field, half));
    return graph::Tuple(std::move(fields));
  }
  if (!IsTensorOf(info, kFull)) return info;
  const auto* tensor = info.As<graph::TensorInfo>();
  return graph::StructInfo(
      new graph::TensorInfo(tensor->shape, tensor->rank, half, tensor->device));
}

// Whether every element is a float16 up to rounding.
bool FitsHalf(const graph::ConstantNode& constant, DType half) {
  if (!constant.is_known() || constant.dtype != kFull) return false;
  for (int64_t i = 0; i < graph::CountElements(constant.shape); ++i) {
    const graph::Scalar e = graph::ElementOf(constant, i);
    if (!(std::abs(e.As<FloatImmNode>()->value) <= LargestOf(half))) {
      return false;
    }
  }
  return true;
}

// Whether a call is one of float32 tensors that becomes one of float16.
bool IsMixable(const GraphExpr& value) {
  if (PolicyOf(value) != PrecisionPolicy::kAlways) return false;
  const auto& call = *value.As<graph::CallNode>();
  const auto found = call.attrs.find("out_dtype");
  const std::string* type =
      found == call.attrs.end() ? nullptr : found->second.string();
  if (type && !type->empty() && *type != kFull.ToString()) return false;
  return std::all_of(call.args.begin(), call.args.end(),
                     [](const GraphExpr& arg) {
                       return IsTensorOf(graph::InfoOf(arg), kFull);
                     });
}

// Variables that some operation wants as float16, and those that one does not.
class Uses {
 public:
  explicit Uses(const graph::FunctionNode& f) { Add(f.body); }

  bool AreHalf(const GraphVar& var) const {
    return half_.count(var.get()) > 0 && full_.count(var.get()) == 0;
  }

 private:
  void Add(const GraphExpr& body) {
    graph::Visit(body, [&](const GraphExpr& e) {
      if (IsMixable(e)) {
        AddVars(e, half_);
        return false;
      }
      if (e.As<graph::VarNode>()) full_.insert(e.As<graph::VarNode>());
      return true;
    });
  }

  using NodeSet = std::unordered_set<const graph::VarNode*>;
  static void AddVars(const GraphExpr& e, NodeSet& vars) {
    graph::Visit(e, [&](const GraphExpr& below) {
      if (below.As<graph::VarNode>()) vars.insert(below.As<graph::VarNode>());
      return true;
    });
  }

  NodeSet half_, full_;
};

class Mixer {
 public:
  Mixer(const graph::FunctionNode& f, const MixedPrecisionOptions& options)
      : f_(f), options_(options), half_(options.half), uses_(f) {}

  graph::GraphFunction Run() {
    graph::FunctionFields fields = f_.fields();
    for (GraphVar& param : fields.params) param = Parameter(param);
    if (!whole_.empty()) fields.result = {};
    const auto& seq = *f_.body.As<graph::SeqNode>();
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : seq.blocks) {
      if (block.is_dataflow) {
        blocks.push_back({true, Mixed(block)});
        continue;
      }
      blocks.push_back({false, {}});
      for (const Binding& binding : block.bindings) {
        blocks.back().bindings.push_back({binding.var, Nested(binding.value)});
      }
    }
    fields.body = graph::Substitute(graph::Seq(std::move(blocks), seq.result),
                                    full_names_);
    AddWhole(fields);
    return graph::GraphFunction(std::move(fields));
  }

 private:
  // One that becomes float16 is cast for those who see it outside of dataflow
  // blocks.
  GraphVar Parameter(const GraphVar& param) {
    const bool becomes_half = options_.half_params.count(param->name) > 0 &&
                              IsTensorOf(param->info, kFull);
    if (!becomes_half) return param;
    const GraphVar half(param->name, Halved(param->info, half_), false);
    params_[param.get()] = half;
    const GraphVar full(param->name, param->info, false);
    whole_.push_back({full, CastTo(half, kFull)});
    full_names_.vars[param.get()] = full;
    return half;
  }

  // Casts of parameters as far as somebody sees them.
  void AddWhole(graph::FunctionFields& fields) {
    const UseCounts uses = CountUses(fields.body);
    std::erase_if(whole_, [&](const Binding& binding) {
      return uses.count(binding.var.get()) == 0;
    });
    if (whole_.empty()) return;
    const auto& seq = *fields.body.As<graph::SeqNode>();
    std::vector<BindingBlock> blocks = {{false, whole_}};
    blocks.insert(blocks.end(), seq.blocks.begin(), seq.blocks.end());
    fields.body = graph::Seq(std::move(blocks), seq.result);
  }

  // Branches with their dataflow blocks mixed; parameters are cast where they
  // are used.
  GraphExpr Nested(const GraphExpr& e) {
    if (e.As<graph::FunctionNode>()) return e;
    const GraphExpr below = graph::MapOperands(
        e, [&](const GraphExpr& operand) { return Nested(operand); });
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return below;
    std::vector<BindingBlock> blocks = seq->blocks;
    for (BindingBlock& block : blocks) {
      if (block.is_dataflow) block.bindings = Mixed(block, /*is_nested=*/true);
    }
    return graph::Seq(std::move(blocks), seq->result);
  }

  std::vector<Binding> Mixed(const BindingBlock& block,
                             bool is_nested = false) {
    out_.clear();
    now_ = params_;
    UseCounts here;
    for (const Binding& binding : block.bindings) {
      for (const auto& [var, count] : CountUses(binding.value)) {
        here[var] += count;
      }
    }
    for (const GraphVar& param : f_.params) {
      if (!is_nested && here.count(param.get()) > 0) KeepAsHalf(param);
    }
    for (const Binding& binding : block.bindings) Mix(binding);
    return std::move(out_);
  }

  // --- Values.

  // What holds the value of a variable now.
  GraphExpr Now(const GraphExpr& e) const {
    const auto found = now_.find(e.As<graph::VarNode>());
    if (found != now_.end()) return found->second;
    return graph::MapOperands(
        e, [&](const GraphExpr& operand) { return Now(operand); });
  }

  GraphVar Emit(const GraphExpr& value, graph::StructInfo info) {
    const GraphVar var("lv", std::move(info), true);
    out_.push_back({var, value});
    return var;
  }

  // A leaf with the tensors of float16 (or float32) in it cast.
  GraphExpr Cast(const GraphExpr& leaf, DType to) {
    const DType from = to == half_ ? kFull : half_;
    const auto* number = leaf.As<graph::PrimNode>();
    if (number && number->value.dtype() == from) {
      const double value = number->value.As<FloatImmNode>()->value;
      return graph::Number(Float(value, to));
    }
    const graph::StructInfo info = graph::InfoOf(leaf);
    if (!Holds(info, from)) return leaf;
    if (IsTensorOf(info, from)) {
      const auto* tensor = info.As<graph::TensorInfo>();
      return Emit(CastTo(leaf, to),
                  graph::StructInfo(new graph::TensorInfo(
                      tensor->shape, tensor->rank, to, tensor->device)));
    }
    const auto* known = leaf.As<graph::TupleNode>();
    std::vector<GraphExpr> fields;
    const auto& infos = info.As<graph::TupleInfo>()->fields;
    for (size_t i = 0; i < infos.size(); ++i) {
      const GraphExpr field =
          known ? known->fields[i]
                : GraphExpr(
                      Emit(graph::Item(leaf, static_cast<int>(i)), infos[i]));
      fields.push_back(Cast(field, to));
    }
    return graph::TupleOf(std::move(fields));
  }

  // `leaf`, which stands for `original` now, with the types of that.
  GraphExpr Restored(const GraphExpr& leaf, const graph::StructInfo& original) {
    const graph::StructInfo info = graph::InfoOf(leaf);
    if (IsTensorOf(original, kFull)) return Cast(leaf, kFull);
    const auto* tuple = original.As<graph::TupleInfo>();
    const auto* own = info.As<graph::TupleInfo>();
    if (!tuple || !own || !Holds(info, half_) || !Holds(original, kFull)) {
      return leaf;
    }
    const auto* known = leaf.As<graph::TupleNode>();
    std::vector<GraphExpr> fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      const GraphExpr field =
          known ? known->fields[i]
                : GraphExpr(Emit(graph::Item(leaf, static_cast<int>(i)),
                                 own->fields[i]));
      fields.push_back(Restored(field, tuple->fields[i]));
    }
    return graph::TupleOf(std::move(fields));
  }

  // An operand as it was.
  GraphExpr Full(const GraphExpr& operand) {
    return Restored(Now(operand), graph::InfoOf(operand));
  }
  GraphExpr WithFull(const GraphExpr& value) {
    return graph::MapOperands(
        value, [&](const GraphExpr& operand) { return Full(operand); });
  }
  GraphExpr WithHalf(const GraphExpr& value) {
    return graph::MapOperands(value, [&](const GraphExpr& operand) {
      return Cast(Now(operand), half_);
    });
  }

  // A local function sees what is around it as it was.
  GraphExpr WithFullInside(const GraphExpr& f) {
    graph::Substitution full;
    for (const auto& [var, count] : CountUses(f)) {
      if (now_.count(var) == 0) continue;
      full.vars[var] = Full(GraphExpr(var));
    }
    return graph::Substitute(f, full);
  }

  // --- Bindings.

  void Mix(const Binding& binding) {
    const GraphExpr& value = binding.value;
    if (IsMixable(value)) {
      Always(binding);
      return;
    }
    if (PolicyOf(value) == PrecisionPolicy::kFollow &&
        Follows(*value.As<graph::CallNode>())) {
      BindHalf(binding, WithHalf(value));
      return;
    }
    const bool is_name = value.As<graph::VarNode>() ||
                         value.As<graph::TupleNode>() ||
                         value.As<graph::TupleItemNode>();
    if (is_name && binding.var->is_dataflow) {
      Rename(binding);
    } else if (is_name) {
      Give(binding, Now(value));
    } else if (value.As<graph::FunctionNode>()) {
      out_.push_back({binding.var, WithFullInside(value)});
    } else {
      out_.push_back({binding.var, WithFull(value)});
    }
    KeepAsHalf(binding.var);
  }

  void Always(const Binding& binding) {
    const GraphExpr value = WithHalf(binding.value);
    const auto& call = *value.As<graph::CallNode>();
    AttrMap attrs = call.attrs;
    attrs["out_dtype"] = options_.sums.ToString();
    const GraphExpr product(
        new graph::CallNode(call.callee, call.args, attrs, call.infos));
    if (options_.sums == half_) {
      BindHalf(binding, product);
    } else if (!binding.var->is_dataflow) {
      out_.push_back({binding.var, product});
    } else {
      const GraphVar sum = Emit(product, binding.var->info);
      BindHalf(binding, CastTo(sum, half_));
    }
  }

  // Binds a value that is of float16 now.
  void BindHalf(const Binding& binding, const GraphExpr& value) {
    const graph::StructInfo info = Halved(binding.var->info, half_);
    if (binding.var->is_dataflow) {
      const GraphVar half(binding.var->name, info, true);
      out_.push_back({half, value});
      now_[binding.var.get()] = half;
      return;
    }
    Give(binding, Emit(value, info));
  }

  // Binds a leaf to a variable that is given out; the last cast has its name.
  void Give(const Binding& binding, const GraphExpr& leaf) {
    const GraphExpr restored = Restored(leaf, binding.var->info);
    const bool is_cast = restored.get() != leaf.get() &&
                         restored.As<graph::VarNode>() && !out_.empty() &&
                         out_.back().var.get() == restored.get();
    if (!is_cast) {
      out_.push_back({binding.var, restored});
      return;
    }
    const GraphExpr value = out_.back().value;
    out_.back() = {binding.var, value};
  }

  void Rename(const Binding& binding) {
    const GraphExpr value = Now(binding.value);
    const graph::StructInfo info = graph::InfoOf(value);
    if (!Holds(info, half_) || Holds(binding.var->info, half_)) {
      out_.push_back({binding.var, value});
      return;
    }
    const GraphVar renamed(binding.var->name, info, true);
    out_.push_back({renamed, value});
    now_[binding.var.get()] = renamed;
  }

  // Whether some operand is of float16 now, and the others can be.
  bool Follows(const graph::CallNode& call) const {
    bool has_half = false;
    for (const GraphExpr& arg : call.args) {
      if (!CanBeHalf(Now(arg), has_half)) return false;
    }
    return has_half;
  }

  bool CanBeHalf(const GraphExpr& leaf, bool& has_half) const {
    if (const auto* tuple = leaf.As<graph::TupleNode>()) {
      return std::all_of(
          tuple->fields.begin(), tuple->fields.end(),
          [&](const GraphExpr& field) { return CanBeHalf(field, has_half); });
    }
    if (const auto* constant = leaf.As<graph::ConstantNode>()) {
      return FitsHalf(*constant, half_);
    }
    if (const auto* number = leaf.As<graph::PrimNode>()) {
      const auto* real = number->value.As<FloatImmNode>();
      return !number->value.dtype().is_float() ||
             (real && std::abs(real->value) <= LargestOf(half_));
    }
    const graph::StructInfo info = graph::InfoOf(leaf);
    has_half = has_half || Holds(info, half_);
    return !Holds(info, kFull) && !Holds(info, DType::Float(64));
  }

  void KeepAsHalf(const GraphVar& var) {
    const GraphExpr now = Now(var);
    const bool is_full = IsTensorOf(graph::InfoOf(now), kFull);
    if (is_full && uses_.AreHalf(var)) now_[var.get()] = Cast(now, half_);
  }

  const graph::FunctionNode& f_;
  const MixedPrecisionOptions& options_;
  const DType half_;
  const Uses uses_;
  std::unordered_map<const graph::VarNode*, GraphExpr> params_, now_;
  std::vector<Binding> whole_, out_;
  graph::Substitution full_names_;
};

}  // namespace

absl::StatusOr<Module> ToMixedPrecision(const Module& module,
                                        const MixedPrecisionOptions& options) {
  if (options.half != DType::Float(16) && options.half != DType::BFloat16()) {
    return absl::InvalidArgumentError(
        absl::StrCat("products are of float16 or bfloat16, not of ",
                     options.half.ToString()));
  }
  if (options.sums != options.half && options.sums != kFull) {
    return absl::InvalidArgumentError(
        absl::StrCat("sums are kept in float32 or ", options.half.ToString(),
                     ", not in ", options.sums.ToString()));
  }
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (f->body) f = Mixer(*f, options).Run();
  }
  return InferModule(out);
}

}  // namespace kiln
