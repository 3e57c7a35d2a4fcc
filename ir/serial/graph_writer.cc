// As for tensor functions (writer.cc), a node is written behind all that it
// refers to, and once. Expressions and struct info refer to each other, hence
// one table for both; shapes and numbers are nodes of the tensor level in a
// table of their own. y = R.nn.relu(x), with x of (n, 4), becomes
//
//   nodes        1: Var n   2: IntImm 4
//   graph nodes  1: Shape [1, 2]       2: TensorInfo float32, parts [1]
//                3: Var x, info 2      4: Op nn.relu    5: Call [4, 3]
//                6: Var y              7: Seq, blocks [{vars [6], values [5]}]
#include <unordered_map>
#include <utility>

#include "kiln/ir/serial/graph.h"
#include "kiln/ir/serial/writer.h"

namespace kiln::serial_internal {

using graph::GraphKind;
using graph::InfoKind;

const char* NameOf(GraphKind kind) {
  switch (kind) {
    case GraphKind::kVar:
      return "Var";
    case GraphKind::kGlobalVar:
      return "GlobalVar";
    case GraphKind::kExtern:
      return "Extern";
    case GraphKind::kOp:
      return "Op";
    case GraphKind::kConstant:
      return "Constant";
    case GraphKind::kPrim:
      return "Prim";
    case GraphKind::kString:
      return "String";
    case GraphKind::kDataType:
      return "DataType";
    case GraphKind::kShape:
      return "Shape";
    case GraphKind::kTuple:
      return "Tuple";
    case GraphKind::kTupleItem:
      return "TupleItem";
    case GraphKind::kCall:
      return "Call";
    case GraphKind::kMatchCast:
      return "MatchCast";
    case GraphKind::kIf:
      return "If";
    case GraphKind::kSeq:
      return "Seq";
    case GraphKind::kFunction:
      return "Function";
  }
  return "";
}

const char* NameOf(InfoKind kind) {
  switch (kind) {
    case InfoKind::kObject:
      return "ObjectInfo";
    case InfoKind::kPrim:
      return "PrimInfo";
    case InfoKind::kShape:
      return "ShapeInfo";
    case InfoKind::kTensor:
      return "TensorInfo";
    case InfoKind::kTuple:
      return "TupleInfo";
    case InfoKind::kFunction:
      return "FunctionInfo";
  }
  return "";
}

namespace {

class GraphWriter {
 public:
  explicit GraphWriter(proto::GraphFunction* out)
      : out_(out), scalars_(out->mutable_nodes()) {}

  uint32_t Ref(const graph::Expr& e);
  uint32_t Ref(const graph::StructInfo& info);

 private:
  using Refs = google::protobuf::RepeatedField<uint32_t>;

  void Write(const graph::Expr& e, proto::GraphNode* out);
  void Write(const graph::CallNode& call, proto::GraphNode* out);
  void Write(const graph::SeqNode& seq, proto::GraphNode* out);
  void Write(const graph::FunctionNode& f, proto::GraphNode* out);
  void Write(const graph::ConstantNode& constant, proto::GraphNode* out);
  void Write(const graph::StructInfo& info, proto::GraphNode* out);
  void Scalars(const std::vector<kiln::Expr>& list, proto::GraphNode* out) {
    for (const kiln::Expr& e : list) out->add_scalars(scalars_.Ref(e));
  }
  template <typename T>
  void AddRefs(const std::vector<T>& list, Refs* out) {
    for (const T& element : list) out->Add(Ref(element));
  }
  uint32_t Append(const void* key, proto::GraphNode node) {
    *out_->add_graph_nodes() = std::move(node);
    const auto ref = static_cast<uint32_t>(out_->graph_nodes_size());
    refs_[key] = ref;
    return ref;
  }

