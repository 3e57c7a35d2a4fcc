// Filling the padding that a new layout brings.
#ifndef KILN_SCHEDULE_REWRITE_LAYOUT_PADDING_H_
#define KILN_SCHEDULE_REWRITE_LAYOUT_PADDING_H_

#include <optional>
#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

// A tensor on its way to a new shape, which holds padding.
struct PaddedLayout {
  Buffer before, after;
  std::vector<Var> points;  // stand for the new indices below
  IndexMapInverse inverse;  // over the points
  Expr value;               // of padding, over the points
};

bool HasStores(const Stmt& s, const Buffer& buffer);

// The body with the loops that write the tensor replaced by loops over the new
// shape, whose stores choose between the padding's value and their own. Other
// accesses keep their old indices. nullopt unless the stores all stand in one
// nest that runs through the tensor in order, has no other effect and stands in
// no further block.
std::optional<Stmt> ReplaceWriter(const Stmt& body, const PaddedLayout& layout,
                                  Function* f);

// The body with a block after the last writer that writes the padding.
Stmt AppendPaddingBlock(const Stmt& body, const PaddedLayout& layout,
                        Function* f);

// The body after a block that assumes that the padding holds its value.
Stmt PrependAssumption(const Stmt& body, const PaddedLayout& layout,
                       Function* f);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_LAYOUT_PADDING_H_
