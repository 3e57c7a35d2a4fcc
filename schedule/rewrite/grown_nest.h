// Nests whose iterators run over more than they did, and what they then write.
#ifndef KILN_SCHEDULE_REWRITE_GROWN_NEST_H_
#define KILN_SCHEDULE_REWRITE_GROWN_NEST_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {

// The domain of a block's iterators, afterwards.
struct GrownDomain {
  std::vector<Expr> extents;
  std::vector<bool> grows;  // by iterator
  bool Changes() const;
  // Whether the expression uses an iterator that grows.
  bool IsUsedIn(const BlockNode& block, const Expr& e) const;
};

// The domain with extent i rounded up to a multiple of padding[i]. Refuses
// paddings below 1 or of another number than the iterators, and iterators that
// would grow and have no loop of their own.
absl::StatusOr<GrownDomain> RoundUpDomain(const PrivateNest& target,
                                          const std::vector<int64_t>& padding,
                                          std::string_view primitive);

// The shape of the tensor where the dimensions that iterators which grow index
// grow with them. Refuses indices that use such an iterator and are not that
// iterator over the whole of the dimension.
absl::StatusOr<std::vector<Expr>> GrownShape(const BlockNode& block,
                                             const GrownDomain& domain,
                                             const ElementAccess& access,
                                             std::string_view primitive);

// Refuses a spatial iterator that grows and is no index of the output: it would
// run the block again over the same elements.
absl::Status CheckIndexesOutput(const BlockNode& block,
                                const GrownDomain& domain,
                                const ElementAccess& output,
                                std::string_view primitive);

// Refuses a float reduction that grows where numerics are strict: a term of
// padding makes a number of what was a NaN, in a maximum.
absl::Status CheckNoNewTerms(const Function& f, const BlockNode& block,
                             const GrownDomain& domain,
                             std::string_view primitive);

// Refuses integer divisions by a tensor's elements or other values that are not
// constant: they may be 0 outside of the domain before.
absl::Status CheckDivisions(const BlockNode& block, std::string_view primitive);

// The loops of `target` over the domain, around the block of these fields.
Stmt GrownNest(const PrivateNest& target, const GrownDomain& domain,
               BlockFields fields);

// to[v0, ..] = padded[v0, ..] for all of `to`.
Stmt CopyBackNest(const Buffer& padded, const Buffer& to, Function* f);

// Iterators v0, v1, .. over the shape, and them as indices.
std::vector<IterVar> ItersOver(const std::vector<Expr>& shape);
std::vector<Expr> VarsOf(const std::vector<IterVar>& iters);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_GROWN_NEST_H_
