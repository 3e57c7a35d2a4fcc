// Which rules made a measured program: its trace is located among the designs
// that the rules make of the function, and each design knows which steps are
// whose. A variant is what one rule did to one block; a program counts in one
// variant of each place that any design has:
//
//   rule             block   what it did                     trials    best
//   register-tiling  C       split, reorder, ..                  40    10 us
//   register-tiling  C       not used                            24    31 us
//
// Splits count as the same whatever sampled factors they have, but not where
// rules fixed them ("split 48"). A program that no design holds, as one of a
// schedule from a file, counts under the names of the steps in its trace.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/reporting/insight.h"

namespace kiln::report {
namespace {

// Constant factors of a split: "split 48"; of others the name.
std::string StepName(const Instruction& step) {
  std::string name(step.kind->name);
  if (name != "split") return name;
  for (const Arg& arg : step.args) {
    if (!arg.list()) continue;
    for (const Arg& factor : *arg.list()) {
      if (factor.integer()) absl::StrAppend(&name, " ", *factor.integer());
    }
  }
  return name;
}

bool IsLookup(const Instruction& step) {
  return step.kind->is_pure || step.kind->samples;
}

// The steps of a rule in order, each once.
std::string StepsOf(const Trace& trace, const RuleUse& use) {
  std::vector<std::string> names;
  for (size_t i = use.first; i < use.last; ++i) {
    if (IsLookup(trace.instructions[i])) continue;
    const std::string name = StepName(trace.instructions[i]);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return absl::StrJoin(names, ", ");
}

// Those of a printed trace: "sch.NAME(" in each line.
std::string StepsOf(const std::string& trace) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = trace.find("sch.", at)) != trace.npos;) {
    at += 4;
    const size_t end = trace.find('(', at);
    if (end == trace.npos) break;
    const std::string name = trace.substr(at, end - at);
    const InstructionKind* kind = FindInstruction(name);
    if (!kind || kind->is_pure || kind->samples) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return absl::StrJoin(names, ", ");
}

// (rule, block, steps)
using Key = std::tuple<std::string, std::string, std::string>;

// For each block, the variant of each rule that the design has; a rule that
// left the block alone is a variant too where another design uses it.
class Variants {
 public:
  explicit Variants(const std::vector<Design>& designs) {
    for (size_t i = 0; i < designs.size(); ++i) {
      for (const RuleUse& use : designs[i].uses) {
        const std::pair place(std::string(use.rule), use.block);
        if (!steps_.count(place)) order_.push_back(place);
        steps_[place][i] = StepsOf(designs[i].schedule.trace(), use);
      }
    }
  }

  std::vector<Key> Of(size_t design) const {
    std::vector<Key> keys;
    for (const auto& place : order_) {
      const auto& by_design = steps_.at(place);
      const auto found = by_design.find(design);
      keys.emplace_back(place.first, place.second,
                        found == by_design.end() ? "not used" : found->second);
    }
    return keys;
  }

  size_t PlaceOf(const Key& key) const {
    const std::pair place(std::get<0>(key), std::get<1>(key));
    return std::find(order_.begin(), order_.end(), place) - order_.begin();
  }

 private:
  std::vector<std::pair<std::string, std::string>> order_;
  std::map<std::pair<std::string, std::string>, std::map<size_t, std::string>>
      steps_;
};

// The slowest of the best tenth.
double BestTenth(const TaskData& task) {
  std::vector<double> times;
  for (const TuningRecord& record : task.trials) {
    if (record.verdict == Verdict::kOk) times.push_back(record.latency_min_ns);
  }
  if (times.empty()) return 0;
  const size_t last = (times.size() - 1) / 10;
  std::nth_element(times.begin(), times.begin() + last, times.end());
  return times[last];
}

void Add(const TuningRecord& record, double best_tenth, RuleVariant* variant) {
  if (record.verdict != Verdict::kOk) {
    ++variant->failed;
    return;
  }
  variant->seconds.push_back(record.latency_min_ns * 1e-9);
  variant->among_best += record.latency_min_ns <= best_tenth;
}

}  // namespace

std::vector<RuleVariant> RuleVariants(const TaskData& task,
                                      const Machine& machine,
                                      RuleLog* refused) {
  RuleContext context = RuleContextFor(machine, task.function);
  context.log = refused;
  const std::vector<Design> designs =
      MakeDesigns(task.module, CpuRules(), context);
  TraceSpace space(task.module, task.function);
  for (const Design& design : designs) space.Add(design.schedule.trace());
  const Variants variants(designs);
  std::map<Key, RuleVariant> found;
  const double best_tenth = BestTenth(task);
  for (const TuningRecord& record : task.trials) {
    const std::optional<Point> point = space.Locate(record.trace);
    const std::vector<Key> keys =
        point ? variants.Of(point->alternative)
              : std::vector<Key>{{"", "", StepsOf(record.trace)}};
    for (const Key& key : keys) Add(record, best_tenth, &found[key]);
  }
  std::vector<std::pair<Key, RuleVariant>> all(found.begin(), found.end());
  for (auto& [key, variant] : all) {
    std::tie(variant.rule, variant.block, variant.steps) = key;
    std::sort(variant.seconds.begin(), variant.seconds.end());
  }
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const auto& pair) {
      const std::vector<double>& seconds = pair.second.seconds;
      return std::pair(variants.PlaceOf(pair.first),
                       seconds.empty() ? 1e9 : seconds[0]);
    };
    return rank(a) < rank(b);
  });
  std::vector<RuleVariant> sorted;
  for (auto& [key, variant] : all) sorted.push_back(std::move(variant));
  return sorted;
}

}  // namespace kiln::report
