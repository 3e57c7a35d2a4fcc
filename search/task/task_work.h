// How much one call of a tuned function does, and what its time makes of it.
#ifndef KILN_SEARCH_TASK_TASK_WORK_H_
#define KILN_SEARCH_TASK_TASK_WORK_H_

#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Counted by ir/work on the program as its author wrote it.
struct TaskWork {
  double flop = 0;  // that one call needs; 0: none, or not known
  // With those of products of, and sums with, inserted zeros (padding).
  double flop_as_written = 0;
  double bytes = 0;       // of arguments that one call touches; 0: not known
  bool is_bound = false;  // the numbers are upper bounds
  bool normwise = false;  // errors that are small beside the largest elements

  // GFLOP/s and GB/s of a call that takes so long.
  double Gflops(double nanoseconds) const;
  double Gbs(double nanoseconds) const;
};

// Zeros where a function cannot be counted: extents without constant bounds.
TaskWork TaskWorkOf(const Function& f);

// "12.30 GFLOP/s, 4.56 GB/s", with "at most" before bounds, without what is not
// known.
std::string RatesText(const TaskWork& work, double nanoseconds);

// What the numbers leave out: "normwise errors allowed", "6.5 of 26.2 MFLOP are
// counted: ...". Empty where there is nothing to say; parts by "; ".
std::string WorkNotes(const TaskWork& work);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_TASK_WORK_H_
