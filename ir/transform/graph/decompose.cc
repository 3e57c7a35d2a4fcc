// A norm is (x - mean) / sqrt(variance + epsilon) * gamma + beta. What has one
// number for each channel gets dimensions of extent 1 first, so that it
// broadcasts: of four dimensions and axis 1,
//
//   R.expand_dims(gamma, axis=[0, 2, 3])        (C,) becomes (1, C, 1, 1)
//
// Norms of tensors whose rank or type is not known stay, and so do layer norms
// whose axes do not ascend: their factors would have to be permuted.
#include "kiln/ir/transform/graph/decompose.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op_call.h"

namespace kiln {
namespace {

using graph::CallOp;

Attr ListOf(const std::vector<int>& numbers) {
  AttrList list;
  for (const int number : numbers) list.push_back(Int(number));
  return Attr(std::move(list));
}

class Norm {
 public:
  // `axes` are those that gamma and beta have, ascending.
  Norm(const OpCall& call, const graph::TensorInfo& data, std::vector<int> axes,
       graph::Emitter& emit)
      : call_(call), data_(data), axes_(std::move(axes)), emit_(emit) {
    for (int d = 0; d < data.rank; ++d) {
      const bool has = std::find(axes_.begin(), axes_.end(), d) != axes_.end();
      if (!has) others_.push_back(d);
    }
  }

  absl::StatusOr<graph::Expr> BatchByMovingMoments() {
    const graph::Expr mean = call_.arg(3), variance = call_.arg(4);
    const graph::Expr distance = DistanceFrom(Broadcast(mean));
    KILN_ASSIGN_OR_RETURN(const graph::Expr y,
                          Normal(distance, Broadcast(variance)));
    return graph::TupleOf({emit_.Emit(y), mean, variance});
  }

  absl::StatusOr<graph::Expr> BatchByItsMoments() {
    const AttrMap attrs = {{"axis", ListOf(others_)},
                           {"keepdims", Bool(false)}};
    const graph::Expr mean = Emit("mean", {call_.arg(0)}, attrs);
    const graph::Expr variance = Emit("variance", {call_.arg(0)}, attrs);
    const graph::Expr distance = DistanceFrom(Broadcast(mean));
    KILN_ASSIGN_OR_RETURN(const graph::Expr normal,
                          Normal(distance, Broadcast(variance)));
    const graph::Expr now =
        emit_.Emit(graph::TupleOf({emit_.Emit(normal), mean, variance}));
    const graph::Expr y = emit_.Emit(graph::Item(now, 0));
    KILN_ASSIGN_OR_RETURN(const graph::Expr moved_mean,
                          Moved(call_.arg(3), mean));
    KILN_ASSIGN_OR_RETURN(const graph::Expr moved_variance,
                          Moved(call_.arg(4), variance));
    return graph::TupleOf({y, moved_mean, moved_variance});
  }

  absl::StatusOr<graph::Expr> Layer() {
    const AttrMap attrs = {{"axis", call_.attr("axes")},
                           {"keepdims", Bool(true)}};
    const graph::Expr mean = Emit("mean", {call_.arg(0)}, attrs);
    const graph::Expr distance = DistanceFrom(mean);
    const graph::Expr variance = Emit("variance", {call_.arg(0)}, attrs);
    return Normal(distance, variance);
  }

 private:
  graph::Expr Emit(std::string op, std::vector<graph::Expr> args,
                   AttrMap attrs = {}) {
    return emit_.Emit(CallOp(std::move(op), std::move(args), std::move(attrs)));
  }

  absl::StatusOr<graph::Expr> NumberOf(double value) const {
    return graph::MakeConstant(data_.dtype, {}, {Float(value, data_.dtype)});
  }

  graph::Expr DistanceFrom(const graph::Expr& mean) {
    return Emit("subtract", {call_.arg(0), mean});
  }

  graph::Expr Broadcast(const graph::Expr& numbers) {
    return others_.empty()
               ? numbers
               : Emit("expand_dims", {numbers}, {{"axis", ListOf(others_)}});
  }

  // Factors of a layer norm over the last dimensions broadcast as they are.
  graph::Expr Factor(size_t arg) {
    const bool are_last =
        axes_.front() + static_cast<int>(axes_.size()) == data_.rank;
    const bool fits = are_last && call_.name() == "nn.layer_norm";
    return fits ? call_.arg(arg) : Broadcast(call_.arg(arg));
  }

