// Expressions of schedule functions that need no schedule.
#ifndef KILN_SCHEDULE_TRACE_SCRIPT_VALUES_H_
#define KILN_SCHEDULE_TRACE_SCRIPT_VALUES_H_

#include <optional>
#include <string>

#include "kiln/schedule/trace/arg.h"

namespace kiln {

// a op b for integers, also sampled ones, and lists (+). nullopt where the
// operands do not fit or the result has no value.
std::optional<Arg> ArgBinary(const std::string& op, const Arg& a, const Arg& b);

// list[index], where a negative index counts from the end.
std::optional<Arg> ArgItem(const Arg& list, int64_t index);

// list[begin:end]
std::optional<Arg> ArgSlice(const Arg& list, std::optional<int64_t> begin,
                            std::optional<int64_t> end);

// Whether a value has at most 10000 parts, none deeper than 200. A few lines
// that double a list can ask for more than any machine holds.
bool IsSmall(const Arg& arg);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SCRIPT_VALUES_H_
