#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/text/printer/graph_printer.h"
#include "kiln/ir/text/printer/literals.h"

namespace kiln::script {

// In the signature of the classic spelling a dimension stands in quotes, since
// the body, which declares it, comes later.
std::string GraphPrinter::Extents(const std::vector<kiln::Expr>& extents,
                                  char open, char close) {
  std::vector<std::string> texts;
  for (const kiln::Expr& extent : extents) {
    std::string text = out_.exprs().Print(extent);
    const bool quotes = in_signature_ && !newest_ && !FreeVars(extent).empty();
    texts.push_back(quotes ? Quoted(text) : std::move(text));
  }
  const bool lonely = open == '(' && texts.size() == 1;
  return absl::StrCat(std::string(1, open), absl::StrJoin(texts, ", "),
                      lonely ? "," : "", std::string(1, close));
}

std::string GraphPrinter::Tensor(const graph::TensorInfo& info) {
  std::vector<std::string> args;
  if (const auto* extents = info.extents()) {
    args.push_back(Extents(*extents, '(', ')'));
  } else if (info.shape) {
    args.push_back(Print(info.shape));
  }
  if (!info.dtype.is_void()) {
    args.push_back(absl::StrCat("dtype=", Quoted(info.dtype.ToString())));
  }
  if (!info.device.empty()) {
    args.push_back(absl::StrCat("vdevice=", Quoted(info.device)));
  }
  if (!info.shape && info.rank != graph::kUnknownRank) {
    args.push_back(absl::StrCat("ndim=", info.rank));
  }
  if (args.empty()) return "R.Tensor";
  return absl::StrCat("R.Tensor(", absl::StrJoin(args, ", "), ")");
}

std::string GraphPrinter::Prim(const graph::PrimInfo& info) {
  if (info.value) {
    return absl::StrCat("R.Prim(value=", out_.exprs().Print(info.value), ")");
  }
  const std::string type = info.dtype.ToString();
  return newest_ ? absl::StrCat("T.", type)
                 : absl::StrCat("R.Prim(", Quoted(type), ")");
}

std::string GraphPrinter::Callable(const graph::FunctionInfo& info) {
  if (!info.params) return "R.Callable";
  std::vector<std::string> params;
  for (const graph::StructInfo& param : *info.params) {
    params.push_back(Print(param));
  }
  return absl::StrCat("R.Callable((", absl::StrJoin(params, ", "),
                      params.size() == 1 ? ",), " : "), ", Print(info.result),
                      info.is_pure ? ", True)" : ", False)");
}

std::string GraphPrinter::Print(const graph::StructInfo& info) {
  switch (info.kind()) {
    case graph::InfoKind::kObject:
      return newest_ ? "R.Any" : "R.Object";
    case graph::InfoKind::kPrim:
      return Prim(*info.As<graph::PrimInfo>());
    case graph::InfoKind::kShape: {
      const auto& shape = *info.As<graph::ShapeInfo>();
      if (shape.values) {
        return absl::StrCat("R.Shape(", Extents(*shape.values, '[', ']'), ")");
      }
      return shape.rank == graph::kUnknownRank
                 ? "R.Shape(ndim=-1)"
                 : absl::StrCat("R.Shape(ndim=", shape.rank, ")");
    }
    case graph::InfoKind::kTensor:
      return Tensor(*info.As<graph::TensorInfo>());
    case graph::InfoKind::kTuple: {
      std::vector<std::string> fields;
      for (const auto& field : info.As<graph::TupleInfo>()->fields) {
        fields.push_back(Print(field));
      }
      return absl::StrCat("R.Tuple(", absl::StrJoin(fields, ", "), ")");
    }
    case graph::InfoKind::kFunction:
      return Callable(*info.As<graph::FunctionInfo>());
  }
  return "";
}

}  // namespace kiln::script
