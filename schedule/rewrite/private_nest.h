// Blocks whose iterators run with loops of their own.
#ifndef KILN_SCHEDULE_REWRITE_PRIVATE_NEST_H_
#define KILN_SCHEDULE_REWRITE_PRIVATE_NEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {

// A block and the loops around it that hold nothing else.
struct PrivateNest {
  Path path;       // to the block
  size_t top = 0;  // in the path: the outermost of the loops, or the block
  std::vector<const ForNode*> loops;  // outermost first
  const BlockRealizeNode& realize() const { return *path.realize(); }
  const BlockNode& block() const { return *realize().block; }
  // The loop whose variable is the value of iterator `i`; nullptr when it is
  // none of these.
  const ForNode* LoopOf(size_t i) const;
};

absl::StatusOr<PrivateNest> FindPrivateNest(const Function& f, BlockId block,
                                            std::string_view primitive);

// Refuses unless each iterator is the variable of one of the loops, all
// different, and both run from 0 to the same end (or the iterator has one
// value), and the loops are plain and move an iterator (or run once).
absl::Status CheckLoopsAreIters(const PrivateNest& target,
                                std::string_view primitive);

// And unless there is no condition.
absl::Status CheckPrivateNest(const PrivateNest& target,
                              std::string_view primitive);

// `base`, or that with a number behind it: a name that no block has, so that
// blocks can be found by it.
std::string UnusedBlockName(const Function& f, const std::string& base);

// The loops again, around `body`. extents[i] is the end of the loop of iterator
// i; null where that stays.
Stmt LoopsAround(const PrivateNest& target, Stmt body,
                 const std::vector<Expr>& extents);

// The function with `nests`, one after the other, in place of the loops and the
// block, and with `buffers` allocated by the block around.
Function ReplaceNest(Function f, const PrivateNest& target,
                     std::vector<Stmt> nests,
                     const std::vector<Buffer>& buffers);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_PRIVATE_NEST_H_