  // The call that gives it.
  absl::StatusOr<graph::Expr> Normal(const graph::Expr& distance,
                                     const graph::Expr& variance) {
    KILN_ASSIGN_OR_RETURN(const double number, call_.Real("epsilon"));
    KILN_ASSIGN_OR_RETURN(const graph::Expr epsilon, NumberOf(number));
    KILN_ASSIGN_OR_RETURN(const bool scales, call_.Bool("scale"));
    KILN_ASSIGN_OR_RETURN(const bool centers, call_.Bool("center"));
    const graph::Expr spread = Emit("sqrt", {Emit("add", {variance, epsilon})});
    graph::Expr normal = CallOp("divide", {distance, spread});
    if (scales) normal = CallOp("multiply", {emit_.Emit(normal), Factor(1)});
    if (centers) normal = CallOp("add", {emit_.Emit(normal), Factor(2)});
    return normal;
  }

  // (1 - momentum) * before + momentum * now.
  absl::StatusOr<graph::Expr> Moved(const graph::Expr& before,
                                    const graph::Expr& now) {
    KILN_ASSIGN_OR_RETURN(const double momentum, call_.Real("momentum"));
    KILN_ASSIGN_OR_RETURN(const graph::Expr rest, NumberOf(1 - momentum));
    KILN_ASSIGN_OR_RETURN(const graph::Expr step, NumberOf(momentum));
    const graph::Expr old = Emit("multiply", {rest, before});
    const graph::Expr next = Emit("multiply", {step, now});
    return Emit("add", {old, next});
  }

  const OpCall& call_;
  const graph::TensorInfo& data_;
  const std::vector<int> axes_;
  graph::Emitter& emit_;
  std::vector<int> others_;  // the axes that gamma and beta do not have
};

enum class Purpose { kInference, kTraining };

absl::StatusOr<graph::Expr> DecomposedBatchNorm(const OpCall& call,
                                                const graph::TensorInfo& data,
                                                Purpose purpose,
                                                graph::Emitter& emit) {
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", data.rank));
  KILN_ASSIGN_OR_RETURN(const bool trains, call.Bool("training"));
  Norm norm(call, data, {axis}, emit);
  if (purpose == Purpose::kInference || !trains) {
    return norm.BatchByMovingMoments();
  }
  // Moments over no axes are none.
  return data.rank > 1 ? norm.BatchByItsMoments() : graph::Expr();
}

absl::StatusOr<graph::Expr> DecomposedLayerNorm(const OpCall& call,
                                                const graph::TensorInfo& data,
                                                graph::Emitter& emit) {
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", data.rank));
  const bool ascend =
      axes && !axes->empty() && std::is_sorted(axes->begin(), axes->end());
  return ascend ? Norm(call, data, *axes, emit).Layer() : graph::Expr();
}

// Null for what stays.
absl::StatusOr<graph::Expr> DecomposedCall(const OpCall& call, Purpose purpose,
                                           graph::Emitter& emit) {
  const bool is_layer =
      call.name() == "nn.layer_norm" && purpose == Purpose::kTraining;
  if (call.name() != "nn.batch_norm" && !is_layer) return graph::Expr();
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* data, call.Tensor(0));
  if (data->rank == graph::kUnknownRank || data->dtype.is_void()) {
    return graph::Expr();
  }
  return is_layer ? DecomposedLayerNorm(call, *data, emit)
                  : DecomposedBatchNorm(call, *data, purpose, emit);
}

absl::StatusOr<Module> Decompose(const Module& module, Purpose purpose) {
  Module out = module;
  absl::Status status;
  const auto rule = [&](const graph::Binding& binding, graph::Emitter& emit) {
    const auto* node = binding.value.As<graph::CallNode>();
    if (!status.ok() || !node || !node->callee.As<graph::OpNode>()) {
      return false;
    }
    Analyzer analyzer;
    const OpContext context{&module, &analyzer};
    absl::StatusOr<graph::Expr> value =
        DecomposedCall(OpCall(*node, context), purpose, emit);
    status = value.status();
    if (!value.ok() || !*value) return false;
    emit.Emit(binding.var, *std::move(value));
    return true;
  };
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = graph::RewriteBindings(f, rule);
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  KILN_RETURN_IF_ERROR(status);
  return InferModule(out);
}

}  // namespace

absl::StatusOr<Module> DecomposeForInference(const Module& module) {
  return Decompose(module, Purpose::kInference);
}

absl::StatusOr<Module> DecomposeForTraining(const Module& module) {
  return Decompose(module, Purpose::kTraining);
}

}  // namespace kiln
