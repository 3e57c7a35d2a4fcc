// Most layouts take each index apart into digits of a mixed radix:
//
//   j // 48, j % 48       digits 48 and 1 of j
//
// Digits whose strides follow each other put the index together again:
// j = d0 * 48 + d1. What the box of digits holds beyond the extent of j is
// padding, at the end or, where a constant was added, at the start.
#include "kiln/schedule/rewrite/index_map.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

// One output as (base + offset) // stride % modulus; modulus 0: none.
struct Digit {
  Expr base;
  int64_t offset = 0, stride = 1, modulus = 0;
  size_t output = 0;
};

// The digits of one base, by falling stride.
struct Number {
  Expr base;
  std::vector<Digit> digits;
};

std::optional<Digit> DivideDigit(Digit digit, int64_t divisor) {
  if (digit.modulus == 0) {
    if (!FoldInt(ExprKind::kMul, digit.stride, divisor, &digit.stride)) {
      return std::nullopt;
    }
    return digit;
  }
  if (digit.modulus % divisor != 0) return std::nullopt;
  digit.modulus /= divisor;
  digit.stride *= divisor;
  return digit;
}

std::optional<Digit> ModuloDigit(Digit digit, int64_t divisor) {
  if (digit.modulus != 0 && digit.modulus % divisor != 0) return std::nullopt;
  digit.modulus = divisor;
  return digit;
}

std::optional<Digit> ParseDigit(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  const int64_t* constant = node ? AsInt(node->b) : nullptr;
  if (!constant) return Digit{e};
  const bool divides = node->kind == ExprKind::kFloorDiv;
  if (divides || node->kind == ExprKind::kFloorMod) {
    const auto inner = ParseDigit(node->a);
    if (!inner || *constant <= 0) return std::nullopt;
    return divides ? DivideDigit(*inner, *constant)
                   : ModuloDigit(*inner, *constant);
  }
  if (node->kind == ExprKind::kAdd && *constant >= 0) {
    return Digit{node->a, *constant};
  }
  return Digit{e};
}

Domains DomainsOf(const IndexMap& map, const std::vector<Expr>& shape) {
  Domains domains;
  for (size_t i = 0; i < shape.size(); ++i) {
    domains[map.inputs[i].get()] = {Int(0), shape[i]};
  }
  return domains;
}

void BindInputs(const IndexMap& map, const std::vector<Expr>& shape,
                Analyzer* analyzer) {
  for (size_t i = 0; i < shape.size(); ++i) {
    analyzer->Bind(map.inputs[i], Range{Int(0), shape[i]});
  }
}

absl::Status NotInjective(std::string reason) {
  return absl::FailedPreconditionError(
      absl::StrCat("the map cannot be shown to keep indices apart: ", reason));
}

class Inversion {
 public:
  Inversion(const IndexMap& map, const std::vector<Expr>& shape,
            const std::vector<Var>& points)
      : map_(map), shape_(shape), points_(points) {
    BindInputs(map, shape, &analyzer_);
  }

  absl::StatusOr<IndexMapInverse> Run() {
    absl::StatusOr<IndexMapInverse> result = ByDigits();
    if (result.ok()) return result;
    if (std::optional<IndexMapInverse> other = ByBijection()) return *other;
    return result;
  }

 private:
  bool UsesInputs(const Expr& e) const {
    return UsesVar(e, [&](const VarNode* var) {
      return std::any_of(map_.inputs.begin(), map_.inputs.end(),
                         [&](const Var& input) { return input.get() == var; });
    });
  }

  std::vector<LoopRange> Loops() const {
    std::vector<LoopRange> loops;
    for (size_t i = 0; i < shape_.size(); ++i) {
      loops.push_back({map_.inputs[i], {Int(0), shape_[i]}});
    }
    return loops;
  }

