// Rewriting several values at once.
//
//   // Products of one input become fields of one product.
//   RewriteBindings(f, both, [&](const Match& match, graph::Emitter& emit) {
//     const graph::Expr weights = emit.Emit(CallOp("concat", {TupleOf(
//         {match.at(w1), match.at(w2)})}, {{"axis", Int(1)}}));
//     const graph::Expr product =
//         emit.Emit(CallOp("matmul", {match.at(x), weights}, ...));
//     const graph::Expr parts = emit.Emit(CallOp("split", {product}, ...));
//     return Replacements{{match.at(query), Item(parts, 0)},
//                         {match.at(key), Item(parts, 1)}};
//   });
#ifndef KILN_IR_PATTERN_REWRITE_BINDINGS_H_
#define KILN_IR_PATTERN_REWRITE_BINDINGS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/pattern/pattern_context.h"

namespace kiln {

// Variables that the block binds, and what they are bound to from now on.
using Replacements = std::vector<std::pair<graph::Expr, graph::Expr>>;

// What stands for a match; none to leave it as it is. What the replacements
// need besides is emitted.
using BindingsRule =
    FunctionRef<Replacements(const Match& match, graph::Emitter& emit)>;

struct BindingsOptions {
  // Gives new bindings struct info: called on the function as it has become
  // when nothing matches any more, after which all is matched again. Without
  // it, patterns that look at struct info do not match what is new.
  std::function<absl::StatusOr<graph::GraphFunction>(
      const graph::GraphFunction&)>
      infer;
  // Outside of dataflow blocks, stretches of values that are pure are blocks,
  // too. Without it, only dataflow blocks are looked at.
  std::function<bool(const graph::Expr& value)> is_pure;
};

// Rewrites what the context matches in each block, of nested functions and
// branches too, until nothing matches. The bindings of a block are ordered
// anew where that is needed; a match whose replacement would need its own
// results is left. What only the replaced values needed goes, casts aside.
//
// InvalidArgument where a variable is replaced that the block does not bind, or
// by a value that uses it; ResourceExhausted where the rule does not come to an
// end: after kMostRewrites, and 16 more for each binding of the function.
absl::StatusOr<graph::GraphFunction> RewriteBindings(
    const graph::GraphFunction& f, const PatternContext& context,
    BindingsRule rule, const BindingsOptions& options = {});

inline constexpr int64_t kMostRewrites = 1000;

}  // namespace kiln

#endif  // KILN_IR_PATTERN_REWRITE_BINDINGS_H_
