// A domain grows by extents that are rounded up. Tensors indexed by one
// iterator over a whole dimension grow with it; all else is refused, as the
// elements that new iterations touch would not be told.
#include "kiln/schedule/rewrite/grown_nest.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// The extent rounded up; null where that has no 64 bits.
Expr RoundUp(const Expr& extent, int64_t unit) {
  int64_t sum = 0;
  const int64_t* known = AsInt(extent);
  if (unit < 1 || !FoldInt(ExprKind::kAdd, known ? *known : 0, unit, &sum)) {
    return nullptr;
  }
  const Expr of = Int(unit, extent.dtype());
  const Expr up = Int(unit - 1, extent.dtype());
  return Analyzer().Simplify(Mul(FloorDiv(Add(extent, up), of), of));
}

// The iterator that is the index `e`; -1 when it is another expression.
int IterOf(const BlockNode& block, const Expr& e) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].var == e) return static_cast<int>(i);
  }
  return -1;
}

bool IsIntegerDivision(ExprKind kind) {
  return kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod ||
         kind == ExprKind::kTruncDiv || kind == ExprKind::kTruncMod;
}

}  // namespace

bool GrownDomain::Changes() const {
  return std::find(grows.begin(), grows.end(), true) != grows.end();
}

bool GrownDomain::IsUsedIn(const BlockNode& block, const Expr& e) const {
  for (size_t i = 0; i < grows.size(); ++i) {
    if (grows[i] && UsesVar(e, block.iters[i].var)) return true;
  }
  return false;
}

absl::StatusOr<GrownDomain> RoundUpDomain(const PrivateNest& target,
                                          const std::vector<int64_t>& padding,
                                          std::string_view primitive) {
  const std::vector<IterVar>& iters = target.block().iters;
  if (padding.size() != iters.size()) {
    return BadArgument(
        primitive, absl::StrCat(padding.size(), " paddings for ", iters.size(),
                                " iterators of ", Describe(target.block())));
  }
  GrownDomain domain;
  Analyzer analyzer;
  for (size_t i = 0; i < iters.size(); ++i) {
    const Expr& extent = iters[i].domain.extent;
    domain.extents.push_back(RoundUp(extent, padding[i]));
    if (!domain.extents.back()) {
      return BadArgument(primitive, absl::StrCat("padding ", padding[i],
                                                 " is below 1 or too large"));
    }
    domain.grows.push_back(
        !analyzer.CanProveEqual(domain.extents.back(), extent));
    if (domain.grows.back() && !target.LoopOf(i)) {
      return Refusal(primitive,
                     absl::StrCat("no loop runs over `", iters[i].var.name(),
                                  "` of ", Describe(target.block())));
    }
  }
  return domain;
}

absl::StatusOr<std::vector<Expr>> GrownShape(const BlockNode& block,
                                             const GrownDomain& domain,
                                             const ElementAccess& access,
                                             std::string_view primitive) {
  std::vector<Expr> shape = access.buffer->shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Expr& index = access.indices[d];
    if (!domain.IsUsedIn(block, index)) continue;
    const int iter = IterOf(block, index);
    if (iter < 0 ||
        !Analyzer().CanProveEqual(shape[d], block.iters[iter].domain.extent)) {
      return Refusal(
          primitive,
          absl::StrCat("index ", d, " of `", access.buffer->name, "` in ",
                       Describe(block),
                       " is not one iterator over the whole of the dimension"));
    }
    shape[d] = domain.extents[iter];
  }
  return shape;
}

absl::Status CheckIndexesOutput(const BlockNode& block,
                                const GrownDomain& domain,
                                const ElementAccess& output,
                                std::string_view primitive) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (!domain.grows[i] || iter.type != IterType::kSpatial) continue;
    if (std::count(output.indices.begin(), output.indices.end(), iter.var)) {
      continue;
    }
    return Refusal(primitive,
                   absl::StrCat("`", iter.var.name(), "` indexes no output of ",
                                Describe(block)));
  }
  return absl::OkStatus();
}

absl::Status CheckNoNewTerms(const Function& f, const BlockNode& block,
                             const GrownDomain& domain,
                             std::string_view primitive) {
  if (!IsStrict(f) || !block.writes[0].buffer->dtype.is_float()) {
    return absl::OkStatus();
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!domain.grows[i] || block.iters[i].type == IterType::kSpatial) continue;
    return Refusal(
        primitive,
        absl::StrCat("terms of padding were added in ", Describe(block),
                     ", which numerics \"strict\" forbids"),
        "pad spatial iterators only");
  }
  return absl::OkStatus();
}

absl::Status CheckDivisions(const BlockNode& block,
                            std::string_view primitive) {
  bool safe = true;
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* node = e.As<BinaryNode>();
    if (node && IsIntegerDivision(node->kind) && !AsInt(node->b)) safe = false;
    return safe;
  });
  return safe ? absl::OkStatus()
              : Refusal(primitive,
                        absl::StrCat(Describe(block),
                                     " divides integers by what may be "
                                     "padding"));
}

Stmt GrownNest(const PrivateNest& target, const GrownDomain& domain,
               BlockFields fields) {
  std::vector<Expr> extents(domain.grows.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!domain.grows[i]) continue;
    extents[i] = domain.extents[i];
    fields.iters[i].domain.extent = domain.extents[i];
  }
  return LoopsAround(target, WithBlock(target.realize(), std::move(fields)),
                     extents);
}

Stmt CopyBackNest(const Buffer& padded, const Buffer& to, Function* f) {
  const std::vector<IterVar> iters = ItersOver(to->shape);
  return LoopsOverDomains(CopyBlock(f->NewId(), padded->name, iters, padded,
                                    VarsOf(iters), to, VarsOf(iters)),
                          f);
}

std::vector<IterVar> ItersOver(const std::vector<Expr>& shape) {
  std::vector<IterVar> iters;
  for (const Expr& extent : shape) {
    iters.push_back({Var(absl::StrCat("v", iters.size())),
                     {Int(0), extent},
                     IterType::kSpatial});
  }
  return iters;
}

std::vector<Expr> VarsOf(const std::vector<IterVar>& iters) {
  std::vector<Expr> vars;
  for (const IterVar& iter : iters) vars.push_back(iter.var);
  return vars;
}

}  // namespace kiln
