// Calls are matched by callee and variable, ops by what becomes of their calls:
//
//   before                after
//   dense  y   2 us       dense  y   1 us      dense: 2 calls, 4 us before,
//   dense  z   2 us       dense  z   1 us        2 us after, 2.00 times as fast
//   relu   w   3 us                            relu w: missing
//
// An op some of whose calls are matched and some not is in both lists, so that
// times before and after are always of the same calls.
#include "kiln/tools/reporting/compare_profiles.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/support/columns.h"

namespace kiln::report {
namespace {

// The calls of a profile that have no partner yet.
class Unmatched {
 public:
  explicit Unmatched(const Profile& profile) : calls_(profile.calls) {
    for (size_t i = calls_.size(); i-- > 0;) {
      open_[KeyOf(calls_[i])].push_back(i);
    }
  }

  // The first one with the names of `call`, which is taken; null: none.
  const ProfiledCall* Take(const ProfiledCall& call) {
    std::vector<size_t>& open = open_[KeyOf(call)];
    if (open.empty()) return nullptr;
    const size_t at = open.back();
    open.pop_back();
    taken_.insert(at);
    return &calls_[at];
  }

  std::vector<LoneCall> Rest() const {
    std::vector<LoneCall> rest;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!taken_.count(i)) rest.push_back({calls_[i], false});
    }
    return rest;
  }

 private:
  using Key = std::pair<std::string, std::string>;
  static Key KeyOf(const ProfiledCall& call) {
    return {call.callee, call.variable};
  }

  const std::vector<ProfiledCall>& calls_;
  std::map<Key, std::vector<size_t>> open_;  // the first one last
  std::set<size_t> taken_;
};

void Add(double before_s, double after_s, OpChange* change) {
  ++change->calls;
  change->before_s += before_s;
  change->after_s += after_s;
}

void Match(const Profile& before, const Profile& after,
           ProfileComparison* result) {
  Unmatched open(before);
  std::map<std::string, OpChange> ops;
  for (const ProfiledCall& call : after.calls) {
    const ProfiledCall* const partner = open.Take(call);
    if (!partner) {
      result->alone.push_back({call, true});
      continue;
    }
    OpChange& op = ops[call.callee];
    op.name = call.callee;
    Add(partner->seconds, call.seconds, &op);
    Add(partner->seconds, call.seconds, &result->matched);
  }
  for (LoneCall& missing : open.Rest()) {
    result->alone.push_back(std::move(missing));
  }
  for (auto& [name, op] : ops) result->ops.push_back(std::move(op));
  std::sort(result->ops.begin(), result->ops.end(),
            [](const OpChange& a, const OpChange& b) {
              return std::pair(-a.before_s, a.name) <
                     std::pair(-b.before_s, b.name);
            });
}

// "" where either is not known, or both are the same.
std::string DifferenceOf(const std::string& what, const std::string& before,
                         const std::string& after) {
  if (before.empty() || after.empty() || before == after) return "";
  return absl::StrCat(what, ": ", before, " before, ", after, " after");
}

std::vector<std::string> WarningsOf(const Profile& before, const Profile& after,
                                    int matched) {
  const auto threads = [](const Profile& profile) {
    return profile.threads > 0 ? absl::StrCat(profile.threads) : "";
  };
  std::vector<std::string> warnings;
  for (const std::string& difference :
       {DifferenceOf("other machines, whose times do not compare", before.cpu,
                     after.cpu),
        DifferenceOf("other numbers of threads", threads(before),
                     threads(after)),
        DifferenceOf("other targets", before.target, after.target),
        DifferenceOf("other functions", before.function, after.function)}) {
    if (!difference.empty()) warnings.push_back(difference);
  }
  if (matched == 0) {
    warnings.push_back(
        "no call has a partner of the same callee and variable: profiles of "
        "different models, or of one that was fused in another way");
  }
  return warnings;
}

std::string SpeedupText(const OpChange& change) {
  return change.Speedup() > 0 ? absl::StrFormat("%.3f", change.Speedup()) : "";
}

std::string SumText(const std::string& what, const OpChange& change) {
  const std::string speedup = SpeedupText(change);
  return absl::StrCat(what, ": ", Duration(change.before_s), " before, ",
                      Duration(change.after_s), " after",
                      speedup.empty() ? "" : ", ", speedup,
                      speedup.empty() ? "" : " times as fast");
}

// What is summed up, from the whole down to what compares best.
std::vector<std::string> SumsOf(const ProfileComparison& c) {
  std::vector<std::string> sums;
  if (c.run.before_s > 0 && c.run.after_s > 0) {
    sums.push_back(SumText("whole run", c.run));
  }
  sums.push_back(SumText("all calls", c.all));
  if (!c.alone.empty() && c.matched.calls > 0) {
    sums.push_back(
        SumText(absl::StrCat("the ", c.matched.calls,
                             c.matched.calls == 1 ? " call" : " calls",
                             " that both have"),
                c.matched));
  }
  return sums;
}