  // A bijection onto the box from 0: nothing is padding.
  std::optional<IndexMapInverse> ByBijection() {
    std::vector<Expr> outputs, values;
    for (size_t i = 0; i < map_.outputs.size(); ++i) {
      if (!UsesInputs(map_.outputs[i])) {
        if (!IsZero(map_.outputs[i])) return std::nullopt;
        continue;
      }
      outputs.push_back(map_.outputs[i]);
      values.push_back(points_[i]);
    }
    const auto inverse = InvertIterMap(outputs, Loops(), values);
    if (!inverse) return std::nullopt;
    return IndexMapInverse{*inverse, Bool(false)};
  }

  absl::Status Collect() {
    for (size_t i = 0; i < map_.outputs.size(); ++i) {
      const Expr& output = map_.outputs[i];
      if (!UsesInputs(output)) {
        AddPadding(BinaryOrNull(ExprKind::kNE, points_[i], output));
        continue;
      }
      std::optional<Digit> digit = ParseDigit(output);
      if (!digit) {
        return NotInjective(absl::StrCat("output ", i, " is no digit"));
      }
      digit->output = i;
      NumberOf(digit->base)->digits.push_back(*digit);
    }
    return absl::OkStatus();
  }

  Number* NumberOf(const Expr& base) {
    for (Number& number : numbers_) {
      if (SameExpr(number.base, base)) return &number;
    }
    numbers_.push_back({base, {}});
    return &numbers_.back();
  }

