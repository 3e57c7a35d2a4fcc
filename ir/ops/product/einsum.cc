// R.einsum: products of tensors whose dimensions are labelled, summed over the
// labels that the result lacks. R.outer is the one of two vectors.
//
//   R.einsum((x, y), subscripts="bij,jk->bik")
//       z[b, i, k] = sum over j of x[b, i, j] * y[j, k]
//   R.einsum((x,), subscripts="ii->i")    the diagonal
//
// "..." stands for dimensions that meet from the last one on. Without an arrow
// the result has those, then the labels that occur once, by the alphabet.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/product/product.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

// A letter; or one of the dimensions of "...", -1 for the last of them.
using Labels = std::vector<int>;
constexpr int kEllipsis = 0;  // until ranks are known

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

absl::StatusOr<Labels> LabelsOf(const OpCall& call, const std::string& text) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else if (text.compare(i, 3, "...") == 0 &&
               std::count(labels.begin(), labels.end(), kEllipsis) == 0) {
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      return call.Error(absl::StrCat("`subscripts` has \"", text,
                                     "\"; labels are letters and one \"...\""));
    }
  }
  return labels;
}

// What the result has where the text does not say it.
Labels ImpliedResult(const std::vector<Labels>& operands) {
  std::map<int, int> counts;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++counts[label];
  }
  Labels result;
  for (const auto& [label, count] : counts) {
    if (count == 1 || label == kEllipsis) result.push_back(label);
  }
  return result;
}

absl::StatusOr<Equation> Spelled(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(std::string text, call.String("subscripts"));
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  Equation equation;
  const std::string operands = text.substr(0, arrow);
  for (const auto part : absl::StrSplit(operands, ',')) {
    KILN_ASSIGN_OR_RETURN(equation.operands.emplace_back(),
                          LabelsOf(call, std::string(part)));
  }
  if (arrow == std::string::npos) {
    equation.result = ImpliedResult(equation.operands);
    return equation;
  }
  KILN_ASSIGN_OR_RETURN(equation.result,
                        LabelsOf(call, text.substr(arrow + 2)));
  std::set<int> known;
  for (const Labels& labels : equation.operands) {
    known.insert(labels.begin(), labels.end());
  }
  for (const int label : equation.result) {
    const auto& r = equation.result;
    if (known.count(label) && std::count(r.begin(), r.end(), label) == 1) {
      continue;
    }
    return call.Error(
        "a label of the result stands in an operand, and once in the result");
  }
  return equation;
}

// "..." as labels of `count` dimensions of their own.
Labels Expanded(const Labels& labels, int count) {
  Labels expanded;
  for (const int label : labels) {
    if (label != kEllipsis) expanded.push_back(label);
    for (int d = -count; label == kEllipsis && d < 0; ++d) {
      expanded.push_back(d);
    }
  }
  return expanded;
}

// The equation of operands whose ranks are known.
absl::StatusOr<Equation> EquationOf(const OpCall& call, const Equation& spelled,
                                    const std::vector<int>& ranks) {
  if (ranks.size() != spelled.operands.size()) {
    return call.Error(absl::StrCat("`subscripts` is of ",
                                   spelled.operands.size(),
                                   " operands, and there are ", ranks.size()));
  }
  Equation equation;
  int most = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Labels& labels = spelled.operands[i];
    const int more = ranks[i] - static_cast<int>(labels.size()) + 1;
    equation.operands.push_back(Expanded(labels, more));
    const bool has_more =
        std::count(labels.begin(), labels.end(), kEllipsis) != 0;
    if (has_more) most = std::max(most, more);
    if (static_cast<int>(equation.operands[i].size()) == ranks[i]) continue;
    return call.Error(absl::StrCat("operand ", i + 1, " has ", ranks[i],
                                   " dimensions, and as many labels as not"));
  }
  equation.result = Expanded(spelled.result, most);
  return equation;
}

// The extent of each label; nullopt where it is not certain that two meet.
absl::StatusOr<std::optional<std::map<int, Expr>>> ExtentsOf(
    const OpCall& call, const Equation& equation,
    const std::vector<Extents>& shapes) {
  std::map<int, Expr> extents;
  bool is_certain = true;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      Expr& known = extents[equation.operands[i][d]];
      const Expr& own = shapes[i][d];
      if (!known || IsOne(known)) {
        known = own;
      } else if (!IsOne(own) && !call.analyzer().CanProveEqual(known, own)) {
        is_certain = false;
        if (call.AreEqual(known, own)) {
          continue;
        }
        return call.Error(absl::StrCat("dimension ", d, " of operand ", i + 1,
                                       " has another extent than its label "
                                       "has before"));
      }
    }
  }
  if (!is_certain) return std::optional<std::map<int, Expr>>();
  return std::optional<std::map<int, Expr>>(std::move(extents));
}

absl::StatusOr<DType> TypeOf(
    const OpCall& call, const std::vector<const graph::TensorInfo*>& tensors) {
  DType common = DType::Void();
  bool is_known = !tensors.empty();
  for (const graph::TensorInfo* tensor : tensors) {
    is_known = is_known && !tensor->dtype.is_void();
    if (tensor->dtype.is_void()) continue;
    if (!common.is_void() && common != tensor->dtype) {
      return call.Error("the types of the operands differ");
    }
    common = tensor->dtype;
  }
  return is_known ? common : DType::Void();
}

