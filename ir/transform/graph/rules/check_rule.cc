// A trial draws the dimensions of the rule, then a value for each parameter,
// and runs both functions:
//
//   x: R.Tensor(("n", "2 * n"))    n is 3; x is random, 3 by 6
//
// An input that says little (all ones) proves little, so elements are drawn in
// three ways.
#include "kiln/ir/transform/graph/rules/check_rule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/testing/compare.h"

namespace kiln {
namespace {

using graph::Value;

// Loop iterations of one tensor function.
constexpr int64_t kMostSteps = int64_t{1} << 23;
constexpr int64_t kMostElements = int64_t{1} << 22;

absl::Status TooLarge(const std::string& what) {
  return absl::ResourceExhaustedError(absl::StrCat(
      what,
      " is too large to be interpreted; state the rule for extents that "
      "are open, as in R.Tensor((\"n\", \"m\"), \"float32\")"));
}

// The inputs of one trial.
class Inputs {
 public:
  Inputs(uint64_t seed, int trial)
      : random_(seed, static_cast<uint64_t>(trial)), trial_(trial) {}

  absl::StatusOr<std::vector<Value>> For(const graph::FunctionNode& f) {
    for (const graph::Var& param : f.params) {
      graph::VisitScalars(param->info, [&](const graph::Scalar& e) {
        for (const Var& dim : FreeVars(e)) Draw(dim);
      });
    }
    std::vector<Value> values;
    for (const graph::Var& param : f.params) {
      KILN_ASSIGN_OR_RETURN(Value value, Of(param->info));
      told_.push_back(absl::StrCat(param->name, " is ", Describe(value)));
      values.push_back(std::move(value));
    }
    return values;
  }

  // "n = 3, x is float32 [3, 6]"
  std::string ToString() const { return absl::StrJoin(told_, ", "); }

 private:
  void Draw(const Var& dim) {
    if (dims_.count(dim.get()) > 0) return;
    const int64_t extent = random_.Between(1, 5);
    dims_.emplace(dim.get(), Int(extent));
    told_.push_back(absl::StrCat(dim->name, " = ", extent));
  }

  static std::string Describe(const Value& value) {
    if (const auto* tensor = std::get_if<graph::TensorValue>(&value)) {
      return absl::StrCat((*tensor)->dtype.ToString(), " [",
                          absl::StrJoin((*tensor)->shape, ", "), "]");
    }
    if (const auto* extents = std::get_if<graph::Extents>(&value)) {
      return absl::StrCat("shape (", absl::StrJoin(*extents, ", "), ")");
    }
    if (const auto* number = std::get_if<int64_t>(&value)) {
      return absl::StrCat(*number);
    }
    if (const auto* number = std::get_if<double>(&value)) {
      return absl::StrCat(*number);
    }
    std::vector<std::string> fields;
    const auto* tuple =
        std::get_if<std::shared_ptr<const graph::TupleValue>>(&value);
    if (!tuple) return "another value";
    for (const Value& field : (*tuple)->fields) {
      fields.push_back(Describe(field));
    }
    return absl::StrCat("(", absl::StrJoin(fields, ", "), ")");
  }

  absl::StatusOr<Value> Of(const graph::StructInfo& info) {
    if (const auto* tensor = info.As<graph::TensorInfo>()) {
      return TensorOf(*tensor);
    }
    if (const auto* shape = info.As<graph::ShapeInfo>()) {
      KILN_ASSIGN_OR_RETURN(
          const graph::Extents extents,
          ExtentsOf(shape->values ? &*shape->values : nullptr, shape->rank));
      return Value(extents);
    }
    if (const auto* prim = info.As<graph::PrimInfo>()) return NumberOf(*prim);
    if (const auto* tuple = info.As<graph::TupleInfo>()) {
      std::vector<Value> fields;
      for (const graph::StructInfo& field : tuple->fields) {
        KILN_ASSIGN_OR_RETURN(Value value, Of(field));
        fields.push_back(std::move(value));
      }
      return graph::TupleOfValues(std::move(fields));
    }
    return absl::InvalidArgumentError("a parameter of another kind");
  }

  absl::StatusOr<int64_t> ExtentOf(const graph::Scalar& e) {
    const graph::Scalar known = Analyzer().Simplify(Substitute(e, dims_));
    const int64_t* extent = AsInt(known);
    if (extent && *extent >= 0) return *extent;
    return absl::OutOfRangeError("an extent is negative, or no integer");
  }

  absl::StatusOr<graph::Extents> ExtentsOf(
      const std::vector<graph::Scalar>* extents, int rank) {
    graph::Extents values;
    if (extents) {
      for (const graph::Scalar& e : *extents) {
        KILN_ASSIGN_OR_RETURN(const int64_t extent, ExtentOf(e));
        values.push_back(extent);
      }
      return values;
    }
    if (rank < 0) rank = static_cast<int>(random_.Between(0, 3));
    // Often of one shape, and else of shapes that broadcast, from the back.
    while (static_cast<int>(open_.size()) < rank) {
      open_.push_back(random_.Between(2, 3));
    }
    for (int i = rank; i-- > 0;) {
      const bool is_one = trial_ % 2 == 1 && random_.Below(3) == 0;
      values.push_back(is_one ? 1 : open_[i]);
    }
    return values;
  }

  absl::StatusOr<Value> TensorOf(const graph::TensorInfo& info) {
    KILN_ASSIGN_OR_RETURN(const graph::Extents shape,
                          ExtentsOf(info.extents(), info.rank));
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (extent > 0 && elements > kMostElements / extent) {
        return TooLarge(
            absl::StrCat("a tensor of (", absl::StrJoin(shape, ", "), ")"));
      }
      elements *= extent;
    }
    const DType dtype = info.dtype == DType::Void() ? OpenType() : info.dtype;
    Tensor tensor(dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (dtype.is_float()) {
        tensor.Set(i, Real());
      } else {
        tensor.SetInt(i, Integer(dtype));
      }
    }
    return graph::TensorOf(std::move(tensor));
  }