  proto::GraphFunction* out_;
  Writer scalars_;
  std::unordered_map<const void*, uint32_t> refs_;
};

uint32_t GraphWriter::Ref(const graph::Expr& e) {
  if (!e) return 0;
  const auto found = refs_.find(e.get());
  if (found != refs_.end()) return found->second;
  proto::GraphNode node;
  node.set_kind(NameOf(e.kind()));
  Write(e, &node);
  return Append(e.get(), std::move(node));
}

uint32_t GraphWriter::Ref(const graph::StructInfo& info) {
  if (!info) return 0;
  const auto found = refs_.find(info.get());
  if (found != refs_.end()) return found->second;
  proto::GraphNode node;
  node.set_kind(NameOf(info.kind()));
  Write(info, &node);
  return Append(info.get(), std::move(node));
}

void GraphWriter::Write(const graph::CallNode& call, proto::GraphNode* out) {
  out->add_parts(Ref(call.callee));
  AddRefs(call.args, out->mutable_parts());
  AddRefs(call.infos, out->mutable_infos());
  scalars_.Write(call.attrs, out->mutable_attrs());
}

void GraphWriter::Write(const graph::SeqNode& seq, proto::GraphNode* out) {
  for (const graph::BindingBlock& block : seq.blocks) {
    proto::GraphBlock* message = out->add_blocks();
    message->set_is_dataflow(block.is_dataflow);
    for (const graph::Binding& binding : block.bindings) {
      message->add_vars(Ref(binding.var));
      message->add_values(Ref(binding.value));
    }
  }
  out->add_parts(Ref(seq.result));
}

void GraphWriter::Write(const graph::FunctionNode& f, proto::GraphNode* out) {
  out->set_name(f.name);
  for (const graph::Var& param : f.params) out->add_parts(Ref(param));
  out->add_parts(Ref(f.body));
  out->set_info(Ref(f.result));
  scalars_.Write(f.attrs, out->mutable_attrs());
  out->set_is_private(f.is_private);
  out->set_is_pure(f.is_pure);
}

void GraphWriter::Write(const graph::ConstantNode& constant,
                        proto::GraphNode* out) {
  out->set_number(constant.index);
  out->set_is_known(constant.is_known());
  if (!constant.is_known()) return;
  out->set_dtype(constant.dtype.ToString());
  for (const int64_t extent : constant.shape) out->add_extents(extent);
  out->set_data(std::string(constant.data->bytes()));
}

void GraphWriter::Write(const graph::Expr& e, proto::GraphNode* out) {
  switch (e.kind()) {
    case GraphKind::kVar:
      out->set_name(e.As<graph::VarNode>()->name);
      out->set_info(Ref(e.As<graph::VarNode>()->info));
      return out->set_is_dataflow(e.As<graph::VarNode>()->is_dataflow);
    case GraphKind::kGlobalVar:
      return out->set_name(e.As<graph::GlobalVarNode>()->name);
    case GraphKind::kExtern:
      return out->set_name(e.As<graph::ExternNode>()->name);
    case GraphKind::kOp:
      return out->set_name(e.As<graph::OpNode>()->name);
    case GraphKind::kString:
      return out->set_name(e.As<graph::StringNode>()->name);
    case GraphKind::kConstant:
      return Write(*e.As<graph::ConstantNode>(), out);
    case GraphKind::kPrim:
      return out->add_scalars(scalars_.Ref(e.As<graph::PrimNode>()->value));
    case GraphKind::kDataType:
      return out->set_dtype(e.As<graph::DataTypeNode>()->dtype.ToString());
    case GraphKind::kShape:
      return Scalars(e.As<graph::ShapeNode>()->values, out);
    case GraphKind::kTuple:
      return AddRefs(e.As<graph::TupleNode>()->fields, out->mutable_parts());
    case GraphKind::kTupleItem:
      out->add_parts(Ref(e.As<graph::TupleItemNode>()->tuple));
      return out->set_number(e.As<graph::TupleItemNode>()->index);
    case GraphKind::kCall:
      return Write(*e.As<graph::CallNode>(), out);
    case GraphKind::kMatchCast:
      out->add_parts(Ref(e.As<graph::MatchCastNode>()->value));
      return out->set_info(Ref(e.As<graph::MatchCastNode>()->info));
    case GraphKind::kIf:
      out->add_parts(Ref(e.As<graph::IfNode>()->condition));
      out->add_parts(Ref(e.As<graph::IfNode>()->then_body));
      return out->add_parts(Ref(e.As<graph::IfNode>()->else_body));
    case GraphKind::kSeq:
      return Write(*e.As<graph::SeqNode>(), out);
    case GraphKind::kFunction:
      return Write(*e.As<graph::FunctionNode>(), out);
  }
}

void GraphWriter::Write(const graph::StructInfo& info, proto::GraphNode* out) {
  switch (info.kind()) {
    case InfoKind::kObject:
      return;
    case InfoKind::kPrim:
      out->set_dtype(info.As<graph::PrimInfo>()->dtype.ToString());
      return out->add_scalars(scalars_.Ref(info.As<graph::PrimInfo>()->value));
    case InfoKind::kShape: {
      const auto* shape = info.As<graph::ShapeInfo>();
      out->set_number(shape->rank);
      out->set_is_known(shape->values.has_value());
      if (shape->values) Scalars(*shape->values, out);
      return;
    }
    case InfoKind::kTensor: {
      const auto* tensor = info.As<graph::TensorInfo>();
      out->add_parts(Ref(tensor->shape));
      out->set_number(tensor->rank);
      if (!tensor->dtype.is_void()) out->set_dtype(tensor->dtype.ToString());
      return out->set_name(tensor->device);
    }
    case InfoKind::kTuple:
      return AddRefs(info.As<graph::TupleInfo>()->fields, out->mutable_infos());
    case InfoKind::kFunction: {
      const auto* function = info.As<graph::FunctionInfo>();
      out->set_is_known(function->params.has_value());
      if (function->params) AddRefs(*function->params, out->mutable_infos());
      out->set_info(Ref(function->result));
      return out->set_is_pure(function->is_pure);
    }
  }
}

}  // namespace

void WriteGraph(const graph::GraphFunction& f, proto::GraphFunction* out) {
  GraphWriter writer(out);
  out->set_name(f->name);
  out->set_root(writer.Ref(f));
  out->set_node_count(static_cast<uint32_t>(out->nodes_size()));
  out->set_graph_node_count(static_cast<uint32_t>(out->graph_nodes_size()));
}

}  // namespace kiln::serial_internal