absl::StatusOr<StructInfo> InferEinsum(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const auto tensors, call.Tensors(0));
  KILN_ASSIGN_OR_RETURN(const Equation spelled, Spelled(call));
  KILN_ASSIGN_OR_RETURN(const DType dtype, TypeOf(call, tensors));
  std::vector<int> ranks;
  std::vector<Extents> shapes;
  std::string device;
  for (const graph::TensorInfo* tensor : tensors) {
    if (device.empty()) device = tensor->device;
    ranks.push_back(tensor->rank);
    if (tensor->extents()) shapes.push_back(*tensor->extents());
  }
  if (std::count(ranks.begin(), ranks.end(), graph::kUnknownRank)) {
    return graph::TensorOfRank(graph::kUnknownRank, dtype, device);
  }
  KILN_ASSIGN_OR_RETURN(const Equation equation,
                        EquationOf(call, spelled, ranks));
  const int rank = static_cast<int>(equation.result.size());
  if (shapes.size() != ranks.size()) {
    return graph::TensorOfRank(rank, dtype, device);
  }
  KILN_ASSIGN_OR_RETURN(const auto extents, ExtentsOf(call, equation, shapes));
  if (!extents) return graph::TensorOfRank(rank, dtype, device);
  Extents shape;
  for (const int label : equation.result) shape.push_back(extents->at(label));
  return graph::Tensor(std::move(shape), dtype, device);
}

// The equation of these tensors.
absl::StatusOr<Equation> EquationOf(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Equation spelled, Spelled(call));
  std::vector<int> ranks;
  for (const te::Tensor& tensor : in) {
    ranks.push_back(static_cast<int>(tensor.shape().size()));
  }
  return EquationOf(call, spelled, ranks);
}

// The axes of the sum: labels that the result lacks; sets their indices.
std::vector<te::IterVar> SumAxes(const Equation& equation,
                                 const std::map<int, Expr>& extents,
                                 std::map<int, Expr>& index) {
  std::vector<te::IterVar> axes;
  for (const auto& [label, extent] : extents) {
    const Labels& r = equation.result;
    if (std::count(r.begin(), r.end(), label)) continue;
    const std::string name = label > 0
                                 ? std::string(1, static_cast<char>(label))
                                 : absl::StrCat("k", -label);
    axes.push_back(te::ReduceAxis(Int(0), extent, name));
    index[label] = axes.back();
  }
  return axes;
}

// The product of the operands' elements where labels have these indices.
Expr Product(const Equation& equation, const Inputs& in,
             const std::map<int, Expr>& index) {
  Expr product;
  for (size_t n = 0; n < in.size(); ++n) {
    Extents at;
    for (size_t d = 0; d < in[n].shape().size(); ++d) {
      at.push_back(IsOne(in[n].shape()[d]) ? Int(0)
                                           : index.at(equation.operands[n][d]));
    }
    const Expr own = in[n](std::move(at));
    product = product ? Mul(product, own) : own;
  }
  return product;
}

absl::StatusOr<Lowered> LowerEinsum(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const auto operands, call.Tensors(0));
  if (operands.size() != in.size()) {
    return absl::UnimplementedError("operands in a variable");
  }
  KILN_ASSIGN_OR_RETURN(const Equation equation, EquationOf(call, in));
  std::vector<Extents> shapes;
  for (const te::Tensor& tensor : in) shapes.push_back(tensor.shape());
  KILN_ASSIGN_OR_RETURN(const auto extents, ExtentsOf(call, equation, shapes));
  if (!extents) return absl::UnimplementedError("extents that may not meet");
  std::map<int, Expr> index;
  const std::vector<te::IterVar> axes = SumAxes(equation, *extents, index);
  Extents shape;
  for (const int label : equation.result) shape.push_back(extents->at(label));
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        for (size_t d = 0; d < i.size(); ++d) index[equation.result[d]] = i[d];
        const Expr product = Product(equation, in, index);
        return axes.empty() ? te::Value(product) : te::Sum(product, axes);
      },
      "T_einsum"));
}

// --- outer.

absl::StatusOr<StructInfo> InferOuter(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, RankedTensor(call, 0, 1));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, RankedTensor(call, 1, 1));
  if (!x->dtype.is_void() && !y->dtype.is_void() && x->dtype != y->dtype) {
    return call.ErrorAt(1, "the types of the vectors differ");
  }
  if (!x->extents() || !y->extents()) return TensorLike(*x, 2, nullptr);
  const Extents shape = {(*x->extents())[0], (*y->extents())[0]};
  return TensorLike(*x, 2, &shape);
}

absl::StatusOr<Lowered> LowerOuter(const OpCall&, const Inputs& in) {
  return Lowered(te::Compute(
      {in[0].shape()[0], in[1].shape()[0]},
      [&](const Extents& i) -> te::Value {
        return Mul(in[0](Extents{i[0]}), in[1](Extents{i[1]}));
      },
      "outer"));
}

constexpr OpRow kRows[] = {
    {"einsum", InferEinsum, LowerEinsum},
    {"outer", InferOuter, LowerOuter},
};

}  // namespace

absl::Span<const OpRow> EinsumOps() { return kRows; }

}  // namespace kiln
