// Which iterators of a block tell apart the elements that its instances touch,
// so that the order of instances does not count.
#ifndef KILN_SCHEDULE_ANALYSIS_SEPARATION_H_
#define KILN_SCHEDULE_ANALYSIS_SEPARATION_H_

#include <cstddef>
#include <optional>
#include <string>

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// An annotation of a block with the value True: its author knows that instances
// which differ in spatial iterators write different elements and read none that
// others write, where that cannot be proved (indices from data, say).
inline constexpr char kDisjointWrites[] = "disjoint_writes";
bool IsMarkedDisjoint(const BlockNode& block);

// Whether two instances that differ in iterator number `iter` touch different
// elements of every buffer that the block writes, as its regions tell:
//
//   X[vi, S[vj]] = a           vi does, vj does not
//   X[vi, vj] = X[vi, vj - 1]  vi does, vj does not
//   X[vi + vj] = a             neither does
//   X[vi * 4 + vj] = a         both do, where vj < 4
//
// False also means "cannot tell".
bool SeparatesInstances(const BlockNode& block, size_t iter);

// Why some spatial iterator (of more than one value) does not.
std::optional<std::string> WhyInstancesMeet(const BlockNode& block);

// Whether the block only combines values with what an element held, by sums,
// products, minima or maxima of one kind for each buffer: the order of its
// instances then decides no more than how results are rounded.
bool CombinesInAnyOrder(const BlockNode& block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_SEPARATION_H_
