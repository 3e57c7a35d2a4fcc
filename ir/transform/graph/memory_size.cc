// Intervals with symbolic ends, from the leaves up. With n of at most 20 and m
// of at most 5, both extents:
//
//   n - m            [0 - 5, 20 - 0]
//   max(n - m, 1)    [1, 20]
//   n * k            [0, 20 * k]        where k is an extent without a bound
#include "kiln/ir/transform/graph/memory_size.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/info/info.h"

namespace kiln {
namespace {

constexpr char kUpper[] = "tir_var_upper_bound";
constexpr char kLower[] = "tir_var_lower_bound";
constexpr char kNonNegative[] = "tir_non_negative_var";

using Bounds = std::map<std::string, int64_t>;

absl::StatusOr<Bounds> ReadBounds(const AttrMap& attrs, const char* name) {
  Bounds bounds;
  const auto found = attrs.find(name);
  if (found == attrs.end()) return bounds;
  const AttrMap* map = found->second.map();
  for (const auto& [dim, attr] : map ? *map : AttrMap()) {
    const int64_t* value = attr.expr() ? AsInt(*attr.expr()) : nullptr;
    if (value) bounds[dim] = *value;
    if (!value) map = nullptr;
    if (!map) break;
  }
  if (map) return bounds;
  return absl::InvalidArgumentError(absl::StrCat(
      name, " has to give an integer for each name of a dimension"));
}

absl::Status AddNonNegative(const AttrMap& attrs, Bounds* lower) {
  const auto found = attrs.find(kNonNegative);
  if (found == attrs.end()) return absl::OkStatus();
  const AttrList* list = found->second.list();
  for (const Attr& attr : list ? *list : AttrList()) {
    if (!attr.string()) {
      list = nullptr;
      break;
    }
    lower->emplace(*attr.string(), 0);
  }
  if (list) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(kNonNegative, " has to be a list of names of dimensions"));
}

Expr BoundOf(const Bounds& bounds, const Var& var) {
  const auto found = bounds.find(var.name());
  return found == bounds.end() ? Expr() : Int(found->second, var.dtype());
}

bool IsNotNegative(const Expr& e) {
  const int64_t* value = e ? AsInt(e) : nullptr;
  return value && *value >= 0;
}

}  // namespace

absl::StatusOr<DimBounds> DimBounds::Create(const graph::FunctionNode& f) {
  KILN_ASSIGN_OR_RETURN(const Bounds upper, ReadBounds(f.attrs, kUpper));
  KILN_ASSIGN_OR_RETURN(Bounds lower, ReadBounds(f.attrs, kLower));
  KILN_RETURN_IF_ERROR(AddNonNegative(f.attrs, &lower));
  DimBounds bounds;
  for (const graph::Var& param : f.params) {
    if (!param->info) continue;
    const bool has_extents = param->info.As<graph::TensorInfo>() != nullptr;
    for (const Var& var : graph::DefinedScalars(param->info)) {
      Interval known{BoundOf(lower, var), BoundOf(upper, var)};
      if (has_extents && !IsNotNegative(known.min)) {
        known.min = Int(0, var.dtype());
      }
      if (!known.max) known.max = var;
      bounds.dims_[var.get()] = known;
    }
  }
  return bounds;
}

Expr DimBounds::Largest(const Expr& e, Analyzer& analyzer) const {
  return Of(e, analyzer).max;
}

// What is not looked into is its own upper end.
DimBounds::Interval DimBounds::Of(const Expr& e, Analyzer& analyzer) const {
  Interval of;
  if (e.As<IntImmNode>()) of = {e, e};
  if (const auto* var = e.As<VarNode>()) {
    const auto found = dims_.find(var);
    if (found != dims_.end()) of = found->second;
  } else if (const auto* cast = e.As<CastNode>()) {
    of = Of(cast->value, analyzer);
    if (of.min) of.min = Cast(e.dtype(), of.min);
    of.max = Cast(e.dtype(), of.max);
  } else if (const auto* binary = e.As<BinaryNode>()) {
    of = OfBinary(binary->kind, Of(binary->a, analyzer),
                  Of(binary->b, analyzer));
  }
  if (of.min) of.min = analyzer.Simplify(of.min);
  of.max = of.max ? analyzer.Simplify(of.max) : e;
  return of;
}

DimBounds::Interval DimBounds::OfBinary(ExprKind kind, const Interval& a,
                                        const Interval& b) {
  const bool have_min = a.min && b.min;
  switch (kind) {
    case ExprKind::kAdd:
      return {have_min ? Add(a.min, b.min) : Expr(), Add(a.max, b.max)};
    case ExprKind::kSub:
      return {a.min ? Sub(a.min, b.max) : Expr(),
              b.min ? Sub(a.max, b.min) : Expr()};
    case ExprKind::kMin:
      return {have_min ? Min(a.min, b.min) : Expr(), Min(a.max, b.max)};
    case ExprKind::kMax:
      return {have_min ? Max(a.min, b.min) : Expr(), Max(a.max, b.max)};
    case ExprKind::kMul:
      return OfProduct(a, b);
    case ExprKind::kFloorDiv:
      return OfQuotient(a, b);
    case ExprKind::kFloorMod:
      if (!IsNotNegative(b.min)) return {};
      return {Int(0, b.max.dtype()), Sub(b.max, Int(1, b.max.dtype()))};
    default:
      return {};
  }
}

DimBounds::Interval DimBounds::OfProduct(const Interval& a, const Interval& b) {
  if (!IsNotNegative(a.min) || !IsNotNegative(b.min)) return {};
  return {Mul(a.min, b.min), Mul(a.max, b.max)};
}

DimBounds::Interval DimBounds::OfQuotient(const Interval& a,
                                          const Interval& b) {
  const int64_t* divisor = b.min ? AsInt(b.max) : nullptr;
  const bool is_constant = divisor && *divisor > 0 && IsConst(b.min, *divisor);
  if (!is_constant) return {};
  return {a.min ? FloorDiv(a.min, b.max) : Expr(), FloorDiv(a.max, b.max)};
}

Expr LargestBytes(const std::vector<Expr>& extents, DType dtype,
                  const DimBounds& bounds, Analyzer& analyzer) {
  Expr bytes = Int(dtype.bytes());
  for (const Expr& extent : extents) {
    bytes = Mul(bytes, Cast(DType::Index(), bounds.Largest(extent, analyzer)));
  }
  return analyzer.Simplify(bytes);
}

}  // namespace kiln
