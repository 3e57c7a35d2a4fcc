// Index notation is a part of Python's grammar, so the Python parser reads it.
// A tensor can be made only once its shape is known, and the shape follows from
// all places where the tensor is indexed; hence two walks over the parsed tree:
//
//   B[i] += A[2*i + r] * W[r]      with i=8, r=3
//
//   left side     i: an axis of extent 8
//   first walk    2*i + r is between 0 and 2*7 + 2, so A has 17 elements;
//                 r does not stand on the left: a sum runs over it
//   second walk   B(i) = sum over r of A(2*i + r) * W(r), a tensor expression
//
// An index is bounded by interval arithmetic, which takes two mentions of a
// name for two numbers. 3*i - 2*i is therefore refused, as it seems to reach
// below 0, and 2*i + i is exact; a shape can come out too large, never too
// small.
#include "kiln/frontends/einsum/einsum.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/ir/text/python/source.h"

namespace kiln {
namespace {

using PyExpr = python::Expr;
using PyKind = python::ExprKind;

struct Operand {
  std::string name;
  std::vector<int64_t> shape;
};

class EinsumReader {
 public:
  EinsumReader(const python::Source& source,
               const std::map<std::string, int64_t>& extents, DType dtype)
      : source_(source), extents_(extents), dtype_(dtype) {}

  absl::StatusOr<Module> Read() {
    KILN_ASSIGN_OR_RETURN(std::vector<python::Stmt> stmts,
                          python::ParseFile(source_));
    if (stmts.size() != 1 || !IsAssignment(stmts[0])) {
      return source_.Error(
          stmts.empty() ? python::Position{1, 1} : stmts.back().begin,
          "one assignment is wanted, such as C[i,j] += A[i,k] * B[k,j]");
    }
    const python::Stmt& stmt = stmts[0];
    KILN_RETURN_IF_ERROR(ReadLeft(stmt.targets[0]));
    KILN_RETURN_IF_ERROR(Collect(*stmt.value));
    KILN_RETURN_IF_ERROR(CheckReduction(stmt));
    KILN_RETURN_IF_ERROR(CheckAllUsed());
    return Build(*stmt.value);
  }

 private:
  static bool IsAssignment(const python::Stmt& stmt) {
    if (stmt.targets.size() != 1) return false;
    return stmt.kind == python::StmtKind::kAssign ||
           (stmt.kind == python::StmtKind::kAugment && stmt.name == "+");
  }

  absl::StatusOr<int64_t> Extent(const PyExpr& name) const {
    auto found = extents_.find(name.text);
    if (found != extents_.end()) return found->second;
    return source_.Error(
        name.begin, absl::StrCat("no extent is given for index `", name.text,
                                 "`; add ", name.text, "=EXTENT to the shape"));
  }

  absl::Status ReadLeft(const PyExpr& left) {
    if (left.kind != PyKind::kSubscript ||
        left.items[0].kind != PyKind::kName) {
      return source_.Error(left.begin,
                           "the left side has to be a tensor with indices");
    }
    output_ = left.items[0].text;
    for (size_t i = 1; i < left.items.size(); ++i) {
      const PyExpr& index = left.items[i];
      if (index.kind != PyKind::kName) {
        return source_.Error(index.begin,
                             "an index of the left side has to be a name");
      }
      if (std::count(spatial_.begin(), spatial_.end(), index.text)) {
        return source_.Error(
            index.begin, absl::StrCat("index `", index.text, "` stands twice"));
      }
      KILN_RETURN_IF_ERROR(Extent(index).status());
      spatial_.push_back(index.text);
    }
    return absl::OkStatus();
  }

  // Finds tensors, their shapes and the indices to sum over.
  absl::Status Collect(const PyExpr& e) {
    if (e.kind != PyKind::kSubscript) {
      for (const PyExpr& item : e.items) KILN_RETURN_IF_ERROR(Collect(item));
      return absl::OkStatus();
    }
    const std::string& name = e.items[0].text;
    if (e.items[0].kind != PyKind::kName || name == output_) {
      return source_.Error(e.begin,
                           "a tensor of the right side needs a name "
                           "other than the left one's");
    }
    std::vector<int64_t> shape;
    for (size_t i = 1; i < e.items.size(); ++i) {
      int64_t low = 0, high = 0;
      KILN_RETURN_IF_ERROR(Reach(e.items[i], &low, &high));
      if (low < 0) {
        return source_.Error(e.items[i].begin, "this index can be negative");
      }
      shape.push_back(high + 1);
    }
    return AddOperand(e, name, std::move(shape));
  }

