// One walk over the bindings. Where a field of a batch norm is bound, the batch
// norm and its convolution are looked up; field 0 becomes the new convolution
// and its bias, fields 1 and 2 the moving moments. What nothing reads any more
// is dropped at the end.
//
// The layouts say where the numbers of the channels belong: of OIHW and NCHW
//
//   R.reshape(s, R.shape([32, 1, 1, 1]))       for the weight
//   R.reshape(b, R.shape([1, 32, 1, 1]))       for the result
#include "kiln/ir/transform/graph/fold_batch_norm.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/layout.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::CallOp;

// The dimension that is the whole axis; nullopt where it is split.
std::optional<int> PlaceOf(char axis, const std::string& layout) {
  const absl::StatusOr<Layout> parsed = Layout::Parse(layout);
  if (!parsed.ok()) return std::nullopt;
  std::optional<int> place;
  for (int d = 0; d < parsed->rank(); ++d) {
    if (parsed->dims()[d].axis != axis) continue;
    if (place) return std::nullopt;
    place = d;
  }
  return place;
}

// One number for each channel, of a tensor of `rank` dimensions.
graph::Expr Reshaped(const graph::Expr& numbers, const Expr& channels,
                     int place, int rank) {
  std::vector<Expr> shape(rank, Int(1));
  shape[place] = channels;
  return CallOp("reshape", {numbers, graph::ShapeOf(std::move(shape))});
}

struct Folding {
  const graph::CallNode* conv;
  const graph::CallNode* norm;
  int weight_place, data_place;
  int weight_rank, data_rank;
  Expr channels;
  DType dtype;
  double epsilon;
  bool scales, centers;
};

