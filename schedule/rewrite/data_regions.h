// Regions of blocks that touch what data says.
#ifndef KILN_SCHEDULE_REWRITE_DATA_REGIONS_H_
#define KILN_SCHEDULE_REWRITE_DATA_REGIONS_H_

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Makes whole each dimension of a region in which an access in or below the
// block has an index that depends on data, unless the region is that very
// index. To be called by what rewrites such indices or their regions: narrower
// bounds may hold for all the data that the original could be given, and then
// nothing in the result says so.
//
//   T.reads(A[0:2], R[vi])          T.reads(A[0:4], R[vi])
//   B[vi] = A[R[vi] // 2]       →   B[vi] = A[R[vi] // 2]      # A has 4
//
// T.reads(A[R[vi] // 2], R[vi]) stays.
void WidenOverData(BlockFields* fields);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_DATA_REGIONS_H_
