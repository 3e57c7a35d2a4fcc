// A result in another layout is brought back by the inverse of its map. Where
// the map cuts an index into parts that do not divide the extent, as (i // 4,
// i % 4) cuts 14 elements, it is a bijection of the extents rounded up to whole
// parts, 16; what lies behind the 14 is cut off then:
//
//   c = R.call_tir(cls.relax_relu_replacement, (a,), R.Tensor((4, 4)))
//   d = R.layout_transform(c, lambda i, j: (i * 4 + j,))     16 elements
//   y = R.call_tir(cls.remove_pad, (d,), R.Tensor((14,)))
#include "kiln/ir/transform/graph/alter_op_impl.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::StructInfo;
using Layouts = std::vector<std::optional<LayoutMap>>;

// Each call has variables of its own.
graph::Expr Transformed(const graph::Expr& x, const LayoutMap& map) {
  AttrList inputs, outputs;
  VarMap own;
  for (const Var& input : map.inputs) {
    const Var var(input.name(), input.dtype());
    own[input.get()] = var;
    inputs.push_back(Attr(var));
  }
  for (const Expr& output : map.outputs) {
    outputs.push_back(Attr(Substitute(output, own)));
  }
  return CallOp("layout_transform", {x},
                {{"index_map", Attr(AttrMap{{"inputs", std::move(inputs)},
                                            {"outputs", std::move(outputs)}})},
                 {"pad_value", Attr()},
                 {"axis_separators", AttrList()},
                 {"input_axis_separators", AttrList()}});
}

// What a tensor of `info` is in the layout.
absl::StatusOr<StructInfo> InfoAfter(const StructInfo& info,
                                     const LayoutMap& map) {
  Analyzer analyzer;
  const graph::Expr call = Transformed(graph::Var("x", info), map);
  return InferCall(*call.As<graph::CallNode>(), {nullptr, &analyzer});
}

// All cuts of `var` are whole where its extent is a multiple of this.
int64_t WholePart(const LayoutMap& map, const Var& var) {
  int64_t part = 1;
  for (const Expr& output : map.outputs) {
    Visit(output, [&](const Expr& e) {
      const bool cuts =
          e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
      const auto* binary = e.As<BinaryNode>();
      const int64_t* by = cuts ? AsInt(binary->b) : nullptr;
      if (by && *by > 0 && *by < INT32_MAX && part < INT32_MAX &&
          UsesVar(binary->a, var)) {
        part = std::lcm(part, *by);
      }
      return true;
    });
  }
  return part;
}

struct Inverse {
  LayoutMap map;
  std::vector<int64_t> extents;  // of what it gives
};

// Of tensors of these extents.
absl::StatusOr<Inverse> InverseOf(const LayoutMap& map,
                                  const std::vector<Expr>& extents) {
  Inverse inverse;
  std::vector<LoopRange> loops;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t* extent = AsInt(extents[d]);
    if (!extent) {
      return absl::InvalidArgumentError(
          "the layout of a result is inverted for extents that are numbers");
    }
    const int64_t part = WholePart(map, map.inputs[d]);
    inverse.extents.push_back((*extent + part - 1) / part * part);
    loops.push_back({map.inputs[d], {Int(0), Int(inverse.extents.back())}});
  }
  for (size_t d = 0; d < map.outputs.size(); ++d) {
    inverse.map.inputs.emplace_back(absl::StrCat("axis", d));
  }
  const auto& points = inverse.map.inputs;
  auto sources =
      InvertIterMap(map.outputs, loops, {points.begin(), points.end()});
  if (!sources) {
    return absl::InvalidArgumentError(
        "the layout of a result is no bijection of indices; without its "
        "inverse nothing can read the result");
  }
  inverse.map.outputs = *std::move(sources);
  return inverse;
}