  // The base plus its offset from its digits; checks that none is missing.
  absl::StatusOr<Expr> Compose(Number* number) {
    auto& digits = number->digits;
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
      return a.stride > b.stride;
    });
    Expr sum = Int(0);
    int64_t expected = 0;
    for (size_t i = 0; i < digits.size(); ++i) {
      Digit& digit = digits[i];
      const bool is_last = i + 1 == digits.size();
      const bool fits = i == 0 ? DropModulus(&digit)
                               : digit.modulus > 0 &&
                                     digit.stride * digit.modulus == expected;
      if (!fits || digit.offset != digits[0].offset ||
          (is_last && digit.stride != 1)) {
        return NotInjective("a part of an index is lost or kept twice");
      }
      expected = digit.stride;
      sum = Add(sum, Mul(points_[digit.output], Int(digit.stride)));
    }
    return sum;
  }

  // The highest digit holds all that is left of the number.
  bool DropModulus(Digit* digit) {
    if (digit->modulus == 0) return true;
    const Expr quotient =
        FloorDiv(Add(digit->base, Int(digit->offset)), Int(digit->stride));
    return analyzer_.CanProveLess(quotient, Int(digit->modulus));
  }

  void AddPadding(const Expr& condition) {
    if (!condition) return;
    padding_ = padding_ ? Or(padding_, condition) : condition;
  }

  Expr BinaryOrNull(ExprKind kind, const Expr& a, const Expr& b) {
    return IsZero(b) ? Expr() : Binary(kind, a, b);
  }

  // Points whose number is at or after `end`, said by the highest digit and
  // the rest of them where that is possible.
  Expr AtOrAfter(const Number& number, const Expr& sum, const Expr& end) {
    const Digit& top = number.digits[0];
    const int64_t* value = AsInt(end);
    if (!value || number.digits.size() < 2) return LE(end, sum);
    const int64_t rest = *value % top.stride;
    if (rest == 0) return nullptr;
    Expr low = Int(0);
    for (size_t i = 1; i < number.digits.size(); ++i) {
      const Digit& digit = number.digits[i];
      low = Add(low, Mul(points_[digit.output], Int(digit.stride)));
    }
    return And(EQ(points_[top.output], Int(*value / top.stride)),
               LE(Int(rest), low));
  }

  absl::StatusOr<Expr> ExtentOf(const Expr& base) {
    if (const auto* var = base.As<VarNode>()) {
      for (size_t i = 0; i < shape_.size(); ++i) {
        if (map_.inputs[i].get() == var) return shape_[i];
      }
    }
    const IntSet set = EvalSet(base, DomainsOf(map_, shape_), &analyzer_);
    if (!set.IsBounded() || !IsZero(set.min)) {
      return NotInjective("an index does not start at 0");
    }
    return analyzer_.Simplify(Add(set.max, Int(1)));
  }

  // The inputs from the values of the bases.
  absl::StatusOr<std::vector<Expr>> Solve(const std::vector<Expr>& values) {
    std::vector<Expr> inputs(shape_.size());
    std::vector<Expr> bases, wanted;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const auto* var = numbers_[i].base.As<VarNode>();
      const auto input =
          std::find_if(map_.inputs.begin(), map_.inputs.end(),
                       [&](const Var& v) { return v.get() == var; });
      if (input != map_.inputs.end()) {
        inputs[input - map_.inputs.begin()] = values[i];
      } else {
        bases.push_back(numbers_[i].base);
        wanted.push_back(values[i]);
      }
    }
    std::vector<LoopRange> left;
    std::vector<size_t> positions;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]) continue;
      if (IsOne(shape_[i])) {
        inputs[i] = Int(0);
        continue;
      }
      positions.push_back(i);
      left.push_back({map_.inputs[i], {Int(0), shape_[i]}});
    }
    if (left.empty() && bases.empty()) return inputs;
    const auto inverse = InvertIterMap(bases, left, wanted);
    if (!inverse) {
      return NotInjective(left.empty()
                              ? "an index occurs in two ways"
                              : absl::StrCat("`", left[0].var.name(),
                                             "` does not follow from them"));
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      inputs[positions[i]] = (*inverse)[i];
    }
    return inputs;
  }

  absl::StatusOr<IndexMapInverse> ByDigits() {
    KILN_RETURN_IF_ERROR(Collect());
    std::vector<Expr> values;
    for (Number& number : numbers_) {
      KILN_ASSIGN_OR_RETURN(Expr sum, Compose(&number));
      KILN_ASSIGN_OR_RETURN(Expr extent, ExtentOf(number.base));
      const Expr offset = Int(number.digits[0].offset);
      AddPadding(
          AtOrAfter(number, sum, analyzer_.Simplify(Add(extent, offset))));
      if (!IsZero(offset)) AddPadding(LT(sum, offset));
      values.push_back(IsZero(offset) ? sum : Sub(sum, offset));
    }
    KILN_ASSIGN_OR_RETURN(std::vector<Expr> inputs, Solve(values));
    return IndexMapInverse{std::move(inputs),
                           padding_ ? padding_ : Bool(false)};
  }

  const IndexMap& map_;
  const std::vector<Expr>& shape_;
  const std::vector<Var>& points_;
  Analyzer analyzer_;
  std::vector<Number> numbers_;
  Expr padding_;
};

}  // namespace

bool IsIdentity(const IndexMap& map) {
  return std::equal(map.inputs.begin(), map.inputs.end(), map.outputs.begin(),
                    map.outputs.end(),
                    [](const Var& a, const Expr& b) { return b == a; });
}

std::vector<Expr> MapIndices(const IndexMap& map,
                             const std::vector<Expr>& indices,
                             Analyzer* analyzer) {
  VarMap values;
  for (size_t i = 0; i < indices.size(); ++i) {
    values[map.inputs[i].get()] = indices[i];
  }
  std::vector<Expr> mapped;
  for (const Expr& output : map.outputs) {
    const Expr e = Substitute(output, values);
    mapped.push_back(output.As<VarNode>() ? e : analyzer->Simplify(e));
  }
  return mapped;
}

