#include "kiln/search/space/rule/rule_log.h"

#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace kiln {

std::string ToLine(const RuleRefusal& refusal) {
  std::string line = absl::StrCat(refusal.rule, " of ", refusal.block);
  if (!refusal.attempt.empty()) absl::StrAppend(&line, ", ", refusal.attempt);
  if (refusal.times > 1) absl::StrAppend(&line, ", ", refusal.times, " times");
  if (refusal.goes_on) absl::StrAppend(&line, ", goes on without");
  return absl::StrCat(line, ": ",
                      refusal.reason.substr(0, refusal.reason.find('\n')));
}

void RuleLog::Enter(std::string_view rule, std::string_view block) {
  rule_ = rule;
  block_ = block;
}

void RuleLog::GaveUp(std::string_view attempt, const absl::Status& why) {
  Add(attempt, why, /*goes_on=*/false);
}

void RuleLog::WentOn(std::string_view attempt, const absl::Status& why) {
  Add(attempt, why, /*goes_on=*/true);
}

void RuleLog::Add(std::string_view attempt, const absl::Status& why,
                  bool goes_on) {
  if (why.ok()) return;
  const RuleRefusal refusal = {rule_, block_, std::string(attempt),
                               std::string(why.message()), goes_on};
  const auto key = [](const RuleRefusal& r) {
    return std::tie(r.rule, r.block, r.attempt, r.reason, r.goes_on);
  };
  const auto known = absl::c_find_if(
      refusals_, [&](const RuleRefusal& r) { return key(r) == key(refusal); });
  if (known == refusals_.end()) {
    refusals_.push_back(refusal);
  } else {
    ++known->times;
  }
}

}  // namespace kiln