// The function that copies the first elements of each dimension; its extents
// are those of its arguments.
absl::StatusOr<Function> RemovePad(size_t rank, DType dtype) {
  std::vector<Expr> padded, kept;
  for (size_t d = 0; d < rank; ++d) {
    padded.push_back(Var(absl::StrCat("p", d)));
    kept.push_back(Var(absl::StrCat("i", d)));
  }
  const te::Tensor input = te::Placeholder(padded, dtype, "input");
  te::ComputeOptions options;
  for (size_t d = 0; d < rank; ++d) {
    options.axes.push_back(absl::StrCat("ax", d));
  }
  const te::Tensor output = te::Compute(
      kept, [&](const auto& i) -> te::Value { return input(i); }, "output",
      std::move(options));
  KILN_ASSIGN_OR_RETURN(Function f,
                        te::CreatePrimFunc({input, output}, "remove_pad"));
  f.is_private = true;
  return f;
}

graph::Expr CallFunction(const std::string& name, std::vector<graph::Expr> args,
                         std::vector<StructInfo> infos) {
  return CallOp("call_tir",
                {graph::Global(name), graph::TupleOf(std::move(args))}, {},
                std::move(infos));
}

class Alteration {
 public:
  Alteration(const OpImplementations& implementations, Module& module)
      : implementations_(implementations), module_(module) {}

  // Emits what stands for the binding; false where it stays.
  absl::StatusOr<bool> Alter(const graph::Binding& binding,
                             graph::Emitter& emit) {
    const auto* call = binding.value.As<graph::CallNode>();
    const OpImplementation* made = call ? Implementation(*call) : nullptr;
    if (!made) return false;
    KILN_RETURN_IF_ERROR(Check(*call, *made));
    const std::string name = NameOf(*made);
    std::vector<graph::Expr> args = call->args;
    KILN_ASSIGN_OR_RETURN(args[1],
                          Inputs(*args[1].As<graph::TupleNode>(), *made, emit));
    args[0] = graph::Global(name);
    std::vector<StructInfo> infos = call->infos;
    for (size_t i = 0; i < infos.size(); ++i) {
      const auto& layout = ResultLayout(*call, *made, i);
      if (!layout) continue;
      KILN_ASSIGN_OR_RETURN(infos[i], InfoAfter(infos[i], *layout));
    }
    const graph::Expr altered =
        CallOp("call_tir", std::move(args), call->attrs, std::move(infos));
    KILN_ASSIGN_OR_RETURN(graph::Expr result,
                          Result(altered, *call, *made, emit));
    emit.Emit(binding.var, std::move(result));
    return true;
  }

 private:
  const OpImplementation* Implementation(const graph::CallNode& call) const {
    const auto* global = call.IsOp("call_tir")
                             ? call.args[0].As<graph::GlobalVarNode>()
                             : nullptr;
    const Function* callee = global ? module_.Find(global->name) : nullptr;
    if (!callee || !call.args[1].As<graph::TupleNode>()) return nullptr;
    const auto attr = callee->attrs.find("operator_name");
    const std::string* op =
        attr == callee->attrs.end() ? nullptr : attr->second.string();
    const auto found = op ? implementations_.find(*op) : implementations_.end();
    return found == implementations_.end() ? nullptr : &found->second;
  }

  static size_t InputCount(const graph::CallNode& call) {
    return call.args[1].As<graph::TupleNode>()->fields.size();
  }

  static const std::optional<LayoutMap>& ResultLayout(
      const graph::CallNode& call, const OpImplementation& made, size_t i) {
    static const auto& none = *new std::optional<LayoutMap>();
    return made.layouts.empty() ? none : made.layouts[InputCount(call) + i];
  }

