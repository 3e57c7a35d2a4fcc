// A call of a primitive in a schedule function.
#ifndef KILN_SCHEDULE_TRACE_SCRIPT_CALL_H_
#define KILN_SCHEDULE_TRACE_SCRIPT_CALL_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {

struct ScriptCall {
  const python::Source& source;
  const python::Expr& call;  // of the form sch.primitive(...)
  std::vector<Arg> positional;
  std::map<std::string, Arg> named;

  // Binds the arguments to the parameters of the primitive and carries it
  // out. Gives None, one random variable, or a list of them.
  absl::StatusOr<Arg> Run(Schedule* schedule);

 private:
  absl::Status Error(const std::string& message) const;
  absl::Status Refused(const absl::Status& status) const;
  absl::StatusOr<std::vector<Arg>> Bind(const InstructionKind& kind);
  absl::StatusOr<Arg> BindOne(const InstructionKind& kind, size_t param,
                              size_t* next);
  absl::StatusOr<Decision> BindDecision(const InstructionKind& kind);
  // A block in place of its name.
  absl::Status NameBlock(Schedule* schedule, Arg* arg) const;
  absl::Status Convert(const ParamInfo& param, Schedule* schedule, Arg* arg);
};

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SCRIPT_CALL_H_
