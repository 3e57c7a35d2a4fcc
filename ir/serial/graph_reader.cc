// The table is read from its beginning, as that of a tensor function
// (expr_reader.cc), with the same bounds on depth and on the size of the tree
// that a node stands for. A reference has to be to an earlier node of the sort
// that its place wants:
//
//   3: Var x, info 2            2 has to be struct info
//   5: Call, parts [4, 3]       the callee and the arguments, expressions
//   7: Seq, blocks, parts [6]   as many values as variables; a result
//
// Names that text shows as they stand have to be identifiers.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/serial/graph.h"
#include "kiln/ir/serial/reader.h"
#include "kiln/ir/serial/serial.h"

namespace kiln::serial_internal {
namespace {

using graph::GraphKind;
using graph::InfoKind;

template <typename Kind, Kind last>
const Kind* FindByName(const std::string& name) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string, Kind>;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      const auto kind = static_cast<Kind>(i);
      map->emplace(NameOf(kind), kind);
    }
    return map;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

// nn.conv2d: identifiers between dots.
bool IsDotted(std::string_view name) {
  char before = '.';
  for (const char c : name) {
    const bool is_letter = absl::ascii_isalnum(c) || c == '_';
    if (!is_letter && c != '.') return false;
    if (before == '.' && (c == '.' || absl::ascii_isdigit(c))) return false;
    before = c;
  }
  return before != '.';
}

class GraphTable {
 public:
  explicit GraphTable(const std::string& name)
      : where_(absl::StrCat("function \"", name, "\"")), scalars_(where_) {}

  absl::StatusOr<graph::GraphFunction> Read(
      const proto::GraphFunction& message);

 private:
  struct Entry {
    graph::Expr expr;
    graph::StructInfo info;
    int depth = 1;
    int64_t tree_size = 1;
  };

  void Fail(std::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(
        where_, ": graph node ", entries_.size() + 1, ": ", std::string(what)));
  }
  const Entry* Use(uint32_t ref);
  graph::Expr Get(uint32_t ref, bool optional = false);
  graph::Var GetVar(uint32_t ref);
  graph::Expr GetSeq(uint32_t ref);
  graph::StructInfo GetInfo(uint32_t ref, bool optional);
  std::vector<graph::StructInfo> Infos(const proto::GraphNode& node);
  std::vector<kiln::Expr> Scalars(const proto::GraphNode& node);
  DType Type(const std::string& name, bool optional);
  bool HasParts(const proto::GraphNode& node, int count);
  std::string Dotted(const std::string& name);

  graph::Expr ReadExpr(GraphKind kind, const proto::GraphNode& node);
  graph::StructInfo ReadInfo(InfoKind kind, const proto::GraphNode& node);
  graph::Expr Constant(const proto::GraphNode& node);
  graph::Expr Call(const proto::GraphNode& node);
  graph::Expr Seq(const proto::GraphNode& node);
  graph::Expr Function(const proto::GraphNode& node);

  std::string where_;
  absl::Status status_;
  Reader scalars_;
  std::vector<Entry> entries_;
  Entry current_;
};

const GraphTable::Entry* GraphTable::Use(uint32_t ref) {
  if (!status_.ok()) return nullptr;
  if (ref == 0 || ref > entries_.size()) {
    Fail(absl::StrCat("refers to graph node ", ref,
                      ", which is no earlier one"));
    return nullptr;
  }
  const Entry& entry = entries_[ref - 1];
  current_.depth = std::max(current_.depth, entry.depth + 1);
  current_.tree_size += entry.tree_size;
  if (current_.depth > kMaxDepth) Fail("nests too deeply");
  if (current_.tree_size > kMaxTreeSize) Fail("stands for too large a tree");
  return &entry;
}

graph::Expr GraphTable::Get(uint32_t ref, bool optional) {
  if (ref == 0 && optional) return {};
  const Entry* entry = Use(ref);
  if (entry && !entry->expr) Fail("wants an expression, not struct info");
  return entry ? entry->expr : graph::Expr();
}

graph::Var GraphTable::GetVar(uint32_t ref) {
  const graph::Expr e = Get(ref);
  if (status_.ok() && e.kind() != GraphKind::kVar) Fail("wants a variable");
  return status_.ok() ? graph::Var(e.As<graph::VarNode>()) : graph::Var();
}

graph::Expr GraphTable::GetSeq(uint32_t ref) {
  graph::Expr e = Get(ref);
  if (status_.ok() && e.kind() != GraphKind::kSeq) Fail("wants a sequence");
  return e;
}

graph::StructInfo GraphTable::GetInfo(uint32_t ref, bool optional) {
  if (ref == 0 && optional) return {};
  const Entry* entry = Use(ref);
  if (entry && !entry->info) Fail("wants struct info, not an expression");
  return entry ? entry->info : graph::StructInfo();
}

std::vector<graph::StructInfo> GraphTable::Infos(const proto::GraphNode& node) {
  std::vector<graph::StructInfo> infos;
  for (const uint32_t ref : node.infos()) {
    infos.push_back(GetInfo(ref, /*optional=*/false));
  }
  return infos;
}

