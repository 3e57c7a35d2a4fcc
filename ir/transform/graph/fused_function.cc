// Each variable of the graph function stands for a buffer (or for several, or
// for numbers); a call copies the body of its callee, whose parameters become
// the buffers of the arguments and whose dimensions become their extents:
//
//   lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), "float32"))
//   def exp(A: T.Buffer((n,)), B: T.Buffer((n,))): for i in range(n): B[i] =
//   ...
//
// gives `for i in range(4): B_intermediate[i] = T.exp(x[i])`, B_intermediate
// being a buffer of the fused function, or a parameter where `f` returns lv.
#include "kiln/ir/transform/graph/fused_function.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/tensor/clone_with_fresh_ids.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using graph::Scalar;
using graph::StructInfo;

// What a variable stands for: a tensor, numbers, or fields.
struct Value {
  Buffer buffer;
  std::vector<Scalar> scalars;
  std::vector<Value> fields;
};

void Flatten(const Value& value, std::vector<Value>& out) {
  for (const Value& field : value.fields) Flatten(field, out);
  if (value.buffer) out.push_back(value);
  for (const Scalar& scalar : value.scalars) out.push_back({{}, {scalar}, {}});
}

bool IsPlain(const BlockNode& block) {
  return block.iters.empty() && block.match_buffers.empty() && !block.init;
}

class Fusion {
 public:
  Fusion(const graph::FunctionNode& f, const Module& module)
      : f_(f), module_(module) {}

  std::optional<Function> Run();

 private:
  bool AddParams();
  std::optional<Value> ParamOf(const StructInfo& info, const std::string& name);
  Scalar NumberParam(const Scalar& value);
  std::optional<Value> ValueOf(const graph::Expr& e);
  std::optional<Value> TupleOf(const std::vector<graph::Expr>& fields);
  std::optional<Value> CallOf(const graph::CallNode& call);
  std::optional<std::vector<Buffer>> Outputs(const graph::CallNode& call,
                                             const Function& callee,
                                             const std::vector<Value>& inputs);
  bool Inline(Function callee, const std::vector<Value>& args);
  Buffer Intermediate(const Buffer& like, const StructInfo& info);
  bool AddOutputs(const graph::Expr& result);
  void NameBlocksApart();

  const graph::FunctionNode& f_;
  const Module& module_;
  Function out_;
  VarMap own_;  // dimensions of the graph function -> of the fused one
  std::vector<Param> numbers_;
  std::vector<Buffer> intermediates_;
  std::vector<Stmt> stmts_;
  std::unordered_map<const graph::VarNode*, Value> values_;
};

// --- Parameters.

// A value that is a variable becomes a parameter.
Scalar Fusion::NumberParam(const Scalar& value) {
  Scalar own = Substitute(value, own_);
  const auto* var = own.As<VarNode>();
  const bool is_known =
      std::any_of(numbers_.begin(), numbers_.end(),
                  [&](const Param& param) { return param.var.get() == var; });
  if (var && !is_known) numbers_.push_back({Var(var), nullptr});
  return own;
}

std::optional<Value> Fusion::ParamOf(const StructInfo& info,
                                     const std::string& name) {
  Value value;
  if (const auto* tensor = info.As<graph::TensorInfo>()) {
    if (!tensor->extents() || tensor->dtype.is_void()) return std::nullopt;
    std::vector<Expr> shape;
    for (const Expr& e : *tensor->extents()) {
      shape.push_back(Substitute(e, own_));
    }
    value.buffer = MakeBuffer(name, tensor->dtype, std::move(shape));
    out_.params.push_back({Var(name, DType::Handle()), value.buffer});
    return value;
  }
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      auto field = ParamOf(tuple->fields[i], absl::StrCat(name, "_", i));
      if (!field) return std::nullopt;
      value.fields.push_back(*std::move(field));
    }
    return value;
  }
  if (const auto* shape = info.As<graph::ShapeInfo>()) {
    if (!shape->values) return std::nullopt;
    for (const Scalar& e : *shape->values) {
      value.scalars.push_back(NumberParam(e));
    }
    return value;
  }
  const auto* prim = info.As<graph::PrimInfo>();
  if (!prim) return std::nullopt;
  value.scalars.push_back(
      NumberParam(prim->value ? prim->value : Var(name, prim->dtype)));
  return value;
}

bool Fusion::AddParams() {
  graph::VisitScalars(graph::Expr(&f_), [&](const Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      if (own_.count(var.get()) == 0) {
        own_[var.get()] = Var(var.name(), var.dtype());
      }
    }
  });
  for (const graph::Var& param : f_.params) {
    auto value = ParamOf(param->info, param->name);
    if (!value) return false;
    values_[param.get()] = *std::move(value);
  }
  return true;
}

