#include "kiln/ir/text/reader/scope.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::script {
namespace {

// The number of letters to change, add or remove to get from `a` to `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string ClosestName(std::string_view name,
                        const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongest = 64;
  if (name.size() > kLongest) return "";
  std::string_view best;
  size_t least = name.size() / 3 + 2;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    size_t distance = EditDistance(name, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

void Scope::Bind(const std::string& name, Binding binding) {
  levels_.back().insert_or_assign(name, std::move(binding));
}

const Binding* Scope::Find(std::string_view name) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    auto found = level->find(name);
    if (found != level->end()) return &found->second;
  }
  return nullptr;
}

std::string Scope::Suggestion(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const auto& level : levels_) {
    for (const auto& [candidate, binding] : level) known.push_back(candidate);
  }
  std::string closest = ClosestName(name, known);
  return closest.empty() ? "" : absl::StrCat("; did you mean `", closest, "`?");
}

}  // namespace kiln::script