std::vector<kiln::Expr> GraphTable::Scalars(const proto::GraphNode& node) {
  std::vector<kiln::Expr> list;
  for (const uint32_t ref : node.scalars()) {
    list.push_back(scalars_.GetExpr(ref));
    if (scalars_.ok() && list.back().dtype() != DType::Index()) {
      Fail("an extent is an int64");
    }
  }
  return list;
}

DType GraphTable::Type(const std::string& name, bool optional) {
  if (name.empty() && optional) return DType::Void();
  const std::optional<DType> dtype = DType::FromString(name);
  if (dtype) return *dtype;
  Fail(absl::StrCat("there is no element type \"", name, "\""));
  return DType::Void();
}

bool GraphTable::HasParts(const proto::GraphNode& node, int count) {
  if (node.parts_size() == count) return true;
  Fail(absl::StrCat("has ", node.parts_size(), " parts instead of ", count));
  return false;
}

std::string GraphTable::Dotted(const std::string& name) {
  if (!IsDotted(name)) Fail("has a name that text could not show");
  return name;
}

graph::Expr GraphTable::Constant(const proto::GraphNode& node) {
  if (!node.is_known()) {
    if (node.number() < 0) Fail("a constant has bytes or an index");
    return graph::Expr(new graph::ConstantNode(node.number()));
  }
  const DType dtype = Type(node.dtype(), /*optional=*/false);
  const std::vector<int64_t> shape(node.extents().begin(),
                                   node.extents().end());
  int64_t bytes = dtype.bytes();
  bool fits = dtype.is_scalar() && bytes > 0 && !dtype.is_handle();
  for (const int64_t extent : shape) {
    fits =
        fits && extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (!fits || bytes != static_cast<int64_t>(node.data().size())) {
    Fail("has other bytes than its shape says");
    return {};
  }
  absl::StatusOr<Blob> data = Blob::Copy(node.data());
  if (!data.ok()) {
    Fail(std::string(data.status().message()));
    return {};
  }
  return graph::Expr(new graph::ConstantNode(dtype, shape, *std::move(data)));
}

graph::Expr GraphTable::Call(const proto::GraphNode& node) {
  if (node.parts_size() == 0) {
    Fail("a call has a callee");
    return {};
  }
  std::vector<graph::Expr> args;
  graph::Expr callee = Get(node.parts(0));
  for (int i = 1; i < node.parts_size(); ++i)
    args.push_back(Get(node.parts(i)));
  AttrMap attrs = scalars_.GetAttrs(node.attrs());
  for (const auto& [name, value] : attrs) {
    if (!IsDotted(name) || name.find('.') != name.npos) {
      Fail("has an attribute that text could not show");
    }
  }
  return graph::Expr(new graph::CallNode(std::move(callee), std::move(args),
                                         std::move(attrs), Infos(node)));
}

graph::Expr GraphTable::Seq(const proto::GraphNode& node) {
  std::vector<graph::BindingBlock> blocks;
  for (const proto::GraphBlock& message : node.blocks()) {
    if (message.vars_size() != message.values_size()) {
      Fail("has other variables than values");
      return {};
    }
    graph::BindingBlock& block = blocks.emplace_back();
    block.is_dataflow = message.is_dataflow();
    for (int i = 0; i < message.vars_size(); ++i) {
      graph::Var var = GetVar(message.vars(i));
      block.bindings.push_back({std::move(var), Get(message.values(i))});
    }
  }
  if (!HasParts(node, 1)) return {};
  return graph::Seq(std::move(blocks), Get(node.parts(0)));
}

graph::Expr GraphTable::Function(const proto::GraphNode& node) {
  graph::FunctionFields fields;
  fields.name = Dotted(node.name());
  if (fields.name.find('.') != fields.name.npos) Fail("a name has no dots");
  if (node.parts_size() == 0) {
    Fail("a function has a body");
    return {};
  }
  for (int i = 0; i + 1 < node.parts_size(); ++i) {
    fields.params.push_back(GetVar(node.parts(i)));
  }
  fields.body = GetSeq(node.parts(node.parts_size() - 1));
  fields.result = GetInfo(node.info(), /*optional=*/true);
  fields.attrs = scalars_.GetAttrs(node.attrs());
  fields.is_private = node.is_private();
  fields.is_pure = node.is_pure();
  return graph::GraphFunction(std::move(fields));
}

graph::Expr GraphTable::ReadExpr(GraphKind kind, const proto::GraphNode& node) {
  switch (kind) {
    case GraphKind::kVar:
      return graph::Var(node.name(), GetInfo(node.info(), /*optional=*/true),
                        node.is_dataflow());
    case GraphKind::kGlobalVar:
      return graph::Global(Dotted(node.name()));
    case GraphKind::kExtern:
      return graph::Extern(node.name());
    case GraphKind::kOp:
      return graph::Op(Dotted(node.name()));
    case GraphKind::kString:
      return graph::Text(node.name());
    case GraphKind::kConstant:
      return Constant(node);
    case GraphKind::kPrim:
      if (node.scalars_size() != 1) Fail("a number is one");
      return graph::Number(
          scalars_.GetExpr(node.scalars_size() == 1 ? node.scalars(0) : 0));
    case GraphKind::kDataType:
      return graph::Expr(
          new graph::DataTypeNode(Type(node.dtype(), /*optional=*/false)));
    case GraphKind::kShape:
      return graph::ShapeOf(Scalars(node));
    case GraphKind::kTuple: {
      std::vector<graph::Expr> fields;
      for (const uint32_t ref : node.parts()) fields.push_back(Get(ref));
      return graph::TupleOf(std::move(fields));
    }
    case GraphKind::kTupleItem:
      if (node.number() < 0 || node.number() > 1000000) {
        Fail("has no index of a field");
      }
      return HasParts(node, 1) ? graph::Item(Get(node.parts(0)),
                                             static_cast<int>(node.number()))
                               : graph::Expr();
    case GraphKind::kCall:
      return Call(node);
    case GraphKind::kMatchCast: {
      if (!HasParts(node, 1)) return {};
      graph::Expr value = Get(node.parts(0));
      return graph::Expr(new graph::MatchCastNode(
          std::move(value), GetInfo(node.info(), /*optional=*/false)));
    }
    case GraphKind::kIf: {
      if (!HasParts(node, 3)) return {};
      graph::Expr condition = Get(node.parts(0));
      graph::Expr then_body = GetSeq(node.parts(1));
      return graph::Expr(new graph::IfNode(
          std::move(condition), std::move(then_body), GetSeq(node.parts(2))));
    }
    case GraphKind::kSeq:
      return Seq(node);
    case GraphKind::kFunction:
      return Function(node);
  }
  return {};
}

graph::StructInfo GraphTable::ReadInfo(InfoKind kind,
                                       const proto::GraphNode& node) {
  const auto rank = static_cast<int>(
      std::clamp<int64_t>(node.number(), graph::kUnknownRank, 1000));
  switch (kind) {
    case InfoKind::kObject:
      return graph::Object();
    case InfoKind::kPrim: {
      const uint32_t ref = node.scalars_size() == 1 ? node.scalars(0) : 0;
      return graph::Prim(Type(node.dtype(), /*optional=*/false),
                         scalars_.GetExpr(ref, /*optional=*/true));
    }
    case InfoKind::kShape:
      return node.is_known() ? graph::Shape(Scalars(node))
                             : graph::ShapeOfRank(rank);
    case InfoKind::kTensor: {
      if (!HasParts(node, 1)) return {};
      graph::Expr shape = Get(node.parts(0), /*optional=*/true);
      const auto* known = shape.As<graph::ShapeNode>();
      if (shape && !known && !shape.As<graph::VarNode>()) {
        Fail("a shape is extents or a variable");
      }
      const int extents = known ? static_cast<int>(known->values.size()) : rank;
      return graph::StructInfo(new graph::TensorInfo(
          std::move(shape), extents, Type(node.dtype(), /*optional=*/true),
          node.name()));
    }
    case InfoKind::kTuple:
      return graph::Tuple(Infos(node));
    case InfoKind::kFunction: {
      std::optional<std::vector<graph::StructInfo>> params;
      if (node.is_known()) params = Infos(node);
      return graph::Callable(std::move(params),
                             GetInfo(node.info(), /*optional=*/false),
                             node.is_pure());
    }
  }
  return {};
}

absl::StatusOr<graph::GraphFunction> GraphTable::Read(
    const proto::GraphFunction& message) {
  if (static_cast<int64_t>(message.node_count()) != message.nodes_size() ||
      static_cast<int64_t>(message.graph_node_count()) !=
          message.graph_nodes_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where_, ": holds other nodes than it says; the message is cut off"));
  }
  scalars_.ReadTable(message.nodes());
  for (const proto::GraphNode& node : message.graph_nodes()) {
    current_ = Entry();
    const auto* kind = FindByName<GraphKind, GraphKind::kFunction>(node.kind());
    const auto* info = FindByName<InfoKind, InfoKind::kFunction>(node.kind());
    if (kind) current_.expr = ReadExpr(*kind, node);
    if (info) current_.info = ReadInfo(*info, node);
    if (!kind && !info) {
      Fail(absl::StrCat("there is no kind \"", node.kind(), "\""));
    }
    KILN_RETURN_IF_ERROR(scalars_.status());
    KILN_RETURN_IF_ERROR(status_);
    entries_.push_back(std::move(current_));
  }
  const graph::Expr root = Get(message.root());
  KILN_RETURN_IF_ERROR(status_);
  const auto* function = root.As<graph::FunctionNode>();
  if (!function || function->name != message.name()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where_, ": its root is no function of this name"));
  }
  return graph::GraphFunction(function);
}

}  // namespace

absl::StatusOr<graph::GraphFunction> ReadGraph(
    const proto::GraphFunction& message) {
  return GraphTable(message.name()).Read(message);
}

}  // namespace kiln::serial_internal