  absl::Status AddOperand(const PyExpr& e, const std::string& name,
                          std::vector<int64_t> shape) {
    for (Operand& operand : operands_) {
      if (operand.name != name) continue;
      if (operand.shape.size() != shape.size()) {
        return source_.Error(
            e.begin, absl::StrCat("`", name, "` has ", shape.size(),
                                  " indices here and ", operand.shape.size(),
                                  " before"));
      }
      for (size_t i = 0; i < shape.size(); ++i) {
        operand.shape[i] = std::max(operand.shape[i], shape[i]);
      }
      return absl::OkStatus();
    }
    operands_.push_back({name, std::move(shape)});
    return absl::OkStatus();
  }

  // The least and the greatest value of an index; notes the names in it.
  absl::Status Reach(const PyExpr& e, int64_t* low, int64_t* high) {
    if (e.kind == PyKind::kName) {
      KILN_ASSIGN_OR_RETURN(int64_t extent, Extent(e));
      const bool known = std::count(spatial_.begin(), spatial_.end(), e.text) ||
                         std::count(reduce_.begin(), reduce_.end(), e.text);
      if (!known) reduce_.push_back(e.text);
      *low = 0;
      *high = extent - 1;
      return absl::OkStatus();
    }
    if (python::IsIntegerLiteral(e)) {
      KILN_ASSIGN_OR_RETURN(*low, python::IntegerValue(source_, e));
      *high = *low;
      return absl::OkStatus();
    }
    if (e.kind != PyKind::kBinary) {
      return source_.Error(e.begin,
                           "an index is a sum of index names and "
                           "numbers with constant factors");
    }
    int64_t a_low, a_high, b_low, b_high;
    KILN_RETURN_IF_ERROR(Reach(e.items[0], &a_low, &a_high));
    KILN_RETURN_IF_ERROR(Reach(e.items[1], &b_low, &b_high));
    return Combine(e, {a_low, a_high}, {b_low, b_high}, low, high);
  }

  using Interval = std::pair<int64_t, int64_t>;

  absl::Status Combine(const PyExpr& e, Interval a, Interval b, int64_t* low,
                       int64_t* high) {
    bool ok = true;
    if (e.text == "+") {
      ok = FoldInt(ExprKind::kAdd, a.first, b.first, low) &&
           FoldInt(ExprKind::kAdd, a.second, b.second, high);
    } else if (e.text == "-") {
      ok = FoldInt(ExprKind::kSub, a.first, b.second, low) &&
           FoldInt(ExprKind::kSub, a.second, b.first, high);
    } else if (e.text == "*" && (a.first == a.second || b.first == b.second)) {
      int64_t x, y;
      ok = FoldInt(ExprKind::kMul, a.first, b.first, &x) &&
           FoldInt(ExprKind::kMul, a.second, b.second, &y);
      if (ok) *low = std::min(x, y), *high = std::max(x, y);
    } else {
      return source_.Error(e.begin, absl::StrCat("`", e.text,
                                                 "` cannot stand in an index "
                                                 "like this"));
    }
    const int64_t limit = std::numeric_limits<int64_t>::max() / 2;
    if (ok && *high < limit) return absl::OkStatus();
    return source_.Error(e.begin, "this index exceeds 64 bits");
  }

