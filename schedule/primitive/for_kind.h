// parallel, vectorize, unroll, bind: how a loop runs.
//
//   for i in range(8): body   =>   for i in T.parallel(8): body
//
// The loop keeps its id. parallel, vectorize and bind refuse a loop whose
// iterations are not independent: below it stands an opaque block, a block
// that is neither complete nor a reduction, a reduce iterator that the loop
// moves (threadIdx may move one: the threads combine their parts), bindings
// that are not affine, spatial iterators that do not tell apart the elements
// that the block touches (see disjoint_writes in analysis/separation.h), or
// blocks that hand values from one iteration to another. A loop of one
// iteration is never refused so. bind also refuses unknown thread axes, and an
// axis that another loop around it has when the block writes memory of one
// thread.
#ifndef KILN_SCHEDULE_PRIMITIVE_FOR_KIND_H_
#define KILN_SCHEDULE_PRIMITIVE_FOR_KIND_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> Parallel(const Function& f, LoopId loop);
absl::StatusOr<Function> Vectorize(const Function& f, LoopId loop);
absl::StatusOr<Function> Unroll(const Function& f, LoopId loop);
// `thread_axis` is blockIdx.x, threadIdx.y, vthread, vthread.z, ...
absl::StatusOr<Function> Bind(const Function& f, LoopId loop,
                              std::string_view thread_axis);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_FOR_KIND_H_
