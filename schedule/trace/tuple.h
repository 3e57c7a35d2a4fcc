// The candidates of sample_tuple: lists of integers, as long as each other.
#ifndef KILN_SCHEDULE_TRACE_TUPLE_H_
#define KILN_SCHEDULE_TRACE_TUPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/schedule/trace/arg.h"

namespace kiln {

// Whether `arg` is such candidates: none, or some of one number at least.
bool AreTuples(const Arg& arg);

std::vector<int64_t> ValuesOfTuple(const Arg& candidate);

// The first candidate of these values; nullopt where there is none.
std::optional<size_t> IndexOfTuple(const ArgList& candidates,
                                   const std::vector<int64_t>& values);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_TUPLE_H_
