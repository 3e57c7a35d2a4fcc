// A call prints its arguments by position and its attributes by name, in the
// order of the op's signature, and after them those that it does not know:
//
//   R.nn.softmax(x, axis=1)
//   R.call_tir(cls.linear0, (x, w), out_sinfo=R.Tensor((1, 128), "float32"))
//
// A tensor of a few elements is written out: R.const([1, 2], "int64"). Of a
// larger one the text has a place only, metadata["relax.expr.Constant"][0].
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/signature.h"
#include "kiln/ir/text/printer/graph_printer.h"
#include "kiln/ir/text/printer/literals.h"

namespace kiln::script {

std::string GraphPrinter::Fields(const std::vector<graph::Expr>& fields) {
  if (fields.empty()) return "R.tuple()";
  std::vector<std::string> texts;
  for (const graph::Expr& field : fields) texts.push_back(Print(field));
  return absl::StrCat("(", absl::StrJoin(texts, ", "),
                      texts.size() == 1 ? ",)" : ")");
}

std::string GraphPrinter::Number(const kiln::Expr& value) {
  const std::string text = out_.exprs().Print(value);
  return newest_ ? text : absl::StrCat("R.prim_value(", text, ")");
}

// The elements from `at` on, as lists of lists of numbers without types.
std::string GraphPrinter::Elements(const graph::ConstantNode& constant,
                                   size_t dimension, int64_t& at) {
  if (dimension == constant.shape.size()) {
    const kiln::Expr element = graph::ElementOf(constant, at++);
    const auto* real = element.As<FloatImmNode>();
    if (real) {
      const std::string text = FloatText(real->value, /*point=*/true);
      return text[0] == '"' ? FloatConstant(real->value, real->dtype, true)
                            : text;
    }
    if (element.dtype().is_bool()) return IsOne(element) ? "True" : "False";
    const int64_t value = *AsInt(element);
    return element.dtype().is_uint()
               ? absl::StrCat(static_cast<uint64_t>(value))
               : absl::StrCat(value);
  }
  std::vector<std::string> items;
  for (int64_t i = 0; i < constant.shape[dimension]; ++i) {
    items.push_back(Elements(constant, dimension + 1, at));
  }
  return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
}

std::string GraphPrinter::Constant(const graph::ConstantNode& constant) {
  const std::string place = newest_ ? "metadata[\"ir.GenericConst\"]["
                                    : "metadata[\"relax.expr.Constant\"][";
  if (!constant.is_known()) return absl::StrCat(place, constant.index, "]");
  const int64_t count = graph::CountElements(constant.shape);
  // An empty list does not say its other extents.
  const bool is_written = count <= options_.max_constant_elements &&
                          (count > 0 || constant.shape.size() == 1);
  if (is_written) {
    int64_t at = 0;
    return absl::StrCat("R.const(", Elements(constant, 0, at), ", ",
                        Quoted(constant.dtype.ToString()), ")");
  }
  has_omitted_ = true;
  const auto& digest = constant.data->digest();
  const std::string key = absl::StrCat(
      constant.dtype.ToString(), absl::StrJoin(constant.shape, ","), ":",
      absl::string_view(reinterpret_cast<const char*>(digest.data()),
                        digest.size()));
  const auto [found, is_new] = omitted_.emplace(key, next_omitted_);
  if (is_new) ++next_omitted_;
  return absl::StrCat(place, found->second, "]");
}

std::string GraphPrinter::Attribute(const Attr& attr) {
  const AttrMap* map = attr.map();
  if (!map || !map->count("inputs") || !map->count("outputs")) {
    return out_.exprs().Attribute(attr);
  }
  const AttrList* inputs = map->at("inputs").list();
  const AttrList* outputs = map->at("outputs").list();
  if (!inputs || !outputs || map->size() != 2) {
    return out_.exprs().Attribute(attr);
  }
  NamesScope scope(out_.names());
  std::vector<std::string> names, indices;
  for (const Attr& input : *inputs) {
    names.push_back(
        out_.names().Define(kiln::Var(input.expr()->As<VarNode>())));
  }
  for (const Attr& output : *outputs) {
    indices.push_back(out_.exprs().Print(*output.expr()));
  }
  return absl::StrCat("T.index_map(lambda ", absl::StrJoin(names, ", "), ": (",
                      absl::StrJoin(indices, ", "),
                      indices.size() == 1 ? ",))" : "))");
}

void GraphPrinter::Attributes(const graph::CallNode& call,
                              std::vector<std::string>& args) {
  const auto* op = call.callee.As<graph::OpNode>();
  const auto* signature = op ? graph::FindSignature(op->name) : nullptr;
  const auto print = [&](const std::string& name, const Attr& value) {
    args.push_back(absl::StrCat(name, "=", Attribute(value)));
  };
  if (signature) {
    for (const graph::AttributeSignature& attr : signature->attrs) {
      const auto found = call.attrs.find(attr.name);
      if (found != call.attrs.end()) print(attr.name, found->second);
    }
  }
  for (const auto& [name, value] : call.attrs) {
    if (!signature || !signature->FindAttribute(name)) print(name, value);
  }
}

// out_sinfo of what is written, sinfo_args of what is given back.
std::string GraphPrinter::InfoKeyword(const graph::CallNode& call) {
  std::vector<std::string> infos;
  for (const graph::StructInfo& info : call.infos) infos.push_back(Print(info));
  const bool is_written =
      call.IsOp("call_tir") || call.IsOp("call_tir_inplace") ||
      call.IsOp("call_tir_with_grad") || call.IsOp("call_dps_packed");
  if (!is_written) {
    return absl::StrCat(newest_ ? "ty_args=(" : "sinfo_args=(",
                        absl::StrJoin(infos, ", "),
                        infos.size() == 1 ? ",)" : ")");
  }
  const std::string name = newest_ ? "out_ty=" : "out_sinfo=";
  if (infos.size() == 1) return absl::StrCat(name, infos[0]);
  return absl::StrCat(name, "[", absl::StrJoin(infos, ", "), "]");
}

std::string GraphPrinter::Call(const graph::CallNode& call) {
  std::vector<std::string> args;
  std::string callee;
  if (const auto* op = call.callee.As<graph::OpNode>()) {
    callee = absl::StrCat("R.", op->name);
  } else if (const auto* packed = call.callee.As<graph::ExternNode>()) {
    callee = "R.call_packed";
    args.push_back(Quoted(packed->name));
  } else {
    callee = Print(call.callee);
  }
  const auto* op = call.callee.As<graph::OpNode>();
  const bool has_scalars =
      op && op->name.rfind("call_tir", 0) == 0 && call.args.size() == 3;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (has_scalars && i == 2) continue;
    args.push_back(Print(call.args[i]));
  }
  if (!call.infos.empty()) args.push_back(InfoKeyword(call));
  if (has_scalars) {
    args.push_back(absl::StrCat("tir_vars=", Print(call.args[2])));
  }
  Attributes(call, args);
  return absl::StrCat(callee, "(", absl::StrJoin(args, ", "), ")");
}

