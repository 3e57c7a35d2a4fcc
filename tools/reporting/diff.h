// What differs between two texts, by lines.
#ifndef KILN_TOOLS_REPORTING_DIFF_H_
#define KILN_TOOLS_REPORTING_DIFF_H_

#include <string>
#include <string_view>
#include <vector>

namespace kiln::report {

enum class Change { kSame, kRemoved, kAdded };

struct DiffLine {
  Change change = Change::kSame;
  std::string text;
};

// The fewest removals and additions that lead from one text to the other, by
// the longest common subsequence of their lines. Of texts with more than some
// thousand different lines, only what they have in common at both ends.
std::vector<DiffLine> DiffLines(std::string_view before,
                                std::string_view after);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_DIFF_H_
