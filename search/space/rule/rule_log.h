// What rules tried in vain, for those who wonder why a schedule is not there.
#ifndef KILN_SEARCH_SPACE_RULE_RULE_LOG_H_
#define KILN_SEARCH_SPACE_RULE_RULE_LOG_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kiln {

// A schedule that a rule gave up, or a step that it went on without.
struct RuleRefusal {
  std::string rule;     // "register-tiling"
  std::string block;    // "Z"
  std::string attempt;  // "panels of 3 vectors"; empty: all that the rule does
  std::string reason;   // of the step that was refused; may have several lines
  bool goes_on = false;
  int times = 1;  // in as many schedules
};

// "register-tiling of Z, panels of 3 vectors, 2 times: REASON", where of
// several lines of the reason the first one counts.
std::string ToLine(const RuleRefusal& refusal);

class RuleLog {
 public:
  // What is refused from here on is refused to this rule for this block.
  void Enter(std::string_view rule, std::string_view block);
  // Does nothing where `why` is OK. Refusals that are alike become one.
  void GaveUp(std::string_view attempt, const absl::Status& why);
  void WentOn(std::string_view attempt, const absl::Status& why);

  const std::vector<RuleRefusal>& refusals() const { return refusals_; }

 private:
  void Add(std::string_view attempt, const absl::Status& why, bool goes_on);

  std::string rule_, block_;
  std::vector<RuleRefusal> refusals_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_RULE_LOG_H_
