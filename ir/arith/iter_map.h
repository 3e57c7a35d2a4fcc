// Affine iterator maps: whether bindings such as (i0*8 + i1, k) visit each
// point at most once, how they split into outer and inner parts, and how to
// invert them. After the quasi-affine maps of TensorIR.
#ifndef KILN_IR_ARITH_ITER_MAP_H_
#define KILN_IR_ARITH_ITER_MAP_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

struct LoopRange {
  Var var;
  Range range;
};

// How strictly a map must cover its image.
enum class IterMapLevel {
  kInjective,   // no two points of the loops give the same values
  kSurjective,  // the same: what is injective uses every loop in full
  kBijective,   // both, and each value covers a dense range from 0
  kNoCheck      // only that every binding is quasi-affine
};

// Whether `bindings` over `loops` where `predicate` holds form a map of the
// level. The message of the failure names the binding and the reason.
absl::Status CheckIterMap(const std::vector<Expr>& bindings,
                          const std::vector<LoopRange>& loops,
                          const Expr& predicate, IterMapLevel level);

// Rewrites bindings into a shorter equal form that uses what the iterator map
// knows: (f // 4) * 4 + f % 4 becomes f.
std::vector<Expr> SimplifyIterMap(const std::vector<Expr>& bindings,
                                  const std::vector<LoopRange>& loops,
                                  const Expr& predicate);

// For bindings that are bijective over the loops: each loop variable as an
// expression of `outputs` (one for each binding). nullopt when they are not.
std::optional<std::vector<Expr>> InvertIterMap(
    const std::vector<Expr>& bindings, const std::vector<LoopRange>& loops,
    const std::vector<Expr>& outputs);

// Splits each binding into outer * inner_extent + inner, where inner uses only
// `inner_loops` and outer the others. nullopt when a binding does not split.
struct SubspaceSplit {
  Expr outer, outer_extent;
  Expr inner, inner_extent;
};
std::optional<std::vector<SubspaceSplit>> DivideSubspace(
    const std::vector<Expr>& bindings, const std::vector<LoopRange>& loops,
    const std::vector<Var>& inner_loops, const Expr& predicate);

}  // namespace kiln

#endif  // KILN_IR_ARITH_ITER_MAP_H_
