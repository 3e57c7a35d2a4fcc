// What --bind says is read into the sizes of each dimension. One size becomes a
// number in the model; several are samples, the first of each dimension with
// the first of the others:
//
//   --bind n=1,16,m=4,128,k=8     k is 8; samples n=1 m=4, and n=16 m=128
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
          "Dimensions of the model that become numbers: n=16,m=4. With several "
          "sizes, n=1,16,128, a dimension stays open, and is tuned at them.");

namespace kiln {
namespace {

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

// Sizes by the names of dimensions.
using Sizes = std::map<std::string, std::vector<int64_t>>;

absl::StatusOr<Sizes> ReadDims(const std::vector<std::string>& texts) {
  Sizes sizes;
  std::string name;  // of the dimension whose sizes follow
  for (const std::string& text : texts) {
    const std::vector<std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    const bool is_further = parts.size() == 1 && !name.empty();
    if (!is_further) name = parts.front();
    int64_t size = 0;
    const bool is_size = absl::SimpleAtoi(parts.back(), &size) && size >= 0;
    if (name.empty() || !is_size || (parts.size() == 1 && !is_further)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind ", text, " is no dimension and its size, n=16"));
    }
    if (!is_further && sizes.count(name) > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind gives ", name, " twice"));
    }
    sizes[name].push_back(size);
  }
  return sizes;
}

bool HasGraph(const Module& module) { return !module.graph_functions.empty(); }

// Of dimensions that become numbers.
DimValues Single(const Sizes& sizes) {
  DimValues single;
  for (const auto& [name, values] : sizes) {
    if (values.size() == 1) single[name] = values[0];
  }
  return single;
}

// Dimensions with several sizes are those of the function.
absl::Status CheckSampled(const Module& module, const std::string& function,
                          const Sizes& sizes, bool samples) {
  DimValues sampled;
  for (const auto& [name, values] : sizes) {
    if (values.size() > 1) sampled[name] = values[0];
  }
  if (sampled.empty()) return absl::OkStatus();
  if (samples) return BindSymbolicVars(module, function, sampled).status();
  return absl::InvalidArgumentError(absl::StrCat(
      "--bind gives ", sampled.begin()->first,
      " several sizes; tune, and compile --minutes, measure at them"));
}

}  // namespace

Bindings BindingsOfFlags() {
  return {absl::GetFlag(FLAGS_bind_params), absl::GetFlag(FLAGS_bind), ""};
}

absl::StatusOr<std::string> BoundFunction(const Module& module,
                                          const Bindings& bindings) {
  if (!bindings.function.empty()) return bindings.function;
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

absl::StatusOr<Module> Bound(Module module, const Bindings& bindings) {
  if (bindings.params.empty() && bindings.dims.empty()) return module;
  KILN_ASSIGN_OR_RETURN(const Sizes sizes, ReadDims(bindings.dims));
  if (bindings.params.empty() && bindings.samples && !HasGraph(module)) {
    return module;
  }
  KILN_ASSIGN_OR_RETURN(const std::string function,
                        BoundFunction(module, bindings));
  if (!bindings.params.empty()) {
    KILN_ASSIGN_OR_RETURN(const auto constants, ReadConstants(bindings.params));
    KILN_ASSIGN_OR_RETURN(module, BindParams(module, function, constants));
  }
  KILN_RETURN_IF_ERROR(CheckSampled(module, function, sizes, bindings.samples));
  return BindSymbolicVars(module, function, Single(sizes));
}

absl::StatusOr<std::vector<DimValues>> SampledSizes(const Module& module,
                                                    const Bindings& bindings) {
  KILN_ASSIGN_OR_RETURN(const Sizes sizes, ReadDims(bindings.dims));
  size_t count = 0;
  std::vector<DimValues> samples;
  for (const auto& [name, values] : sizes) {
    if (HasGraph(module) && values.size() == 1) continue;
    if (count == 0) count = values.size();
    if (values.size() != count) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind gives ", name, " ", values.size(),
                       " sizes, and another dimension ", count,
                       "; they are taken side by side"));
    }
    samples.resize(count);
    for (size_t i = 0; i < count; ++i) samples[i][name] = values[i];
  }
  return samples;
}

}  // namespace kiln
