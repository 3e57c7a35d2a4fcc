// Tensors that a block touches at one element in each instance.
#ifndef KILN_SCHEDULE_REWRITE_ELEMENT_ACCESS_H_
#define KILN_SCHEDULE_REWRITE_ELEMENT_ACCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// A tensor of a block that is to be staged, and where the block stands.
struct ElementAccess {
  Path block;
  Path scope;  // ends in the enclosing block
  Buffer buffer;
  std::vector<Expr> indices;   // over the iterators of the block
  std::vector<IterVar> iters;  // those that the indices name, in order
  const BlockNode& node() const { return *block.realize()->block; }
  const BlockNode& scope_node() const { return *scope.realize()->block; }
};

// The tensor number `index` that the block reads or writes. Refuses blocks
// with blocks, tensors or views inside, other accesses than to one element
// that only spatial and reduce iterators choose, iterators that do not start
// at 0, and reading a tensor that the block itself writes; a block that adds
// to what it writes has to have an init.
absl::StatusOr<ElementAccess> FindElementAccess(const Function& f,
                                                BlockId block, int index,
                                                bool is_write,
                                                std::string_view primitive);

// Whether something in the block may keep it from an access to the tensor:
// statements, and before a read conditions inside of what is stored.
bool HasConditions(const BlockNode& block, const Buffer& buffer, bool is_write);
// Whether the indices are within the tensor for all values of the iterators.
bool IsWithin(const ElementAccess& access);
// Whether different values of `iters` choose different elements.
bool IsInjective(const ElementAccess& access);
// Whether the block, run for all values of its iterators, touches every
// element: each index is an iterator of its own over the whole of the
// dimension, and no condition stands before the access.
bool TouchesAll(const ElementAccess& access, bool is_write);
// Why the block does not run for all values of its iterators, each once.
Reason WhyNotWholeDomain(const ScopeBlock& block);

// The block with its accesses to the tensor led to `to` at `indices`.
Block Redirect(const ElementAccess& access, const Buffer& to,
               const std::vector<Expr>& indices);

// A block with `iters` (their variables replaced by new ones) that stores
// from[from_indices] to to[to_indices].
Block CopyBlock(BlockId id, std::string name, std::vector<IterVar> iters,
                const Buffer& from, std::vector<Expr> from_indices,
                const Buffer& to, std::vector<Expr> to_indices);
// Loops over the whole domains around a block whose iterators start at 0.
Stmt LoopsOverDomains(Block block, Function* f);

// The buffers like `buffer` in other memory, for staging.
Buffer StagingBuffer(const Buffer& buffer, std::string name,
                     std::vector<Expr> shape, const std::string& scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_ELEMENT_ACCESS_H_