  absl::Status CheckAllUsed() const {
    for (const auto& [name, extent] : extents_) {
      if (std::count(spatial_.begin(), spatial_.end(), name) ||
          std::count(reduce_.begin(), reduce_.end(), name)) {
        continue;
      }
      return source_.Error(
          {1, 1}, absl::StrCat("the shape names index `", name,
                               "`, which stands nowhere in the formula"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckReduction(const python::Stmt& stmt) const {
    const bool sums = stmt.kind == python::StmtKind::kAugment;
    if (!sums && !reduce_.empty()) {
      return source_.Error(
          stmt.begin, absl::StrCat("index `", reduce_[0],
                                   "` does not stand on the left; write += to "
                                   "sum over it"));
    }
    if (sums && reduce_.empty()) {
      return source_.Error(stmt.begin,
                           "every index stands on the left, so "
                           "that there is nothing to sum over; "
                           "write =");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Module> Build(const PyExpr& right) {
    std::vector<te::Tensor> params;
    for (const Operand& operand : operands_) {
      std::vector<Expr> shape;
      for (int64_t extent : operand.shape) shape.push_back(Int(extent));
      params.push_back(te::Placeholder(shape, dtype_, operand.name));
      tensors_.emplace(operand.name, params.back());
    }
    std::vector<te::IterVar> axes;
    for (const std::string& name : reduce_) {
      axes.push_back(te::ReduceAxis(0, extents_.at(name), name));
      variables_[name] = axes.back().var();
    }
    std::vector<Expr> shape;
    for (const std::string& name : spatial_) {
      shape.push_back(Int(extents_.at(name)));
    }
    absl::Status status;
    te::ComputeOptions options;
    options.axes = spatial_;
    params.push_back(te::Compute(
        shape,
        [&](const std::vector<Expr>& indices) -> te::Value {
          for (size_t i = 0; i < spatial_.size(); ++i) {
            variables_[spatial_[i]] = indices[i];
          }
          absl::StatusOr<Expr> value = Formula(right);
          status = value.status();
          if (!value.ok()) return Constant(0, dtype_);
          return axes.empty() ? te::Value(*value) : te::Sum(*value, axes);
        },
        output_, options));
    KILN_RETURN_IF_ERROR(status);
    Module module;
    KILN_ASSIGN_OR_RETURN(Function f, te::CreatePrimFunc(params, "main"));
    module.functions.push_back(std::move(f));
    return module;
  }

  Expr Index(const PyExpr& e) const {
    if (e.kind == PyKind::kName) return variables_.at(e.text);
    if (e.kind != PyKind::kBinary) {
      return Int(python::IntegerValue(source_, e).value_or(0));
    }
    Expr a = Index(e.items[0]), b = Index(e.items[1]);
    if (e.text == "+") return Add(a, b);
    return e.text == "-" ? Sub(a, b) : Mul(a, b);
  }

  absl::StatusOr<Expr> Formula(const PyExpr& e) const {
    switch (e.kind) {
      case PyKind::kInt:
      case PyKind::kFloat: {
        KILN_ASSIGN_OR_RETURN(double value, python::FloatValue(source_, e));
        return Constant(value, dtype_);
      }
      case PyKind::kSubscript: {
        std::vector<Expr> indices;
        for (size_t i = 1; i < e.items.size(); ++i) {
          indices.push_back(Index(e.items[i]));
        }
        return tensors_.at(e.items[0].text)(std::move(indices));
      }
      case PyKind::kBinary:
        return BinaryFormula(e);
      case PyKind::kCall:
        return CallFormula(e);
      default:
        return source_.Error(
            e.begin, absl::StrCat(std::string(python::DescribeKind(e.kind)),
                                  " has no meaning in index notation"));
    }
  }

  absl::StatusOr<Expr> BinaryFormula(const PyExpr& e) const {
    KILN_ASSIGN_OR_RETURN(Expr a, Formula(e.items[0]));
    KILN_ASSIGN_OR_RETURN(Expr b, Formula(e.items[1]));
    if (e.text == "+") return Add(a, b);
    if (e.text == "-") return Sub(a, b);
    if (e.text == "*") return Mul(a, b);
    if (e.text == "/") return Binary(ExprKind::kDiv, a, b);
    return source_.Error(e.begin, absl::StrCat("`", e.text,
                                               "` is not known here; + - * / "
                                               "are"));
  }

  absl::StatusOr<Expr> CallFormula(const PyExpr& e) const {
    const std::string name = python::DottedName(e.items[0]);
    std::vector<Expr> args;
    for (size_t i = 1; i < e.items.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(Expr arg, Formula(e.items[i]));
      args.push_back(std::move(arg));
    }
    if (name == "max" && args.size() == 2) return Max(args[0], args[1]);
    if (name == "min" && args.size() == 2) return Min(args[0], args[1]);
    if (name == "exp" && args.size() == 1) {
      return Call(dtype_, Intrinsic::kExp, args);
    }
    if (name == "sqrt" && args.size() == 1) {
      return Call(dtype_, Intrinsic::kSqrt, args);
    }
    return source_.Error(e.begin,
                         "known calls are max(x, y), min(x, y), "
                         "exp(x) and sqrt(x)");
  }

  const python::Source& source_;
  const std::map<std::string, int64_t>& extents_;
  const DType dtype_;
  std::string output_;
  std::vector<std::string> spatial_, reduce_;
  std::vector<Operand> operands_;
  std::map<std::string, te::Tensor> tensors_;
  std::map<std::string, Expr> variables_;
};

}  // namespace

absl::StatusOr<std::map<std::string, int64_t>> ParseExtents(
    std::string_view text) {
  std::map<std::string, int64_t> extents;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(text), ',', absl::SkipWhitespace());
  for (const std::string& part : parts) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t extent = 0;
    const bool is_number = absl::SimpleAtoi(pair.second, &extent);
    if (pair.first.empty() || !is_number || extent < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape \"", std::string(text), "\": \"", part,
                       "\" is not NAME=EXTENT with an extent of at least 1"));
    }
    if (!extents.emplace(pair.first, extent).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape \"", std::string(text), "\": index ", pair.first,
                       " is given twice"));
    }
  }
  return extents;
}

absl::StatusOr<Module> ParseEinsum(
    std::string text, const std::map<std::string, int64_t>& extents,
    DType dtype) {
  const python::Source source("einsum", std::move(text));
  return EinsumReader(source, extents, dtype).Read();
}

}  // namespace kiln
