// Reductions along contiguous elements, done in vectors.
#ifndef KILN_SEARCH_SPACE_RULE_VECTOR_REDUCTION_H_
#define KILN_SEARCH_SPACE_RULE_VECTOR_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// An iterator of a block and the innermost loop that moves it.
struct IterLoop {
  bool reduce = false;
  std::optional<Rv> loop;  // none: the iterator stands still
};

// Of all iterators of `block`, in their order, with loops among the `skip`
// outermost left out.
absl::StatusOr<std::vector<IterLoop>> LoopsOfIters(Schedule* sch, int function,
                                                   Rv block, size_t skip);

// Vectorizes the loop of the last iterator of `block`, `lanes` at a time.
absl::Status VectorizeLastIter(Schedule* sch, int function, Rv block,
                               size_t skip, const Arg& lanes);

// The widest vectors of a row of `extent` elements. One that is open may end at
// any place of a vector, and lowering makes a copy of the last one for each.
int64_t WidestVector(int64_t extent, const RuleContext& context);

// A reduction as a chain of blocks: partial results in several vectors, their
// sum in one, that in four elements, and these in the result:
//
//   for k in 100:  C[i] += A[i, k]
//     →
//   for k0 in 2, v in 64:  P[i, v] += A[i, k0*64 + v]
//   for k1 in 4, v in 16:  Q[i, v] += P[i, k1*16 + v]
//   for k2 in 4, v in 4:   R[i, v] += Q[i, k2*4 + v]
//   for k3 in 4:           C[i] += R[i, k3]
class VectorReduction {
 public:
  // Of the reduction `block` to a tensor of `dims` dimensions, whose innermost
  // loop, of the extent `extent` or more, reduces contiguous elements. There
  // are other blocks in its `skip` outermost loops. How many vectors there are
  // is sampled. The context outlives the chain.
  static absl::StatusOr<VectorReduction> Make(Schedule* sch, Rv block, int dims,
                                              size_t skip, int64_t extent,
                                              const RuleContext& context);

  absl::Status Vectorize(Schedule* sch) const;

 private:
  absl::Status Factor(Schedule* sch, const Arg& width);

  const RuleContext* context_ = nullptr;
  int dims_ = 0;
  size_t skip_ = 0;
  Rv last_;
  std::vector<Rv> partial_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_VECTOR_REDUCTION_H_
