// Recorded graph functions, and what Kiln makes of them.
//
// A line of a file of cases is a JSON object with `id` and `source`. A case of
// inference has `op`, `module` and `outcome`: "same" (with the annotations
// taken off, inference finds those that the text states) or "refuse" (the call
// is ill-typed). A case of a pass has `pass`, `before` and `after`.
#ifndef KILN_TESTS_CONFORMANCE_GRAPH_CASE_H_
#define KILN_TESTS_CONFORMANCE_GRAPH_CASE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

struct GraphCase {
  std::string id, source;
  std::string name;  // of the op or the pass
  std::string before, after;
  bool is_inference = false;
  bool refuses = false;
};

// All lines of the text. Errors name the line.
absl::StatusOr<std::vector<GraphCase>> ParseGraphCases(std::string_view text);

enum class GraphVerdict {
  kSame,       // as recorded
  kRefused,    // refused, as recorded
  kDifferent,  // other struct info, or accepted where it is ill-typed
  kUnread,     // not read, or changed by printing or writing and reading again
  kNotApplicable,  // a pass that is not there, or whose parameters are unknown
  kFailed,         // a pass that gives an error
};

struct GraphResult {
  GraphVerdict verdict = GraphVerdict::kSame;
  std::string detail;
};

GraphResult RunGraphCase(const GraphCase& c);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_GRAPH_CASE_H_