namespace {

absl::StatusOr<std::vector<Expr>> OutputExtents(const IndexMap& map,
                                                const std::vector<Expr>& shape,
                                                Analyzer* known) {
  Analyzer& analyzer = *known;
  const Domains domains = DomainsOf(map, shape);
  std::vector<Expr> extents;
  for (const Expr& output : map.outputs) {
    const auto input = std::find(map.inputs.begin(), map.inputs.end(), output);
    if (input != map.inputs.end()) {
      extents.push_back(analyzer.Simplify(shape[input - map.inputs.begin()]));
      continue;
    }
    const IntSet set = EvalSet(analyzer.Simplify(output), domains, &analyzer);
    if (!set.IsBounded()) {
      return absl::InvalidArgumentError("an output of the map has no bound");
    }
    if (!analyzer.CanProveLessEqual(Int(0), set.min)) {
      return absl::InvalidArgumentError("an output of the map may be negative");
    }
    extents.push_back(analyzer.Simplify(Add(set.max, Int(1))));
  }
  return extents;
}

// A map is written as a lambda, which knows nothing but its parameters.
absl::Status CheckVariables(const IndexMap& map) {
  for (const Expr& output : map.outputs) {
    std::string stranger;
    Visit(output, [&](const Expr& e) {
      const auto* var = e.As<VarNode>();
      const bool known =
          !var || std::any_of(map.inputs.begin(), map.inputs.end(),
                              [&](const Var& in) { return in.get() == var; });
      if (!known) stranger = var->name;
      return stranger.empty();
    });
    if (!stranger.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the map names `", stranger, "`, which is none of its parameters"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// A space without points has none, whatever the other extents are: those of
// the inputs count as positive.
absl::StatusOr<std::vector<Expr>> MapShape(const IndexMap& map,
                                           const std::vector<Expr>& shape) {
  KILN_RETURN_IF_ERROR(CheckVariables(map));
  Analyzer analyzer;
  BindInputs(map, shape, &analyzer);
  std::vector<Analyzer::Assumption> held;
  for (const Expr& extent : shape) {
    if (!AsInt(extent)) held.push_back(analyzer.Assume(LT(Int(0), extent)));
  }
  auto extents = OutputExtents(map, shape, &analyzer);
  while (!held.empty()) held.pop_back();
  return extents;
}

std::vector<Range> MapRanges(const IndexMap& map,
                             const std::vector<Range>& region,
                             Analyzer* analyzer) {
  Domains domains;
  std::vector<Expr> points;
  for (const Range& range : region) {
    points.push_back(range.min);
    if (IsOne(range.extent)) continue;
    Var offset("r");
    domains[offset.get()] = {Int(0), range.extent};
    analyzer->Bind(offset, Range{Int(0), range.extent});
    points.back() = IsZero(range.min) ? Expr(offset) : Add(range.min, offset);
  }
  const std::vector<Expr> mapped = MapIndices(map, points, analyzer);
  if (domains.empty()) return PointRegion(mapped);
  std::vector<Range> result;
  for (const Expr& e : mapped) {
    const auto range = ToRange(EvalSet(e, domains, analyzer), analyzer);
    result.push_back(range ? *range : Range{nullptr, nullptr});
  }
  return result;
}

absl::StatusOr<IndexMapInverse> InvertIndexMap(const IndexMap& map,
                                               const std::vector<Expr>& shape,
                                               const std::vector<Var>& points) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Expr> extents, MapShape(map, shape));
  return InvertIndexMap(map, shape, extents, points);
}

absl::StatusOr<IndexMapInverse> InvertIndexMap(const IndexMap& map,
                                               const std::vector<Expr>& shape,
                                               const std::vector<Expr>& extents,
                                               const std::vector<Var>& points) {
  KILN_ASSIGN_OR_RETURN(IndexMapInverse inverse,
                        Inversion(map, shape, points).Run());
  Analyzer analyzer;
  for (size_t i = 0; i < points.size(); ++i) {
    analyzer.Bind(points[i], Range{Int(0), extents[i]});
  }
  inverse.is_padding = analyzer.Simplify(inverse.is_padding);
  for (Expr& input : inverse.inputs) input = analyzer.Simplify(input);
  return inverse;
}

}  // namespace kiln