// --- Values.

std::optional<Value> Fusion::TupleOf(const std::vector<graph::Expr>& fields) {
  Value tuple;
  for (const graph::Expr& field : fields) {
    auto value = ValueOf(field);
    if (!value) return std::nullopt;
    tuple.fields.push_back(*std::move(value));
  }
  return tuple;
}

std::optional<Value> Fusion::ValueOf(const graph::Expr& e) {
  if (const auto* var = e.As<graph::VarNode>()) {
    const auto found = values_.find(var);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }
  if (const auto* tuple = e.As<graph::TupleNode>()) {
    return TupleOf(tuple->fields);
  }
  if (const auto* item = e.As<graph::TupleItemNode>()) {
    const auto tuple = ValueOf(item->tuple);
    const bool has_it = tuple && item->index >= 0 &&
                        static_cast<size_t>(item->index) < tuple->fields.size();
    if (!has_it) return std::nullopt;
    return tuple->fields[item->index];
  }
  Value value;
  if (const auto* prim = e.As<graph::PrimNode>()) {
    value.scalars.push_back(Substitute(prim->value, own_));
    return value;
  }
  if (const auto* shape = e.As<graph::ShapeNode>()) {
    for (const Scalar& extent : shape->values) {
      value.scalars.push_back(Substitute(extent, own_));
    }
    return value;
  }
  if (const auto* call = e.As<graph::CallNode>()) return CallOf(*call);
  return std::nullopt;
}

// --- Calls.

Buffer Fusion::Intermediate(const Buffer& like, const StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  const bool fits = tensor && tensor->extents() &&
                    tensor->dtype == like->dtype &&
                    tensor->extents()->size() == like->shape.size();
  if (!fits) return nullptr;
  const Buffer buffer = EditBuffer(like, [&](BufferNode& node) {
    node.name += "_intermediate";
    node.data = {};
    node.shape.clear();
    for (const Expr& e : *tensor->extents()) {
      node.shape.push_back(Substitute(e, own_));
    }
  });
  intermediates_.push_back(buffer);
  return buffer;
}

// The index of the input in whose place output `i` is written; -1 for none.
int64_t InPlace(const graph::CallNode& call, size_t i) {
  const auto found = call.attrs.find("inplace_indices");
  if (!call.IsOp("call_tir_inplace") || found == call.attrs.end()) return -1;
  const AttrList* list = found->second.list();
  if (!list || i >= list->size() || !(*list)[i].expr()) return -1;
  const int64_t* index = AsInt(*(*list)[i].expr());
  return index ? *index : -1;
}

std::optional<std::vector<Buffer>> Fusion::Outputs(
    const graph::CallNode& call, const Function& callee,
    const std::vector<Value>& inputs) {
  std::vector<Buffer> outputs;
  size_t param = inputs.size();
  for (size_t i = 0; i < call.infos.size(); ++i) {
    const int64_t in_place = InPlace(call, i);
    if (in_place >= 0) {
      const auto index = static_cast<size_t>(in_place);
      // What a caller owns is not written.
      const bool is_own =
          index < inputs.size() &&
          std::count(intermediates_.begin(), intermediates_.end(),
                     inputs[index].buffer) > 0;
      if (!is_own) return std::nullopt;
      outputs.push_back(inputs[index].buffer);
      continue;
    }
    const bool has_param =
        param < callee.params.size() && callee.params[param].buffer;
    if (!has_param) return std::nullopt;
    outputs.push_back(
        Intermediate(callee.params[param++].buffer, call.infos[i]));
    if (!outputs.back()) return std::nullopt;
  }
  if (param != callee.params.size()) return std::nullopt;
  return outputs;
}

std::optional<Value> Fusion::CallOf(const graph::CallNode& call) {
  const bool is_known = call.IsOp("call_tir") || call.IsOp("call_tir_inplace");
  if (!is_known || call.args.size() < 2) return std::nullopt;
  const auto* name = call.args[0].As<graph::GlobalVarNode>();
  const Function* callee = name ? module_.Find(name->name) : nullptr;
  if (!callee) return std::nullopt;
  std::vector<Value> args;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const auto value = ValueOf(call.args[i]);
    if (!value) return std::nullopt;
    Flatten(*value, args);
  }
  const auto outputs = Outputs(call, *callee, args);
  if (!outputs) return std::nullopt;
  Value result;
  for (size_t i = 0; i < outputs->size(); ++i) {
    result.fields.push_back({(*outputs)[i], {}, {}});
    if (InPlace(call, i) < 0) args.push_back(result.fields.back());
  }
  if (!Inline(*callee, args)) return std::nullopt;
  return outputs->size() == 1 ? result.fields[0] : result;
}

