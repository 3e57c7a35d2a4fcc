// A schedule as calls of the C++ interface.
#ifndef KILN_SEARCH_SPACE_CPP_SCHEDULE_H_
#define KILN_SEARCH_SPACE_CPP_SCHEDULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

// A function that does what the trace did, for schedule/trace/schedule.h:
//
//   absl::Status ApplyTrace(Schedule& sch) {
//     KILN_ASSIGN_OR_RETURN(std::vector<Rv> r0,
//                           sch.Apply("get_block", {"C", "main"}));
//     KILN_ASSIGN_OR_RETURN(std::vector<Rv> r1,
//                           sch.Apply("get_loops", {r0[0]}));
//     ...
//
// Decisions of samples are given. kUnimplemented for an index map over what is
// no arithmetic on integers.
absl::StatusOr<std::string> CppText(const Trace& trace);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_CPP_SCHEDULE_H_
