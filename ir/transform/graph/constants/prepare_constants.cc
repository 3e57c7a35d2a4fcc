// A function is split once, and each of its calls gets the arguments of the
// main half: those of before, without the constants that only the preparation
// reads, and what the preparation makes of the constants. It runs once for the
// same constants:
//
//   split of dense(x, w, y):  prepare(w, panels), main(x, panels, y)
//   a = dense(x, W)           panels of W are computed
//   b = dense(a, W)           and used again
#include "kiln/ir/transform/graph/constants/prepare_constants.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/tensor/in_place.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/transform/graph/constants/constant_params.h"
#include "kiln/ir/transform/split_preparation.h"

namespace kiln {
namespace {

using Constants = std::vector<const graph::ConstantNode*>;

// Constants by content.
using Key = std::vector<std::pair<Sha256Digest, std::vector<int64_t>>>;

Key KeyOf(const Constants& constants) {
  Key key;
  for (const graph::ConstantNode* constant : constants) {
    key.emplace_back(constant->data->digest(), constant->shape);
  }
  return key;
}

bool HasConstantExtents(const Function& f) {
  return std::all_of(f.params.begin(), f.params.end(), [](const auto& param) {
    return param.buffer &&
           std::all_of(param.buffer->shape.begin(), param.buffer->shape.end(),
                       [](const Expr& e) { return AsInt(e) != nullptr; });
  });
}

std::vector<int64_t> ExtentsOf(const Buffer& buffer) {
  std::vector<int64_t> extents;
  for (const Expr& extent : buffer->shape) extents.push_back(*AsInt(extent));
  return extents;
}

Tensor TensorOf(const graph::ConstantNode& constant) {
  Tensor tensor(constant.dtype, constant.shape);
  const std::string_view bytes = constant.data->bytes();
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

absl::StatusOr<graph::Expr> ConstantOf(const Tensor& tensor) {
  const std::string_view bytes(
      reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  KILN_ASSIGN_OR_RETURN(Blob data, Blob::Copy(bytes));
  return graph::Expr(
      new graph::ConstantNode(tensor.dtype, tensor.shape, std::move(data)));
}

// The parameters of the main half in the order of a call: what is read, in the
// order of before with what is prepared behind it, then what is written.
absl::Status SortParams(SplitFunction& split, int count, int inputs) {
  KILN_ASSIGN_OR_RETURN(const std::vector<InPlacePair> pairs,
                        InPlacePairs(split.main));
  const std::vector<int> args = split.main_args;
  const std::vector<Param> params = split.main.params;
  std::vector<int> order(args.size());
  std::iota(order.begin(), order.end(), 0);
  const auto group = [&](int i) {
    return args[i] < inputs ? 0 : args[i] >= count ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return group(a) < group(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    split.main_args[i] = args[order[i]];
    split.main.params[i] = params[order[i]];
  }
  SetInPlacePairs(&split.main, MovedPairs(pairs, order));
  std::vector<int> cold = ColdParams(split.main);
  for (int& param : cold) {
    param = static_cast<int>(std::ranges::find(order, param) - order.begin());
  }
  if (!cold.empty()) SetColdParams(&split.main, cold);
  return absl::OkStatus();
}

// How many tensors the calls of each function give it.
std::map<std::string, int> InputCounts(const Module& module) {
  std::map<std::string, int> counts;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(graph::Expr(f.get()), [&](const graph::Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      const bool is_call =
          call && call->IsOp("call_tir") && call->args.size() > 1;
      if (!is_call) return true;
      const auto* callee = call->args[0].As<graph::GlobalVarNode>();
      const auto* args = call->args[1].As<graph::TupleNode>();
      if (callee && args) {
        counts[callee->name] = static_cast<int>(args->fields.size());
      }
      return true;
    });
  }
  return counts;
}

class Preparer {
 public:
  Preparer(const Module& module, const TensorFunctionRunner& run)
      : run_(run),
        constants_(ConstantParams(module)),
        inputs_(InputCounts(module)),
        out_(module) {}

  absl::StatusOr<Module> Run() {
    for (Function& f : out_.functions) {
      if (HasPreparation(f)) KILN_RETURN_IF_ERROR(Split(f));
    }
    for (graph::GraphFunction& f : out_.graph_functions) {
      const graph::Expr e = graph::Rewrite(
          graph::Expr(f.get()),
          [&](const graph::Expr& below) { return NewCall(below); });
      f = graph::GraphFunction(e.As<graph::FunctionNode>());
    }
    KILN_RETURN_IF_ERROR(status_);
    return std::move(out_);
  }

 private:
  struct Halves {
    SplitFunction split;
    int count = 0;  // of parameters before
    std::map<Key, std::vector<graph::Expr>> prepared;
  };

  bool PreparesConstants(const Function& f, const SplitFunction& split) const {
    const std::vector<int>& known = constants_.at(f.name);
    return std::all_of(
        split.prepare_args.begin(), split.prepare_args.end(), [&](int arg) {
          return arg >= static_cast<int>(f.params.size()) ||
                 std::binary_search(known.begin(), known.end(), arg);
        });
  }

  absl::Status Split(Function& f) {
    if (constants_.count(f.name) == 0) {
      f = WithoutPreparation(std::move(f));
      return absl::OkStatus();
    }
    KILN_ASSIGN_OR_RETURN(SplitFunction split, SplitPreparation(f));
    if (!PreparesConstants(f, split) || !HasConstantExtents(split.prepare)) {
      f = WithoutPreparation(std::move(f));
      return absl::OkStatus();
    }
    const int count = static_cast<int>(f.params.size());
    KILN_RETURN_IF_ERROR(SortParams(split, count, inputs_.at(f.name)));
    f = split.main;
    halves_.emplace(f.name, Halves{std::move(split), count, {}});
    return absl::OkStatus();
  }

  // Null for what stays.
  graph::Expr NewCall(const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    const bool is_call =
        call && call->IsOp("call_tir") && call->args.size() > 1;
    if (!is_call || !status_.ok()) return {};
    const auto* callee = call->args[0].As<graph::GlobalVarNode>();
    const auto found = callee ? halves_.find(callee->name) : halves_.end();
    if (found == halves_.end()) return {};
    const std::vector<graph::Expr>& args =
        call->args[1].As<graph::TupleNode>()->fields;
    Halves& halves = found->second;
    absl::StatusOr<std::vector<graph::Expr>> prepared =
        PreparedOf(callee->name, args, halves);
    if (!prepared.ok()) {
      status_ = prepared.status();
      return {};
    }
    std::vector<graph::Expr> fields;
    for (const int arg : halves.split.main_args) {
      if (arg < static_cast<int>(args.size())) fields.push_back(args[arg]);
      if (arg >= halves.count) {
        fields.push_back((*prepared)[arg - halves.count]);
      }
    }
    std::vector<graph::Expr> all = call->args;
    all[1] = graph::TupleOf(std::move(fields));
    return graph::CallOp("call_tir", std::move(all), call->attrs, call->infos);
  }

  absl::StatusOr<std::vector<graph::Expr>> PreparedOf(
      const std::string& name, const std::vector<graph::Expr>& args,
      Halves& halves) {
    Constants constants;
    for (const int arg : halves.split.prepare_args) {
      if (arg >= halves.count) continue;
      constants.push_back(args[arg].As<graph::ConstantNode>());
    }
    Key key = KeyOf(constants);
    const auto known = halves.prepared.find(key);
    if (known != halves.prepared.end()) return known->second;
    absl::StatusOr<std::vector<graph::Expr>> made =
        Prepared(halves.split.prepare, constants);
    if (!made.ok()) {
      return absl::Status(made.status().code(),
                          absl::StrCat("constants of ", name, ": ",
                                       std::string(made.status().message())));
    }
    halves.prepared.emplace(std::move(key), *made);
    return made;
  }

  // What the function writes, behind the constants among its parameters.
  absl::StatusOr<std::vector<graph::Expr>> Prepared(
      const Function& prepare, const Constants& constants) const {
    std::vector<Tensor> args;
    for (const graph::ConstantNode* constant : constants) {
      args.push_back(TensorOf(*constant));
    }
    for (size_t i = args.size(); i < prepare.params.size(); ++i) {
      const Buffer& buffer = prepare.params[i].buffer;
      args.emplace_back(buffer->dtype, ExtentsOf(buffer));
    }
    KILN_RETURN_IF_ERROR(run_(prepare, args));
    std::vector<graph::Expr> made;
    for (size_t i = constants.size(); i < args.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(made.emplace_back(), ConstantOf(args[i]));
    }
    return made;
  }

  const TensorFunctionRunner& run_;
  const std::map<std::string, std::vector<int>> constants_;
  const std::map<std::string, int> inputs_;
  Module out_;
  std::map<std::string, Halves> halves_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Module> PrepareConstants(const Module& module,
                                        const TensorFunctionRunner& run) {
  return Preparer(module, run).Run();
}

}  // namespace kiln
