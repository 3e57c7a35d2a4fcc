// How much a function does: arithmetic, and elements of its arguments touched.
#ifndef KILN_IR_WORK_WORK_H_
#define KILN_IR_WORK_WORK_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A number; where it is not exact, an upper bound.
struct Count {
  double value = 0;
  bool exact = true;
};

// Of one call. FLOP are arithmetic operations on data, floats or integers: 1
// for each lane of + - * / // % min max and of each call such as exp or sqrt, 2
// for fma. Arithmetic on indices and in conditions, comparisons, choices,
// casts and copies are none. An iteration counts where its conditions hold
// (`if`, predicates, T.where), and of a choice the branch that is taken.
struct Work {
  // All operations that run.
  Count flop;
  // Those that have to: without a product of, and a sum with, an inserted zero.
  // An inserted zero is the constant branch of a choice by a condition on
  // iterators, such as padding, what a tensor of such holds, and products of
  // it.
  Count needed_flop;
  // Different elements of arguments: read before the function itself has
  // written them, and written.
  Count bytes_read, bytes_written;

  double bytes() const { return bytes_read.value + bytes_written.value; }
};

// Counts a function at any level; what a schedule makes of a program need not
// count the same, so count the program as it is written. Conditions on
// iterators are counted exactly by trying values, those on data are not. An
// extent that has no constant bound is an error.
absl::StatusOr<Work> CountWork(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_WORK_WORK_H_
