// Whether a block really stores all that it declares to write.
#ifndef KILN_SCHEDULE_ANALYSIS_STORES_H_
#define KILN_SCHEDULE_ANALYSIS_STORES_H_

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Whether each instance of `block` stores to every element of `written`, one of
// its declared writes, whatever the data:
//
//   T.writes(X[vi, vj])            T.writes(X[vi, vj])
//   X[vi, vj] = a                  if m[vi]: X[vi, vj] = a
//   true                           false: the rest keeps what it was
//
// Stores in both branches of a condition count, and so do those of loops and
// blocks inside that fill the region. What a block leaves to opaque calls or to
// views (match_buffer) is taken as declared. False also means "cannot tell".
bool StoresAll(const BlockNode& block, const BufferRegion& written);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_STORES_H_
