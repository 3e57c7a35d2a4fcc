// Of each call the results come first, one allocation each, then the call, then
// the old name for what was allocated. Bindings of dataflow blocks have no
// effect but their value, so the blocks become plain ones ahead of that.
//
//   lv = R.call_tir_inplace(cls.f, (x, y), inplace_indices=[0, -1], ...)
//
//   alloc = R.builtin.alloc_tensor(...)      the second result is new
//   cls.f(x, y, alloc)
//   lv = (x, alloc)
#include "kiln/ir/transform/graph/lower_call_tir.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/in_place.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Emitter;
using graph::StructInfo;
using GraphExprs = std::vector<graph::Expr>;

bool IsLowered(const graph::Expr& value) {
  const auto* call = value.As<graph::CallNode>();
  const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
  return op &&
         (op->name == "call_tir" || op->name == "call_tir_with_grad" ||
          op->name == "call_tir_inplace" || op->name == "call_dps_packed");
}

bool HasLowered(const graph::Expr& e) {
  bool has = false;
  graph::Visit(e, [&](const graph::Expr& below) {
    has = has || IsLowered(below);
    return !has;
  });
  return has;
}

// All blocks of each sequence as one that is no dataflow block.
graph::Expr WithoutDataflow(const graph::Expr& e,
                            graph::Substitution& renamed) {
  const graph::Expr below =
      graph::MapOperands(e, [&](const graph::Expr& operand) {
        return WithoutDataflow(operand, renamed);
      });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  graph::BindingBlock all;
  for (const graph::BindingBlock& block : seq->blocks) {
    for (Binding binding : block.bindings) {
      if (binding.var->is_dataflow) {
        const graph::Var plain(binding.var->name, binding.var->info);
        renamed.vars[binding.var.get()] = plain;
        binding.var = plain;
      }
      all.bindings.push_back(std::move(binding));
    }
  }
  if (all.bindings.empty()) return below;
  return graph::Seq({std::move(all)}, seq->result);
}

// The calls of one function.
class CallLowering {
 public:
  explicit CallLowering(const Module& module) : module_(module) {}

  absl::StatusOr<graph::Expr> Run(const graph::Expr& f) {
    graph::Expr out =
        graph::RewriteBindings(f, [&](const Binding& binding, Emitter& emit) {
          if (!status_.ok() || !IsLowered(binding.value)) return false;
          const absl::StatusOr<graph::Expr> value =
              Lower(*binding.value.As<graph::CallNode>(), emit);
          if (value.ok()) emit.Emit(binding.var, *value);
          if (!value.ok()) Fail(binding, value.status());
          return value.ok();
        });
    if (!status_.ok()) return status_;
    return out;
  }

 private:
  void Fail(const Binding& binding, const absl::Status& status) {
    status_ = absl::Status(
        status.code(), absl::StrCat(binding.var->name, ": ", status.message()));
  }

  absl::StatusOr<graph::Expr> Lower(const graph::CallNode& call,
                                    Emitter& emit) {
    if (call.args.size() < 2) {
      return absl::InvalidArgumentError(
          "a function and its arguments are "
          "needed");
    }
    GraphExprs args = Fields(call.args[1], emit);
    KILN_ASSIGN_OR_RETURN(GraphExprs results, Results(call, &args, emit));
    emit.Emit(Call(call, std::move(args)), "_");
    if (results.size() == 1) return results[0];
    return graph::TupleOf(std::move(results));
  }

  static GraphExprs Fields(const graph::Expr& e, Emitter& emit) {
    if (const auto* tuple = e.As<graph::TupleNode>()) return tuple->fields;
    const StructInfo info = graph::InfoOf(e);
    const auto* tuple = info.As<graph::TupleInfo>();
    if (!tuple) return {e};
    GraphExprs fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(emit.Emit(graph::Item(e, static_cast<int>(i))));
    }
    return fields;
  }

  // What the call gives; tensors that are new stand behind `args`, too.
  static absl::StatusOr<GraphExprs> Results(const graph::CallNode& call,
                                            GraphExprs* args, Emitter& emit) {
    std::vector<int64_t> places(call.infos.size(), -1);
    if (call.IsOp("call_tir_inplace")) {
      KILN_ASSIGN_OR_RETURN(places, InPlaceIndices(call, args->size()));
    }
    GraphExprs results;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0) {
        results.push_back((*args)[places[i]]);
        continue;
      }
      KILN_ASSIGN_OR_RETURN(const graph::Expr made, Allocation(call.infos[i]));
      results.push_back(emit.Emit(made, "alloc"));
      args->push_back(results.back());
    }
    return results;
  }

  static absl::StatusOr<graph::Expr> Allocation(const StructInfo& info) {
    const auto* tensor = info.As<graph::TensorInfo>();
    if (!tensor || !tensor->shape || tensor->dtype.is_void()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape and the type of a result have to be known, "
                       "not only ",
                       PrintStructInfo(info)));
    }
    return graph::CallOp(
        "builtin.alloc_tensor",
        {tensor->shape, graph::Expr(new graph::DataTypeNode(tensor->dtype)),
         graph::Number(Int(0)), graph::Text("global")});
  }

  graph::Expr Call(const graph::CallNode& call, GraphExprs args) const {
    graph::Expr callee = call.args[0];
    const auto* packed = callee.As<graph::ExternNode>();
    if (packed && module_.Find(packed->name)) {
      callee = graph::Global(packed->name);
    }
    if (call.args.size() > 2) {
      args.push_back(call.args[2]);
      return graph::CallOp("vm.call_tir_dyn",
                           {callee, graph::TupleOf(std::move(args))});
    }
    return graph::Expr(new graph::CallNode(callee, std::move(args), {}, {}));
  }

  const Module& module_;
  absl::Status status_;
};

absl::StatusOr<graph::GraphFunction> Lowered(const graph::GraphFunction& f,
                                             const Module& module) {
  graph::Substitution renamed;
  const graph::Expr plain =
      graph::Substitute(WithoutDataflow(f, renamed), renamed);
  KILN_ASSIGN_OR_RETURN(const graph::Expr out, CallLowering(module).Run(plain));
  graph::FunctionFields fields = out.As<graph::FunctionNode>()->fields();
  if (fields.is_pure) fields.attrs["relax.force_pure"] = Bool(true);
  return graph::GraphFunction(std::move(fields));
}

}  // namespace

absl::StatusOr<Module> LowerCallTir(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!HasLowered(f)) continue;
    absl::StatusOr<graph::GraphFunction> lowered = Lowered(f, module);
    if (!lowered.ok()) {
      return absl::Status(
          lowered.status().code(),
          absl::StrCat(f->name, ": ", lowered.status().message()));
    }
    f = *std::move(lowered);
  }
  return out;
}

}  // namespace kiln
