// Graph functions are written as tensor functions are (canonical.cc): variables
// are the numbers of their first appearance, and their names do not count.
// Names of functions, ops and packed functions do, as do the bytes of
// constants, by their digest.
#include "kiln/ir/tensor/canonical_writer.h"

namespace kiln {

void CanonicalWriter::Write(const graph::ConstantNode& constant) {
  Type(constant.dtype);
  Number(static_cast<int64_t>(constant.shape.size()));
  for (const int64_t extent : constant.shape) Number(extent);
  Number(constant.index);
  if (!constant.is_known()) return;
  const auto& digest = constant.data->digest();
  Text(std::string_view(reinterpret_cast<const char*>(digest.data()),
                        digest.size()));
}

void CanonicalWriter::Write(const graph::CallNode& call) {
  Write(call.callee);
  WriteList(call.args);
  Write(call.attrs);
  WriteList(call.infos);
}

void CanonicalWriter::Write(const graph::BindingBlock& block) {
  Byte(block.is_dataflow);
  Number(static_cast<int64_t>(block.bindings.size()));
  for (const graph::Binding& binding : block.bindings) {
    Write(binding.var);
    Write(binding.value);
  }
}

void CanonicalWriter::Write(const graph::SeqNode& seq) {
  WriteList(seq.blocks);
  Write(seq.result);
}

void CanonicalWriter::Write(const graph::FunctionNode& f) {
  WriteList(f.params);
  Write(f.result);
  Write(f.attrs);
  Byte(f.is_private);
  Byte(f.is_pure);
  WriteOptional(f.body);
}

void CanonicalWriter::Write(const graph::Expr& e) {
  using graph::GraphKind;
  Byte(static_cast<uint8_t>(e.kind()));
  switch (e.kind()) {
    case GraphKind::kVar: {
      const auto* var = e.As<graph::VarNode>();
      const auto [entry, is_new] = numbers_.emplace(var, numbers_.size());
      Number(entry->second);
      if (!is_new) return;
      Byte(var->is_dataflow);
      return Write(var->info);
    }
    case GraphKind::kGlobalVar:
      return Text(e.As<graph::GlobalVarNode>()->name);
    case GraphKind::kExtern:
      return Text(e.As<graph::ExternNode>()->name);
    case GraphKind::kOp:
      return Text(e.As<graph::OpNode>()->name);
    case GraphKind::kString:
      return Text(e.As<graph::StringNode>()->name);
    case GraphKind::kConstant:
      return Write(*e.As<graph::ConstantNode>());
    case GraphKind::kPrim:
      return Write(e.As<graph::PrimNode>()->value);
    case GraphKind::kDataType:
      return Type(e.As<graph::DataTypeNode>()->dtype);
    case GraphKind::kShape:
      return WriteList(e.As<graph::ShapeNode>()->values);
    case GraphKind::kTuple:
      return WriteList(e.As<graph::TupleNode>()->fields);
    case GraphKind::kTupleItem:
      Number(e.As<graph::TupleItemNode>()->index);
      return Write(e.As<graph::TupleItemNode>()->tuple);
    case GraphKind::kCall:
      return Write(*e.As<graph::CallNode>());
    case GraphKind::kMatchCast:
      Write(e.As<graph::MatchCastNode>()->value);
      return Write(e.As<graph::MatchCastNode>()->info);
    case GraphKind::kIf:
      Write(e.As<graph::IfNode>()->condition);
      Write(e.As<graph::IfNode>()->then_body);
      return Write(e.As<graph::IfNode>()->else_body);
    case GraphKind::kSeq:
      return Write(*e.As<graph::SeqNode>());
    case GraphKind::kFunction:
      return Write(*e.As<graph::FunctionNode>());
  }
}

void CanonicalWriter::Write(const graph::StructInfo& info) {
  using graph::InfoKind;
  Byte(static_cast<bool>(info));
  if (!info) return;
  Byte(static_cast<uint8_t>(info.kind()));
  switch (info.kind()) {
    case InfoKind::kObject:
      return;
    case InfoKind::kPrim:
      Type(info.As<graph::PrimInfo>()->dtype);
      return WriteOptional(info.As<graph::PrimInfo>()->value);
    case InfoKind::kShape: {
      const auto* shape = info.As<graph::ShapeInfo>();
      Number(shape->rank);
      Byte(shape->values.has_value());
      if (shape->values) WriteList(*shape->values);
      return;
    }
    case InfoKind::kTensor: {
      const auto* tensor = info.As<graph::TensorInfo>();
      WriteOptional(tensor->shape);
      Number(tensor->rank);
      Type(tensor->dtype);
      return Text(tensor->device);
    }
    case InfoKind::kTuple:
      return WriteList(info.As<graph::TupleInfo>()->fields);
    case InfoKind::kFunction: {
      const auto* function = info.As<graph::FunctionInfo>();
      Byte(function->params.has_value());
      if (function->params) WriteList(*function->params);
      Write(function->result);
      Byte(function->is_pure);
      return;
    }
  }
}

}  // namespace kiln
