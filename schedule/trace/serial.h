// Traces to and from protobuf.
#ifndef KILN_SCHEDULE_TRACE_SERIAL_H_
#define KILN_SCHEDULE_TRACE_SERIAL_H_

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/trace.h"
#include "kiln/schedule/trace/trace.pb.h"

namespace kiln {

inline constexpr uint32_t kTraceVersion = 1;

// Random variables are numbered anew, in order of creation.
TraceProto ToProto(const Trace& trace);

// Checked in full: an unknown version or instruction, arguments that do not
// fit and random variables that nothing makes are InvalidArgument.
absl::StatusOr<Trace> FromProto(const TraceProto& proto);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SERIAL_H_