  static absl::Status Check(const graph::CallNode& call,
                            const OpImplementation& made) {
    const auto& inputs = call.args[1].As<graph::TupleNode>()->fields;
    std::vector<StructInfo> infos;
    for (const graph::Expr& input : inputs) {
      infos.push_back(graph::InfoOf(input));
    }
    infos.insert(infos.end(), call.infos.begin(), call.infos.end());
    const Layouts& layouts = made.layouts;
    if (!layouts.empty() && layouts.size() != infos.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the implementation ", made.function.name, " has layouts of ",
          layouts.size(), " tensors, and the call is over ", infos.size(),
          "; give one for each, or none"));
    }
    for (size_t i = 0; i < layouts.size(); ++i) {
      const auto* tensor = infos[i].As<graph::TensorInfo>();
      const auto* extents = tensor ? tensor->extents() : nullptr;
      const bool fits =
          !layouts[i] ||
          (extents && extents->size() == layouts[i]->inputs.size());
      if (fits) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the implementation ", made.function.name, ": layout ", i, " is of ",
          layouts[i]->inputs.size(), " dimensions, and what it stands for is ",
          PrintStructInfo(infos[i])));
    }
    return absl::OkStatus();
  }

  std::string NameOf(const OpImplementation& made) {
    const auto known = names_.find(&made);
    if (known != names_.end()) return known->second;
    Function function = made.function;
    function.is_private = true;
    return names_[&made] = AddTensorFunction(std::move(function), module_);
  }

  static absl::StatusOr<graph::Expr> Inputs(const graph::TupleNode& inputs,
                                            const OpImplementation& made,
                                            graph::Emitter& emit) {
    std::vector<graph::Expr> fields = inputs.fields;
    for (size_t i = 0; i < fields.size() && !made.layouts.empty(); ++i) {
      const auto& layout = made.layouts[i];
      if (layout) fields[i] = emit.Emit(Transformed(fields[i], *layout));
    }
    return graph::TupleOf(std::move(fields));
  }

  absl::StatusOr<graph::Expr> Result(const graph::Expr& altered,
                                     const graph::CallNode& call,
                                     const OpImplementation& made,
                                     graph::Emitter& emit) {
    bool is_plain = true;
    for (size_t i = 0; i < call.infos.size(); ++i) {
      is_plain = is_plain && !ResultLayout(call, made, i);
    }
    if (is_plain) return altered;
    const graph::Var result = emit.Emit(altered);
    if (call.infos.size() == 1) {
      return Restored(result, call.infos[0], *ResultLayout(call, made, 0),
                      emit);
    }
    std::vector<graph::Expr> fields;
    for (size_t i = 0; i < call.infos.size(); ++i) {
      const graph::Var field =
          emit.Emit(graph::Item(result, static_cast<int>(i)));
      fields.push_back(field);
      const auto& layout = ResultLayout(call, made, i);
      if (!layout) continue;
      KILN_ASSIGN_OR_RETURN(const graph::Expr restored,
                            Restored(field, call.infos[i], *layout, emit));
      fields.back() = emit.Emit(restored);
    }
    return graph::TupleOf(std::move(fields));
  }

  // `x`, in the layout, as the tensor of `info` that the call gave.
  absl::StatusOr<graph::Expr> Restored(const graph::Var& x,
                                       const StructInfo& info,
                                       const LayoutMap& layout,
                                       graph::Emitter& emit) {
    const auto& tensor = *info.As<graph::TensorInfo>();
    const std::vector<Expr>& extents = *tensor.extents();
    KILN_ASSIGN_OR_RETURN(const Inverse inverse, InverseOf(layout, extents));
    const graph::Expr back = Transformed(x, inverse.map);
    bool is_padded = false;
    for (size_t d = 0; d < extents.size(); ++d) {
      is_padded = is_padded || inverse.extents[d] != *AsInt(extents[d]);
    }
    if (!is_padded) return back;
    KILN_ASSIGN_OR_RETURN(Function cut,
                          RemovePad(extents.size(), tensor.dtype));
    const std::string name = AddTensorFunction(std::move(cut), module_);
    return CallFunction(name, {emit.Emit(back)}, {info});
  }

  const OpImplementations& implementations_;
  Module& module_;
  std::map<const OpImplementation*, std::string> names_;
};

}  // namespace

absl::StatusOr<Module> AlterOpImplementations(
    const Module& module, const OpImplementations& implementations) {
  Module out = module;
  Alteration alteration(implementations, out);
  absl::Status status;
  for (size_t i = 0; i < out.graph_functions.size(); ++i) {
    const std::string name = out.graph_functions[i]->name;
    const graph::Expr e = graph::RewriteBindings(
        out.graph_functions[i],
        [&](const graph::Binding& binding, graph::Emitter& emit) {
          if (!status.ok()) return false;
          const absl::StatusOr<bool> altered = alteration.Alter(binding, emit);
          status = altered.status();
          return altered.ok() && *altered;
        });
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("alter_op_impl: ", name, ": ", status.message()));
    }
    out.graph_functions[i] = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return InferModule(out);
}

}  // namespace kiln