class Folder {
 public:
  Folder(const graph::GraphFunction& f, FoldedNorms norms)
      : norms_(norms), uses_(CountUses(f)) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* seq = e.As<graph::SeqNode>();
      if (!seq) return true;
      for (const graph::BindingBlock& block : seq->blocks) {
        for (const graph::Binding& binding : block.bindings) Add(binding);
      }
      return true;
    });
  }

  bool operator()(const graph::Binding& binding, graph::Emitter& emit) const {
    const auto* item = binding.value.As<graph::TupleItemNode>();
    const auto folding = item ? FoldingOf(item->tuple) : std::nullopt;
    if (!folding) return false;
    emit.Emit(binding.var, item->index == 0
                               ? Folded(*folding, emit)
                               : folding->norm->args[2 + item->index]);
    return true;
  }

 private:
  void Add(const graph::Binding& binding) {
    values_[binding.var.get()] = binding.value;
    const auto* item = binding.value.As<graph::TupleItemNode>();
    if (item) ++item_uses_[item->tuple.As<graph::VarNode>()];
  }

  // The call of the op that the variable is bound to, or nullptr.
  const graph::CallNode* CallOf(const graph::Expr& var) const {
    const auto found = values_.find(var.As<graph::VarNode>());
    return found == values_.end() ? nullptr
                                  : found->second.As<graph::CallNode>();
  }

  const graph::CallNode* ConvOf(const graph::Expr& var) const {
    const graph::CallNode* call = CallOf(var);
    const auto uses = uses_.find(var.As<graph::VarNode>());
    if (!call || uses == uses_.end() || uses->second != 1) return nullptr;
    for (const char* op : {"nn.conv1d", "nn.conv2d", "nn.conv3d"}) {
      if (call->IsOp(op)) return call;
    }
    return nullptr;
  }

  std::optional<Folding> FoldingOf(const graph::Expr& tuple) const {
    const auto* var = tuple.As<graph::VarNode>();
    const graph::CallNode* norm = CallOf(tuple);
    if (!norm || !norm->IsOp("nn.batch_norm")) return std::nullopt;
    const graph::CallNode* conv = ConvOf(norm->args[0]);
    if (!conv || uses_.at(var) != item_uses_.at(var)) return std::nullopt;
    Folding folding{conv, norm};
    return SetNorm(folding) && SetPlaces(folding)
               ? std::optional<Folding>(folding)
               : std::nullopt;
  }

  // Numbers for each channel have to be of the weight's type.
  static bool SetNorm(Folding& folding) {
    const graph::StructInfo weight = graph::InfoOf(folding.conv->args[1]);
    const graph::StructInfo gamma = graph::InfoOf(folding.norm->args[1]);
    const auto* weights = weight.As<graph::TensorInfo>();
    const auto* factors = gamma.As<graph::TensorInfo>();
    if (!weights || !factors || !factors->extents()) return false;
    folding.weight_rank = weights->rank;
    folding.channels = factors->extents()->front();
    folding.dtype = weights->dtype;
    return factors->dtype == folding.dtype;
  }

  bool SetPlaces(Folding& folding) const {
    Analyzer analyzer;
    const OpContext context{nullptr, &analyzer};
    const OpCall conv(*folding.conv, context), norm(*folding.norm, context);
    const std::string* named = conv.attr("out_layout").string();
    const auto out =
        conv.String(named && !named->empty() ? "out_layout" : "data_layout");
    const auto kernel = conv.String("kernel_layout");
    const auto data = norm.Tensor(0);
    if (!out.ok() || !kernel.ok() || !data.ok()) return false;
    folding.data_rank = (*data)->rank;
    const auto axis = norm.Axis("axis", (*data)->rank);
    const auto epsilon = norm.Real("epsilon");
    const auto scales = norm.Bool("scale"), centers = norm.Bool("center");
    const auto trains = norm.Bool("training");
    const auto data_place = PlaceOf('C', *out);
    const auto weight_place = PlaceOf('O', *kernel);
    const bool is_known = axis.ok() && epsilon.ok() && scales.ok() &&
                          centers.ok() && trains.ok() && weight_place &&
                          data_place == *axis;
    if (!is_known || (*trains && !MayFix(folding))) return false;
    folding.data_place = *data_place;
    folding.weight_place = *weight_place;
    folding.epsilon = *epsilon;
    folding.scales = *scales;
    folding.centers = *centers;
    return true;
  }

  // A norm that takes the moments of its data counts as one that takes the
  // moving ones where that is asked for and all of it is constant, as in a
  // model that was trained.
  bool MayFix(const Folding& folding) const {
    const auto& args = folding.norm->args;
    return norms_ == FoldedNorms::kAll && IsConstant(folding.conv->args[1]) &&
           std::all_of(args.begin() + 1, args.end(), IsConstant);
  }
  static bool IsConstant(const graph::Expr& e) {
    return e.kind() == graph::GraphKind::kConstant;
  }

  static graph::Expr Folded(const Folding& folding, graph::Emitter& emit) {
    const auto& args = folding.norm->args;
    const graph::Expr epsilon =
        graph::Number(Float(folding.epsilon, folding.dtype));
    const graph::Expr spread = emit.Emit(
        CallOp("sqrt", {emit.Emit(CallOp("add", {args[4], epsilon}))}));
    const graph::Expr one = graph::Number(Float(1, folding.dtype));
    const graph::Expr factors =
        emit.Emit(CallOp("divide", {folding.scales ? args[1] : one, spread}));
    const graph::Expr product = Convolved(folding, factors, emit);
    const graph::Expr moved = emit.Emit(CallOp("multiply", {args[3], factors}));
    const graph::Expr bias =
        emit.Emit(folding.centers ? CallOp("subtract", {args[2], moved})
                                  : CallOp("negative", {moved}));
    const graph::Expr shaped = emit.Emit(Reshaped(
        bias, folding.channels, folding.data_place, folding.data_rank));
    return CallOp("add", {product, shaped});
  }

  static graph::Expr Convolved(const Folding& folding,
                               const graph::Expr& factors,
                               graph::Emitter& emit) {
    const graph::Expr shaped = emit.Emit(Reshaped(
        factors, folding.channels, folding.weight_place, folding.weight_rank));
    std::vector<graph::Expr> args = folding.conv->args;
    args[1] = emit.Emit(CallOp("multiply", {args[1], shaped}));
    return emit.Emit(graph::Expr(
        new graph::CallNode(folding.conv->callee, std::move(args),
                            folding.conv->attrs, folding.conv->infos)));
  }

  const FoldedNorms norms_;
  const UseCounts uses_;
  std::unordered_map<const graph::VarNode*, graph::Expr> values_;
  std::unordered_map<const graph::VarNode*, int> item_uses_;
};

}  // namespace

absl::StatusOr<Module> FoldBatchNorm(const Module& module, FoldedNorms norms) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const Folder folder(f, norms);
    const graph::Expr e = graph::RewriteBindings(f, folder);
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  KILN_ASSIGN_OR_RETURN(Module inferred, InferModule(out));
  return WithoutUnusedBindings(std::move(inferred));
}

}  // namespace kiln
