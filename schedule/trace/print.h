// Traces as text, the way TVM prints them:
//
//   # from tvm import tir
//   def apply_trace(sch: tir.Schedule) -> None:
//     b0 = sch.get_block(name="C", func_name="main")
//     l1, l2, l3 = sch.get_loops(block=b0)
//     v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, ..., decision=[8, 16])
//
// Random variables are named by kind and by order of appearance. Open
// decisions are left out, so that what is printed is a space again.
#ifndef KILN_SCHEDULE_TRACE_PRINT_H_
#define KILN_SCHEDULE_TRACE_PRINT_H_

#include <string>

#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

// Ends with a newline.
std::string ToText(const Trace& trace);

// "lambda i, j: (i // v4, i % v4, j,)". `name` gives the names of random
// variables.
std::string ToText(const IndexMapArg& map,
                   FunctionRef<std::string(const Rv&)> name);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_PRINT_H_
