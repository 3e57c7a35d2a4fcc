// Schedule functions as text: carries out a straight-line Python function over
// a schedule.
//
//   def stochastic_schedule_mm(sch):
//     block_C = sch.get_block("C", "main")
//     i, j, k = sch.get_loops(block=block_C)
//     j_factors = sch.sample_perfect_tile(loop=j, n=2)
//     j_0, j_1 = sch.split(loop=j, factors=j_factors)
//     sch.reorder(i, j_0, k, j_1)
//     sch.decompose_reduction(block_C, k)
//     return sch
//
// Read are: assignments with tuple, list and starred targets; calls of
// primitives by position or keyword, with *lists; lists, tuples, dictionaries,
// None, numbers, strings; indexing and slicing of lists, and len; arithmetic
// on integers, sampled ones too; lambdas for index maps; a block by its name
// where a block is wanted. Printed traces are such functions. A function whose
// name begins with an underscore is private: it is there to be called by the
// others of its file, as `_tile(sch, i, factor=4)`. Everything else is an error
// that points at it. No Python interpreter takes part.
//
// A sample_* call without a decision is sampled with the seed of the schedule;
// OpenDecisions(sch.trace()) is then the space that the text describes.
#ifndef KILN_SCHEDULE_TRACE_SCRIPT_H_
#define KILN_SCHEDULE_TRACE_SCRIPT_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {

// Whether the statement defines a function that only others of its file call.
bool IsPrivateFunction(const python::Stmt& s);

// Runs the function called `name`, or the only public one when `name` is empty,
// or the statements of the file when it has no function. Errors of the text are
// InvalidArgument; refusals keep their code. Both point at the place.
absl::Status RunScript(const python::Source& source, Schedule* schedule,
                       std::string_view name = "");

// Whether an error of RunScript is what a step said, for its arguments or for
// the program that it was given, and not a fault of the text.
bool IsRefusedStep(const absl::Status& status);
// The line of the text where that step stands.
std::optional<int> RefusedLine(const absl::Status& status);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SCRIPT_H_
