// Recorded cases of what another compiler did with a schedule, and what Kiln
// makes of them.
//
// A line of a file of cases is a JSON object: `id` and `source`; the module
// `before`; `steps`, a schedule function; `outcome`: "same", with the module
// `after`, or "refuse". `primitives`, where given, are the primitives in the
// steps. `peer_us`, where given, is how long the other compiler's kernel took.
#ifndef KILN_TESTS_CONFORMANCE_CASE_H_
#define KILN_TESTS_CONFORMANCE_CASE_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct ScheduleCase {
  std::string id, source, before, steps, after;
  bool refuses = false;              // the outcome
  std::set<std::string> primitives;  // in the steps, look-ups left out
  double peer_us = 0;
};

// All lines of the text. Errors name the line.
absl::StatusOr<std::vector<ScheduleCase>> ParseCases(std::string_view text);

enum class CaseVerdict {
  kSame,       // the same program
  kRefused,    // the last step refuses, as it should
  kDifferent,  // another program, or refused where it should not be
  kWrong,      // computes something else than the program before
  kSkipped     // uses a primitive that Kiln does not have
};

struct CaseResult {
  CaseVerdict verdict = CaseVerdict::kSkipped;
  // The first difference, the refusal, or the primitive that is missing.
  std::string detail;
  // What --execute did: "interpreted", "compiled", or why it could not run.
  std::string execution;
  bool executed = false;
};

struct CaseOptions {
  bool execute = false;
  uint64_t seed = 0;
};

// A refusal agrees only where `before` is read, every step but the last is
// carried out, and the last says no with a reason of its own.
CaseResult RunCase(const ScheduleCase& c, const CaseOptions& options);

// The module after the steps.
absl::StatusOr<Module> ReplayCase(const ScheduleCase& c);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_CASE_H_
