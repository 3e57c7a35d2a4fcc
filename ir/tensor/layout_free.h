// Constant arguments, weights say, whose layout is ours to choose: they may be
// brought into another one once, ahead of all calls.
//
//   @T.prim_func
//   def dense(x: T.Buffer(...), w: T.Buffer(...), y: T.Buffer(...)):
//       T.func_attr({"layout_free_buffers": [1]})
//
// says so of the argument w, counting from 0. A schedule marks the blocks that
// do it; ir/transform/split_preparation.h takes them out.
#ifndef KILN_IR_TENSOR_LAYOUT_FREE_H_
#define KILN_IR_TENSOR_LAYOUT_FREE_H_

#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function: a list of positions among its parameters.
inline constexpr char kLayoutFreeBuffers[] = "layout_free_buffers";
// Of a function with the value True: when it is called, its layout-free
// arguments lie in memory, since constants of the same model that are read
// between two calls have pushed them out of every cache.
inline constexpr char kColdConstants[] = "cold_constants";
// Of a function whose preparations ran ahead: a list of positions of parameters
// that lie in memory for the same reason, prepared ones among them.
inline constexpr char kColdParams[] = "cold_params";
// Of a block with the value True: it depends on layout-free arguments alone,
// and brings them into another layout or into sums.
inline constexpr char kLayoutPreparation[] =
    "meta_schedule.layout_rewrite_preproc";

// The positions that the attribute of `f` lists, in its order; none where it
// has no such attribute. Those of no tensor parameter, which verification
// refuses, are left out.
std::vector<int> LayoutFreeParams(const Function& f);
// Whether `buffer` is such a parameter.
bool IsLayoutFree(const Function& f, const Buffer& buffer);
// Marks parameters of `f`.
void SetLayoutFree(Function* f, const std::vector<int>& params);

bool HasColdConstants(const Function& f);
// The positions of the parameters that lie in memory when `f` is called, by
// either attribute.
std::vector<int> ColdParams(const Function& f);
void SetColdParams(Function* f, const std::vector<int>& params);

bool IsLayoutPreparation(const BlockNode& block);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_LAYOUT_FREE_H_
