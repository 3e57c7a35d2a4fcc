#include "kiln/tools/support/bind_flags.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/blob.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/vm/ndarray/npz.h"

ABSL_FLAG(std::string, bind_params, "",
          "An .npz file: parameters of the model that become constants, by "
          "name. What depends on constants only is computed ahead.");
ABSL_FLAG(std::vector<std::string>, bind, {},
          "Dimensions of the model that become numbers: n=16,m=4.");

namespace kiln {
namespace {

absl::StatusOr<std::string> BoundFunction(const Module& module) {
  if (module.FindGraph("main")) return std::string("main");
  std::vector<std::string> names;
  for (const graph::GraphFunction& f : module.graph_functions) {
    if (!f->is_private) names.push_back(f->name);
  }
  if (names.size() == 1) return names[0];
  return absl::InvalidArgumentError(absl::StrCat(
      "--bind and --bind-params are of the graph function main, or the only "
      "one that is not private; the module has ",
      names.size()));
}

absl::StatusOr<graph::Expr> ToConstant(const NDArray& array) {
  KILN_ASSIGN_OR_RETURN(
      Blob data,
      Blob::Copy({array.data_as<char>(), static_cast<size_t>(array.bytes())}));
  return graph::Expr(new graph::ConstantNode(
      array.dtype(), {array.shape().begin(), array.shape().end()},
      std::move(data)));
}

absl::StatusOr<std::map<std::string, graph::Expr>> ReadConstants(
    const std::string& path) {
  std::map<std::string, graph::Expr> constants;
  KILN_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(CallerPath(path)));
  for (const auto& [name, array] : arrays) {
    KILN_ASSIGN_OR_RETURN(constants[name], ToConstant(array));
  }
  return constants;
}

absl::StatusOr<std::map<std::string, int64_t>> ReadDims(
    const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    int64_t value = 0;
    const bool is_size = absl::SimpleAtoi(parts.second, &value) && value >= 0;
    if (parts.first.empty() || !is_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind ", text, " is no dimension and its size, n=16"));
    }
    if (!dims.emplace(parts.first, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind gives ", parts.first, " twice"));
    }
  }
  return dims;
}

}  // namespace

Bindings BindingsOfFlags() {
  return {absl::GetFlag(FLAGS_bind_params), absl::GetFlag(FLAGS_bind), ""};
}

absl::StatusOr<Module> Bound(Module module, const Bindings& bindings) {
  if (bindings.params.empty() && bindings.dims.empty()) return module;
  std::string function = bindings.function;
  if (function.empty()) {
    KILN_ASSIGN_OR_RETURN(function, BoundFunction(module));
  }
  if (!bindings.params.empty()) {
    KILN_ASSIGN_OR_RETURN(const auto constants, ReadConstants(bindings.params));
    KILN_ASSIGN_OR_RETURN(module, BindParams(module, function, constants));
  }
  if (bindings.dims.empty()) return module;
  KILN_ASSIGN_OR_RETURN(const auto dims, ReadDims(bindings.dims));
  return BindSymbolicVars(module, function, dims);
}

}  // namespace kiln
