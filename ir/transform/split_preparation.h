// A function in two: what only concerns constant arguments, and the rest.
//
//   def main(x, w, y): attributes {"layout_free_buffers": [1]}
//       alloc panels
//       for ...: block "w_global": panels[...] = w[...]    # marked
//       for ...: block "y": y[...] += x[...] * panels[...]
//
// becomes
//
//   def main_prepare(w, panels)    once, when w is known
//   def main(x, panels, y)         in every call
//
// The marks are those of ir/tensor/layout_free.h.
#ifndef KILN_IR_TRANSFORM_SPLIT_PREPARATION_H_
#define KILN_IR_TRANSFORM_SPLIT_PREPARATION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Arguments of both functions come from one list: the arguments of the function
// that was split, then what is prepared.
struct SplitFunction {
  Function prepare;              // named as the function, with "_prepare"
  Function main;                 // has its name
  std::vector<Buffer> prepared;  // written by `prepare`, read by `main`
  // For each parameter, the position in that list.
  std::vector<int> prepare_args, main_args;
};

// Whether a block of the root scope of `f` is marked as a preparation.
bool HasPreparation(const Function& f);

// The same function with no block marked: all of it runs in every call.
Function WithoutPreparation(Function f);

// Splits a function that has a preparation. A constant argument that only the
// preparation reads is no parameter of `main`; what is prepared of it takes its
// place. kInvalidArgument where that is not possible, with the reason: a marked
// block uses what is not constant, or stands in loops with others, or writes
// what others write too, or the function declares views of its buffers.
absl::StatusOr<SplitFunction> SplitPreparation(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_SPLIT_PREPARATION_H_
