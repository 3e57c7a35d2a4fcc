// Lambdas of schedule functions.
#ifndef KILN_SCHEDULE_TRACE_SCRIPT_LAMBDA_H_
#define KILN_SCHEDULE_TRACE_SCRIPT_LAMBDA_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/arg.h"

namespace kiln {

// `lambda` as an index map. Its body is an expression or a tuple or list of
// them (or a list of pairs of them), over its parameters, numbers, and integers
// of `names`; operators are
// + - * // % and unary minus, functions T.floordiv, T.floormod, T.min, T.max
// and type names such as T.int64.
absl::StatusOr<Arg> ReadIndexMap(const python::Source& source,
                                 const python::Expr& lambda,
                                 const std::map<std::string, Arg>& names);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SCRIPT_LAMBDA_H_