std::string GraphPrinter::Print(const graph::Expr& e) {
  using graph::GraphKind;
  switch (e.kind()) {
    case GraphKind::kVar:
      return NameOf(e.As<graph::VarNode>());
    case GraphKind::kGlobalVar:
      return absl::StrCat("cls.", e.As<graph::GlobalVarNode>()->name);
    case GraphKind::kExtern:
      return Quoted(e.As<graph::ExternNode>()->name);
    case GraphKind::kOp:
      return absl::StrCat("R.", e.As<graph::OpNode>()->name);
    case GraphKind::kConstant:
      return Constant(*e.As<graph::ConstantNode>());
    case GraphKind::kPrim:
      return Number(e.As<graph::PrimNode>()->value);
    case GraphKind::kString:
      return absl::StrCat("R.str(", Quoted(e.As<graph::StringNode>()->name),
                          ")");
    case GraphKind::kDataType:
      return absl::StrCat("R.dtype(",
                          Quoted(e.As<graph::DataTypeNode>()->dtype.ToString()),
                          ")");
    case GraphKind::kShape:
      return absl::StrCat(
          "R.shape(", Extents(e.As<graph::ShapeNode>()->values, '[', ']'), ")");
    case GraphKind::kTuple:
      return Fields(e.As<graph::TupleNode>()->fields);
    case GraphKind::kTupleItem: {
      const auto& item = *e.As<graph::TupleItemNode>();
      return absl::StrCat(Print(item.tuple), "[", item.index, "]");
    }
    case GraphKind::kCall:
      return Call(*e.As<graph::CallNode>());
    case GraphKind::kMatchCast: {
      const auto& cast = *e.As<graph::MatchCastNode>();
      return absl::StrCat("R.match_cast(", Print(cast.value), ", ",
                          Print(cast.info), ")");
    }
    // Statements, which only bindings hold.
    case GraphKind::kIf:
      return "<if>";
    case GraphKind::kSeq:
      return "<sequence>";
    case GraphKind::kFunction:
      return absl::StrCat("<function ", e.As<graph::FunctionNode>()->name, ">");
  }
  return "";
}

}  // namespace kiln::script