// What the extents of an argument tell of the callee's dimensions.
bool MatchShape(const Buffer& param, const Buffer& arg, VarMap& dims) {
  if (param->dtype != arg->dtype || param->shape.size() != arg->shape.size()) {
    return false;
  }
  for (size_t i = 0; i < param->shape.size(); ++i) {
    const auto* var = param->shape[i].As<VarNode>();
    if (var && dims.count(var) == 0) dims[var] = arg->shape[i];
  }
  return true;
}

bool Fusion::Inline(Function callee, const std::vector<Value>& args) {
  const auto* realize = callee.body.As<BlockRealizeNode>();
  if (!realize || !IsPlain(*realize->block)) return false;
  if (args.size() != callee.params.size()) return false;
  VarMap dims;
  for (size_t i = 0; i < args.size(); ++i) {
    const Param& param = callee.params[i];
    if (static_cast<bool>(param.buffer) != static_cast<bool>(args[i].buffer)) {
      return false;
    }
    if (!param.buffer) dims[param.var.get()] = args[i].scalars[0];
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Buffer& param = callee.params[i].buffer;
    if (param && !MatchShape(param, args[i].buffer, dims)) return false;
  }
  callee.next_id = std::max(callee.next_id, out_.next_id);
  callee.body = CloneWithFreshIds(callee.body, "", &callee);
  out_.next_id = callee.next_id;
  callee = SubstituteDims(std::move(callee), dims);
  BufferMap buffers;
  size_t next = 0;
  for (const Param& param : callee.params) {
    while (!args[next].buffer) ++next;
    buffers[param.buffer.get()] = args[next++].buffer;
  }
  const Stmt body = ReplaceBuffers(callee.body, buffers);
  const BlockNode& root = *body.As<BlockRealizeNode>()->block;
  intermediates_.insert(intermediates_.end(), root.alloc_buffers.begin(),
                        root.alloc_buffers.end());
  stmts_.push_back(root.body);
  return true;
}

// --- The whole.

bool Fusion::AddOutputs(const graph::Expr& result) {
  const auto value = ValueOf(result);
  if (!value) return false;
  std::vector<Value> outputs;
  Flatten(*value, outputs);
  for (const Value& output : outputs) {
    const auto found =
        std::find(intermediates_.begin(), intermediates_.end(), output.buffer);
    if (!output.buffer || found == intermediates_.end()) return false;
    intermediates_.erase(found);
    out_.params.push_back(
        {Var(output.buffer->name, DType::Handle()), output.buffer});
  }
  return !outputs.empty();
}

void Fusion::NameBlocksApart() {
  std::set<std::string> used = {"root"};
  for (Stmt& stmt : stmts_) {
    std::function<Stmt(const Stmt&)> rename = [&](const Stmt& s) -> Stmt {
      const Stmt below = MapChildren(s, rename);
      const auto* realize = below.As<BlockRealizeNode>();
      if (!realize) return below;
      const std::string& name = realize->block->name;
      std::string unique = name;
      for (int i = 1; !used.insert(unique).second; ++i) {
        unique = absl::StrCat(name, "_", i);
      }
      if (unique == name) return below;
      BlockFields fields = realize->block->fields();
      fields.name = unique;
      return MakeRealize(realize->values, realize->predicate,
                         MakeBlock(std::move(fields)));
    };
    stmt = rename(stmt);
  }
}

std::optional<Function> Fusion::Run() {
  const auto* seq = f_.body.As<graph::SeqNode>();
  if (!seq || !AddParams()) return std::nullopt;
  for (const graph::BindingBlock& block : seq->blocks) {
    for (const graph::Binding& binding : block.bindings) {
      auto value = ValueOf(binding.value);
      if (!value) return std::nullopt;
      values_[binding.var.get()] = *std::move(value);
    }
  }
  out_.params.insert(out_.params.end(), numbers_.begin(), numbers_.end());
  if (stmts_.empty() || !AddOutputs(seq->result)) return std::nullopt;
  NameBlocksApart();
  out_.name = f_.name;
  out_.is_private = true;
  out_.attrs["tir.noalias"] = Bool(true);
  const BlockId root = out_.NewId();
  out_.body = MakeRoot(root, std::move(intermediates_), MakeSeq(stmts_));
  return std::move(out_);
}

}  // namespace

std::optional<Function> FusedFunction(const graph::FunctionNode& f,
                                      const Module& module) {
  return Fusion(f, module).Run();
}

}  // namespace kiln
