#include "kiln/frontends/builder/dimensions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::graph {
namespace {

absl::Status CheckExtents(const std::vector<Scalar>& extents) {
  for (const Scalar& extent : extents) {
    if (!extent) return absl::InvalidArgumentError("an extent is missing");
    if (extent.dtype() != DType::Index()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an extent is ", extent.dtype().ToString(), "; extents are int64"));
    }
  }
  return absl::OkStatus();
}

// The bytes that constant extents make.
absl::Status CheckSize(const std::vector<Scalar>& extents, DType dtype) {
  int64_t bytes = std::max<int64_t>(1, dtype.bytes());
  for (const Scalar& extent : extents) {
    const int64_t* known = AsInt(extent);
    if (!known) continue;
    if (*known < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("an extent is ", *known, "; extents are at least 0"));
    }
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(1, *known), &bytes)) {
      return absl::InvalidArgumentError("its bytes exceed an int64");
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const StructInfo& info);

absl::Status CheckAll(const std::vector<StructInfo>& infos) {
  for (const StructInfo& info : infos) KILN_RETURN_IF_ERROR(Check(info));
  return absl::OkStatus();
}

absl::Status CheckTensor(const TensorInfo& tensor) {
  const std::vector<Scalar>* extents = tensor.extents();
  if (extents) {
    KILN_RETURN_IF_ERROR(CheckExtents(*extents));
    return CheckSize(*extents, tensor.dtype);
  }
  if (tensor.rank >= kUnknownRank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("its rank is ", tensor.rank, "; ranks are at least 0"));
}

absl::Status Check(const StructInfo& info) {
  if (!info) return absl::OkStatus();
  switch (info.kind()) {
    case InfoKind::kObject:
    case InfoKind::kPrim:
      return absl::OkStatus();
    case InfoKind::kShape: {
      const auto* shape = info.As<ShapeInfo>();
      return shape->values ? CheckExtents(*shape->values) : absl::OkStatus();
    }
    case InfoKind::kTensor:
      return CheckTensor(*info.As<TensorInfo>());
    case InfoKind::kTuple:
      return CheckAll(info.As<TupleInfo>()->fields);
    case InfoKind::kFunction: {
      const auto* function = info.As<FunctionInfo>();
      if (function->params) KILN_RETURN_IF_ERROR(CheckAll(*function->params));
      return Check(function->result);
    }
  }
  return absl::OkStatus();
}

// What the parameters of functions and casts bring in.
std::unordered_set<const kiln::VarNode*> ToldDimensions(const FunctionNode& f) {
  std::unordered_set<const kiln::VarNode*> told;
  const auto add = [&](const StructInfo& info) {
    for (const kiln::Var& var : DefinedScalars(info)) told.insert(var.get());
  };
  Visit(GraphFunction(&f), [&](const Expr& e) {
    if (const auto* cast = e.As<MatchCastNode>()) add(cast->info);
    if (const auto* function = e.As<FunctionNode>()) {
      for (const Var& param : function->params) add(param->info);
    }
    return true;
  });
  return told;
}

}  // namespace

absl::Status CheckInfo(const StructInfo& info, std::string_view what) {
  const absl::Status status = Check(info);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(std::string(what), ": ", status.message()));
}

absl::Status CheckDimensions(const FunctionNode& f) {
  const std::unordered_set<const kiln::VarNode*> told = ToldDimensions(f);
  absl::Status status;
  VisitScalars(GraphFunction(&f), [&](const Scalar& value) {
    if (!status.ok()) return;
    for (const kiln::Var& var : FreeVars(value)) {
      if (told.count(var.get())) continue;
      status = absl::InvalidArgumentError(
          absl::StrCat(f.name, ": no parameter tells the dimension ",
                       var.name(), "; let an extent of a parameter be ",
                       var.name(), " alone, or check a value with MatchCast"));
    }
  });
  return status;
}

}  // namespace kiln::graph