  // One for all tensors of a trial whose types are not told.
  DType OpenType() const {
    static const DType kTypes[] = {DType::Float(32), DType::Int(32),
                                   DType::Float(64), DType::UInt(8),
                                   DType::Float(32), DType::Bool()};
    return kTypes[trial_ % 6];
  }

  absl::StatusOr<Value> NumberOf(const graph::PrimInfo& info) {
    if (info.dtype.is_float()) return Value(Real());
    if (!info.value || info.dtype.is_bool()) return Value(Integer(info.dtype));
    KILN_ASSIGN_OR_RETURN(const int64_t value, ExtentOf(info.value));
    return Value(value);
  }

  double Real() {
    if (trial_ % 3 == 1) return static_cast<double>(random_.Between(-2, 2));
    return trial_ % 3 == 0 ? 4 * random_.Unit() - 2 : 0.25 + 2 * random_.Unit();
  }

  // Every other trial has what may be indices of most tensors.
  int64_t Integer(DType dtype) {
    if (dtype.is_bool() || trial_ % 2 == 1) return random_.Between(0, 1);
    return random_.Between(dtype.is_uint() ? 0 : -5, 5);
  }

  Random random_;
  const int trial_;
  VarMap dims_;
  graph::Extents open_;
  std::vector<std::string> told_;
};

// Ok, or where two results differ.
absl::Status Compare(const Value& put, const Value& found) {
  using TuplePtr = std::shared_ptr<const graph::TupleValue>;
  const auto* tuple = std::get_if<TuplePtr>(&put);
  const auto* other = std::get_if<TuplePtr>(&found);
  if (tuple && other && (*tuple)->fields.size() == (*other)->fields.size()) {
    for (size_t i = 0; i < (*tuple)->fields.size(); ++i) {
      const absl::Status status =
          Compare((*tuple)->fields[i], (*other)->fields[i]);
      if (status.ok()) continue;
      return absl::Status(status.code(),
                          absl::StrCat("result ", i, ": ", status.message()));
    }
    return absl::OkStatus();
  }
  const auto* tensor = std::get_if<graph::TensorValue>(&put);
  const auto* expected = std::get_if<graph::TensorValue>(&found);
  if (tensor && expected) return CompareTensors(**tensor, **expected);
  // Numbers and extents; a tensor is never the same as another one here.
  if (put == found) return absl::OkStatus();
  return absl::InvalidArgumentError("they are values of different kinds");
}

class Prover {
 public:
  Prover(const Rule& rule, const RuleCheck& check)
      : rule_(rule), check_(check) {
    options_.tensor.max_steps = kMostSteps;
    options_.packed = check.packed;
  }

  absl::Status Run() {
    absl::Status refused = absl::OkStatus();
    int ran = 0;
    // Inputs on which the pattern cannot run are drawn anew, for a while.
    for (int trial = 0; ran < check_.trials && trial < 10 * check_.trials;
         ++trial) {
      Inputs inputs(check_.seed, trial);
      absl::StatusOr<std::vector<Value>> args = inputs.For(*rule_.pattern);
      if (!args.ok()) {
        if (absl::IsResourceExhausted(args.status()))
          return InRule(args.status());
        refused = args.status();
        continue;
      }
      const absl::StatusOr<Value> found = Call(rule_.pattern_name, *args);
      if (absl::IsResourceExhausted(found.status()))
        return InRule(found.status());
      if (!found.ok()) {
        refused = found.status();
        continue;
      }
      ++ran;
      const absl::Status status = Against(*found, *args);
      if (absl::IsResourceExhausted(status)) return InRule(status);
      if (!status.ok()) return CounterExample(trial, inputs, status);
    }
    if (ran > 0) return absl::OkStatus();
    return InRule(absl::InvalidArgumentError(
        absl::StrCat("nothing proves it, as its pattern ran on no input: ",
                     refused.message())));
  }

 private:
  absl::StatusOr<Value> Call(const std::string& function,
                             const std::vector<Value>& args) const {
    absl::StatusOr<Value> value =
        graph::InterpretGraph(rule_.module, function, args, options_);
    if (absl::IsResourceExhausted(value.status())) return TooLarge(function);
    return value;
  }

  absl::Status Against(const Value& found,
                       const std::vector<Value>& args) const {
    const absl::StatusOr<Value> put = Call(rule_.replacement_name, args);
    if (absl::IsResourceExhausted(put.status())) return put.status();
    if (!put.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the replacement does not run: ", put.status().message()));
    }
    return Compare(*put, found);
  }

  absl::Status InRule(const absl::Status& status) const {
    return absl::Status(status.code(), absl::StrCat("rule ", rule_.name, ": ",
                                                    status.message()));
  }

  absl::Status CounterExample(int trial, const Inputs& inputs,
                              const absl::Status& status) const {
    return absl::FailedPreconditionError(absl::StrCat(
        "rule ", rule_.name,
        ": the replacement does not give what the pattern gives (seed ",
        check_.seed, ", trial ", trial, ": ", inputs.ToString(),
        "): ", status.message()));
  }

  const Rule& rule_;
  const RuleCheck& check_;
  graph::GraphInterpOptions options_;
};

}  // namespace

absl::Status CheckRule(const Rule& rule, const RuleCheck& check) {
  return Prover(rule, check).Run();
}

}  // namespace kiln
