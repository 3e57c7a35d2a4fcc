// What a tile needs only when its sums are done. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_EPILOGUE_H_
#define KILN_CODEGEN_LOWER_AUTO_EPILOGUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Consecutive elements from `first` on that a statement reads or writes.
struct LateAccess {
  Buffer buffer;
  Expr first;
  int64_t bytes = 0;
  bool writes = false;
};

// Of the stores that follow statement `nest` of `seq`, down to the next loop:
// what they read and write of buffers that the nest itself does not use, in
// order.
//
//   for k in 256: acc[0:8] = acc[0:8] + A[k] * B[k*8 : k*8 + 8]
//   C[i*8 : i*8 + 8] = acc[0:8] + R[i*8 : i*8 + 8]     R is read, C written
std::vector<LateAccess> AccessesAfter(const SeqNode& seq, size_t nest);

// Bytes that a nest of loops stores, in all iterations. Loops of unknown extent
// count as one iteration.
int64_t BytesStored(const Stmt& nest);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_EPILOGUE_H_
