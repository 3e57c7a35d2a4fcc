// Struct info as annotations spell it:
//
//   R.Tensor((1, "m"), "float32")      extents; a name in quotes may be new
//   R.Tensor(dtype="float32", ndim=2)  a rank only
//   R.Tensor(s, dtype="float32")       the shape is the value of variable s
//   R.Shape([n, 4]), R.Shape(ndim=2)   extents as a value
//   R.Prim("int64"), R.Prim(value="n"), T.int64
//                                      a number
//   R.Tuple(...), R.Callable((...), result, pure), R.Object, R.Any
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/reader/graph_reader.h"

namespace kiln::script {

using graph::StructInfo;

// The rank that an ndim says, which must not be another than the extents'.
absl::StatusOr<int> GraphReader::Rank(const py::Expr* e, int known) {
  if (e == nullptr) return known;
  KILN_ASSIGN_OR_RETURN(int64_t rank, py::IntegerValue(context_.source, *e));
  if (rank < -1 || rank > 1000) {
    return Error(e->begin, "a rank is at least 0; -1 says that it is unknown");
  }
  if (known != graph::kUnknownRank && rank != known) {
    return Error(e->begin, absl::StrCat("ndim is ", rank, " beside ", known,
                                        " extents; leave ndim out"));
  }
  return static_cast<int>(rank);
}

absl::StatusOr<StructInfo> GraphReader::TensorOf(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) {
    return graph::TensorOfRank(graph::kUnknownRank, DType::Void());
  }
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e,
                                     {"shape", "dtype", "vdevice", "ndim"}));
  DType dtype = DType::Void();
  if (const py::Expr* type = args.GetUnlessNone("dtype")) {
    KILN_ASSIGN_OR_RETURN(dtype, scalars_.Type(*type));
  }
  std::string device;
  if (const py::Expr* at = args.GetUnlessNone("vdevice")) {
    KILN_ASSIGN_OR_RETURN(device, scalars_.String(*at));
  }
  const py::Expr* shape = args.GetUnlessNone("shape");
  if (shape == nullptr) {
    KILN_ASSIGN_OR_RETURN(const int rank,
                          Rank(args.Get("ndim"), graph::kUnknownRank));
    return graph::TensorOfRank(rank, dtype, std::move(device));
  }
  const bool is_name = shape->kind == py::ExprKind::kName;
  if (const graph::Var* var = is_name ? FindVar(shape->text) : nullptr) {
    return graph::TensorOfShape(*var, dtype, std::move(device));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<kiln::Expr> extents,
                        scalars_.Shape(*shape));
  KILN_RETURN_IF_ERROR(
      Rank(args.Get("ndim"), static_cast<int>(extents.size())).status());
  return graph::Tensor(std::move(extents), dtype, std::move(device));
}

absl::StatusOr<StructInfo> GraphReader::ShapeInfoOf(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) {
    return graph::ShapeOfRank(graph::kUnknownRank);
  }
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e, {"values", "ndim"}));
  if (const py::Expr* values = args.GetUnlessNone("values")) {
    KILN_ASSIGN_OR_RETURN(std::vector<kiln::Expr> extents,
                          scalars_.Shape(*values));
    return graph::Shape(std::move(extents));
  }
  KILN_ASSIGN_OR_RETURN(const int rank,
                        Rank(args.Get("ndim"), graph::kUnknownRank));
  return graph::ShapeOfRank(rank);
}

absl::StatusOr<StructInfo> GraphReader::PrimOf(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) {
    return Error(e.begin, "a number has a type: R.Prim(\"int64\")");
  }
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e, {"dtype", "value"}));
  if (const py::Expr* value = args.GetUnlessNone("value")) {
    KILN_ASSIGN_OR_RETURN(std::vector<kiln::Expr> values,
                          scalars_.Shape(*value));
    return graph::Prim(values[0].dtype(), values[0]);
  }
  KILN_ASSIGN_OR_RETURN(const py::Expr* type, args.Require("dtype"));
  KILN_ASSIGN_OR_RETURN(const DType dtype, scalars_.Type(*type));
  return graph::Prim(dtype);
}

absl::StatusOr<StructInfo> GraphReader::CallableOf(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) {
    return graph::Callable(std::nullopt, graph::Object(), /*is_pure=*/false);
  }
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, e, {"params", "ret", "purity"}));
  std::optional<std::vector<StructInfo>> params;
  if (const py::Expr* list = args.GetUnlessNone("params")) {
    KILN_ASSIGN_OR_RETURN(params, Infos(*list));
  }
  StructInfo result = graph::Object();
  if (const py::Expr* ret = args.GetUnlessNone("ret")) {
    KILN_ASSIGN_OR_RETURN(result, Info(*ret));
  }
  const py::Expr* purity = args.GetUnlessNone("purity");
  const bool is_pure = !purity || purity->kind != py::ExprKind::kFalse;
  return graph::Callable(std::move(params), std::move(result), is_pure);
}

// One, or a tuple or list of them.
absl::StatusOr<std::vector<StructInfo>> GraphReader::Infos(const py::Expr& e) {
  std::vector<StructInfo> infos;
  if (e.kind != py::ExprKind::kTuple && e.kind != py::ExprKind::kList) {
    KILN_ASSIGN_OR_RETURN(StructInfo info, Info(e));
    infos.push_back(std::move(info));
    return infos;
  }
  for (const py::Expr& item : e.items) {
    KILN_ASSIGN_OR_RETURN(StructInfo info, Info(item));
    infos.push_back(std::move(info));
  }
  return infos;
}

absl::StatusOr<StructInfo> GraphReader::Info(const py::Expr& e) {
  const py::Expr& callee = e.kind == py::ExprKind::kCall ? e.items[0] : e;
  const std::string name = GraphName(callee);
  if (name == "Tensor") return TensorOf(e);
  if (name == "Shape") return ShapeInfoOf(e);
  if (name == "Prim") return PrimOf(e);
  if (name == "Callable") return CallableOf(e);
  if (name == "Object" || name == "Any") return graph::Object();
  if (py::DottedName(callee) == "I.StringType") return graph::Object();
  if (name == "Tuple") {
    if (e.kind != py::ExprKind::kCall) return graph::Tuple({});
    std::vector<StructInfo> fields;
    for (size_t i = 1; i < e.items.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(std::vector<StructInfo> some, Infos(e.items[i]));
      std::move(some.begin(), some.end(), std::back_inserter(fields));
    }
    return graph::Tuple(std::move(fields));
  }
  const std::optional<DType> dtype = DType::FromString(TensorName(callee));
  if (dtype && !dtype->is_void()) {
    return graph::Prim(dtype->is_int() && dtype->bits() >= 32 ? DType::Index()
                                                              : *dtype);
  }
  return Error(e.begin,
               "struct info is needed here: R.Tensor((n, 4), \"float32\"), "
               "R.Shape([n, 4]), R.Prim(\"int64\"), R.Tuple(...), "
               "R.Callable(...) or R.Object");
}

}  // namespace kiln::script