std::string Style(double speedup) {
  if (speedup == 0) return "quiet";
  return speedup >= 1 ? "faster" : "slower";
}

std::string HtmlRow(const OpChange& op) {
  return absl::StrCat(
      "<tr>", NameCell(op.name), NumberCell(absl::StrCat(op.calls)),
      NumberCell(Duration(op.before_s)), NumberCell(Duration(op.after_s)),
      NumberCell(absl::StrCat("<span class=\"", Style(op.Speedup()), "\">",
                              SpeedupText(op), "</span>")),
      "</tr>\n");
}

std::string LoneHtml(const std::vector<LoneCall>& alone) {
  if (alone.empty()) return "";
  std::string rows;
  for (const LoneCall& lone : alone) {
    absl::StrAppend(&rows, "<tr>", NameCell(lone.call.callee),
                    NameCell(lone.call.variable), "<td>", lone.state(), "</td>",
                    NumberCell(Duration(lone.call.seconds)), "</tr>\n");
  }
  return absl::StrCat(
      "<details><summary>", alone.size(),
      alone.size() == 1 ? " call" : " calls",
      " that one of the two has</summary>\n<table><thead><tr><th>op</th>"
      "<th>variable</th><th>state</th>",
      NumberHead("time"), "</tr></thead><tbody>\n", rows,
      "</tbody></table>\n</details>\n");
}

std::string ChangesHtml(const ProfileComparison& c) {
  if (c.ops.empty()) return "";
  std::string rows;
  for (const OpChange& op : c.ops) rows += HtmlRow(op);
  return absl::StrCat("<table><thead><tr><th>op</th>", NumberHead("calls"),
                      NumberHead("before"), NumberHead("after"),
                      NumberHead("speedup"), "</tr></thead><tbody>\n", rows,
                      "</tbody></table>\n");
}

}  // namespace

double OpChange::Speedup() const {
  return before_s > 0 && after_s > 0 ? before_s / after_s : 0;
}

ProfileComparison CompareProfiles(const ProfileData& before,
                                  const ProfileData& after) {
  ProfileComparison result;
  Match(before.profile, after.profile, &result);
  result.all.before_s = before.seconds;
  result.all.after_s = after.seconds;
  result.run.before_s = before.profile.run_s;
  result.run.after_s = after.profile.run_s;
  result.warnings =
      WarningsOf(before.profile, after.profile, result.matched.calls);
  return result;
}

std::string ComparisonText(const ProfileComparison& comparison) {
  constexpr size_t kName = 40;
  std::string text =
      absl::StrFormat("%s %6s %10s %10s %9s\n", FitColumns("Op", kName),
                      "Calls", "Before us", "After us", "Speedup");
  const std::string rule(text.size() - 1, '-');
  absl::StrAppend(&text, rule, "\n");
  for (const OpChange& op : comparison.ops) {
    absl::StrAppendFormat(&text, "%s %6d %10.2f %10.2f %9s\n",
                          FitColumns(op.name, kName), op.calls,
                          op.before_s * 1e6, op.after_s * 1e6, SpeedupText(op));
  }
  for (const LoneCall& lone : comparison.alone) {
    const std::string us = absl::StrFormat("%.2f", lone.call.seconds * 1e6);
    absl::StrAppendFormat(
        &text, "%s %6d %10s %10s %9s\n",
        FitColumns(absl::StrCat(lone.call.callee, " ", lone.call.variable),
                   kName),
        1, lone.is_new ? "" : us, lone.is_new ? us : "", lone.state());
  }
  absl::StrAppend(&text, rule, "\n");
  for (const std::string& sum : SumsOf(comparison)) {
    absl::StrAppend(&text, sum, "\n");
  }
  for (const std::string& warning : comparison.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  return text;
}

std::string ComparisonHtml(const ProfileComparison& comparison,
                           const std::string& against) {
  std::string html =
      absl::StrCat("<section>\n<h3>Against ", Escape(against), "</h3>\n");
  for (const std::string& sum : SumsOf(comparison)) {
    absl::StrAppend(&html, "<p>", Escape(sum), "</p>\n");
  }
  for (const std::string& warning : comparison.warnings) {
    absl::StrAppend(&html, "<p class=\"slower\">", Escape(warning), "</p>\n");
  }
  return absl::StrCat(html, ChangesHtml(comparison), LoneHtml(comparison.alone),
                      "</section>\n");
}

}  // namespace kiln::report
