#include "kiln/tests/graph_fuzz/scene.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/check.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

bool HasElements(const FuzzValue& value) {
  return std::all_of(value.extents().begin(), value.extents().end(),
                     [](const Expr& extent) {
                       const int64_t* n = AsInt(extent);
                       return n && *n > 0;
                     });
}

bool Fits(const FuzzValue& value, const Wanted& wanted) {
  const DType dtype = value.dtype();
  const bool is_integer = dtype.is_integral() && !dtype.is_bool();
  const bool fits_kind =
      wanted.kind == Wanted::Kind::kAny ||
      (wanted.kind == Wanted::Kind::kFloat && dtype.is_float()) ||
      (wanted.kind == Wanted::Kind::kInteger && is_integer) ||
      (wanted.kind == Wanted::Kind::kBool && dtype.is_bool()) ||
      (wanted.kind == Wanted::Kind::kNumber && !dtype.is_bool());
  return fits_kind && (wanted.rank < 0 || value.rank() == wanted.rank) &&
         value.rank() >= wanted.min_rank &&
         (wanted.dtype.is_void() || dtype == wanted.dtype) &&
         (!wanted.exact || value.exact) &&
         (!wanted.has_elements || HasElements(value));
}

}  // namespace

int64_t Scene::Below(int64_t n) {
  return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(n)));
}

std::string Scene::NewName(const char* prefix) {
  return absl::StrCat(prefix, names_++);
}

FuzzValue Scene::NewParam(const std::string& info) {
  const std::string name = NewName("p");
  params.push_back(absl::StrCat(name, ": ", info));
  const graph::StructInfo known = Infer(name, {}, params.back());
  KILN_CHECK(known) << params.back();
  values.push_back({name, known, 2});
  return values.back();
}

std::optional<FuzzValue> Scene::Some(const Wanted& wanted) {
  std::vector<FuzzValue> fitting;
  for (const FuzzValue& value : values) {
    if (Fits(value, wanted)) fitting.push_back(value);
  }
  if (fitting.empty()) return std::nullopt;
  const auto n = static_cast<int64_t>(fitting.size());
  return fitting[std::max(Below(n), Below(n))];
}

std::string Scene::Declarations() const {
  std::string text;
  for (const std::string& dim : dims) {
    absl::StrAppend(&text, "    ", dim, " = T.int64()\n");
  }
  return text;
}

graph::StructInfo Scene::Infer(const std::string& call,
                               const std::vector<FuzzValue>& operands,
                               const std::string& param) const {
  std::vector<std::string> params;
  if (!param.empty()) params.push_back(param);
  if (!dims.empty()) {
    params.push_back(absl::StrCat("dims: R.Shape([\"",
                                  absl::StrJoin(dims, "\", \""), "\"])"));
  }
  for (const FuzzValue& operand : operands) {
    std::string param =
        absl::StrCat(operand.name, ": ", ParamText(operand.info));
    if (std::find(params.begin(), params.end(), param) == params.end()) {
      params.push_back(std::move(param));
    }
  }
  absl::StatusOr<Module> module =
      ParseModule("call.py", absl::StrCat("@R.function(pure=False)\ndef main(",
                                          absl::StrJoin(params, ", "), "):\n",
                                          Declarations(), "    gv = ", call,
                                          "\n    return gv\n"));
  if (!module.ok()) return {};
  module = InferModule(*module);
  if (!module.ok()) return {};
  return graph::InfoOf(
      module->FindGraph("main")->body.As<graph::SeqNode>()->result);
}

std::string ExtentText(const Expr& extent) {
  const int64_t* value = AsInt(extent);
  return value ? absl::StrCat(*value) : PrintExpr(extent);
}

std::string ParamText(const graph::StructInfo& info) {
  const auto& tensor = *info.As<graph::TensorInfo>();
  std::string extents;
  for (const Expr& extent : *tensor.extents()) {
    const std::string text = ExtentText(extent);
    absl::StrAppend(
        &extents, AsInt(extent) ? text : absl::StrCat("\"", text, "\""), ", ");
  }
  return absl::StrCat("R.Tensor((", extents, "), dtype=\"",
                      tensor.dtype.ToString(), "\")");
}

bool IsKnownTensor(const graph::StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && tensor->extents() && !tensor->dtype.is_void();
}

}  // namespace kiln
