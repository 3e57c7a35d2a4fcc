#include "kiln/ir/transform/graph/same_results.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"

namespace kiln {
namespace {

class ArgumentMaker {
 public:
  ArgumentMaker(uint64_t seed, const TestExtents& extents)
      : random_(seed), extents_(extents) {}

  absl::StatusOr<graph::Value> Make(const graph::StructInfo& info) {
    if (const auto* tuple = info.As<graph::TupleInfo>()) {
      std::vector<graph::Value> fields;
      for (const graph::StructInfo& field : tuple->fields) {
        KILN_ASSIGN_OR_RETURN(graph::Value value, Make(field));
        fields.push_back(std::move(value));
      }
      return graph::TupleOfValues(std::move(fields));
    }
    if (const auto* shape = info.As<graph::ShapeInfo>()) {
      if (shape->values) return graph::Value(Numbers(*shape->values));
    }
    const auto* prim = info.As<graph::PrimInfo>();
    if (prim && prim->value) return graph::Value(Numbers({prim->value})[0]);
    const auto* tensor = info.As<graph::TensorInfo>();
    if (tensor && tensor->extents() && !tensor->dtype.is_void()) {
      return RandomTensor(tensor->dtype, Numbers(*tensor->extents()));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("no argument is made for ", PrintStructInfo(info)));
  }

 private:
  std::vector<int64_t> Numbers(const std::vector<Expr>& values) const {
    std::vector<int64_t> numbers;
    Analyzer analyzer;
    for (const Expr& value : values) {
      VarMap known;
      for (const Var& var : FreeVars(value)) {
        const auto found = extents_.find(var.name());
        known[var.get()] = Int(found == extents_.end() ? 3 : found->second);
      }
      const Expr number = analyzer.Simplify(Substitute(value, known));
      numbers.push_back(AsInt(number) ? *AsInt(number) : 0);
    }
    return numbers;
  }

  graph::Value RandomTensor(DType dtype, const std::vector<int64_t>& shape) {
    Tensor tensor(dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (dtype.is_float()) {
        tensor.Set(i, static_cast<double>(random_.Below(1000)) / 1000);
      } else {
        tensor.Set(i, static_cast<int64_t>(
                          random_.Below(dtype == DType::Bool() ? 2 : 5)));
      }
    }
    return graph::TensorOf(std::move(tensor));
  }

  Random random_;
  const TestExtents& extents_;
};

absl::Status Compare(const graph::Value& a, const graph::Value& b) {
  const auto* left = std::get_if<graph::TensorValue>(&a);
  const auto* right = std::get_if<graph::TensorValue>(&b);
  if (left && right) return CompareTensors(**left, **right);
  using Tuple = std::shared_ptr<const graph::TupleValue>;
  const auto* fields = std::get_if<Tuple>(&a);
  const auto* others = std::get_if<Tuple>(&b);
  if (!fields && !others && a.index() == b.index()) {
    return a == b ? absl::OkStatus()
                  : absl::InternalError("results are not equal");
  }
  const bool are_tuples =
      fields && others && (*fields)->fields.size() == (*others)->fields.size();
  if (!are_tuples) return absl::InternalError("results of different kinds");
  for (size_t i = 0; i < (*fields)->fields.size(); ++i) {
    KILN_RETURN_IF_ERROR(Compare((*fields)->fields[i], (*others)->fields[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SameResults(const Module& before, const Module& after,
                         uint64_t seed, const TestExtents& extents) {
  const graph::FunctionNode* main = before.FindGraph("main");
  if (!main) return absl::NotFoundError("no graph function is called main");
  ArgumentMaker maker(seed, extents);
  std::vector<graph::Value> args;
  for (const graph::Var& param : main->params) {
    KILN_ASSIGN_OR_RETURN(graph::Value arg, maker.Make(param->info));
    args.push_back(std::move(arg));
  }
  KILN_ASSIGN_OR_RETURN(const graph::Value left,
                        graph::InterpretGraph(before, "main", args));
  KILN_ASSIGN_OR_RETURN(const graph::Value right,
                        graph::InterpretGraph(after, "main", args));
  return Compare(left, right);
}

std::string MeaningAfter(const std::vector<std::string>& passes,
                         const std::string& text, const TestExtents& extents) {
  const absl::StatusOr<Module> before = InferModule(ReadModule(text));
  if (!before.ok()) return std::string(before.status().message());
  absl::StatusOr<Module> after = RunGraphPasses(*before, passes);
  if (after.ok()) after = InferModule(*after);
  if (!after.ok()) return std::string(after.status().message());
  const absl::Status same = SameResults(*before, *after, 1, extents);
  return same.ok() ? ""
                   : absl::StrCat(same.message(), "\n", PrintModule(*after));
}

}  // namespace kiln
