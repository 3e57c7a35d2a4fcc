#include "kiln/search/space/space_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/search/space/knob.h"

namespace kiln {
namespace {

struct Size {
  double points = 1;
  bool exact = true;
};

std::string ToString(const Size& size) {
  return absl::StrFormat("%s%.0f points", size.exact ? "" : "about ",
                         size.points);
}

// The same walk with the last choice of each knob shows what depends on what.
Size SizeOf(const TraceSpace& space, size_t alternative,
            const KnobWalk& first) {
  Size size;
  Decisions last(first.made.size());
  for (const Knob& knob : first.knobs) {
    size.points *= static_cast<double>(knob.choices.size());
    last[knob.step] = knob.choices.back();
  }
  const KnobWalk other = space.Knobs(alternative, last);
  size.exact = first.refusal.ok() && other.knobs.size() == first.knobs.size();
  for (size_t i = 0; size.exact && i < first.knobs.size(); ++i) {
    size.exact = other.knobs[i].choices == first.knobs[i].choices;
  }
  return size;
}

std::string KnobRows(const KnobWalk& walk) {
  size_t width = 0;
  for (const Knob& knob : walk.knobs) width = std::max(width, knob.name.size());
  std::string rows;
  for (size_t i = 0; i < walk.knobs.size(); ++i) {
    const Knob& knob = walk.knobs[i];
    absl::StrAppendFormat(&rows, "    %2d %-*s %6d choices  %s\n", i, width,
                          knob.name, knob.choices.size(), knob.what);
  }
  return rows;
}

}  // namespace

std::string SpaceTable(const TraceSpace& space) {
  Size total;
  total.points = 0;
  std::string body;
  for (size_t i = 0; i < space.size(); ++i) {
    const KnobWalk walk = space.Knobs(i, {});
    const Size size = SizeOf(space, i, walk);
    total.points += size.points;
    total.exact = total.exact && size.exact;
    absl::StrAppend(&body, i, " ", space.name(i), ": ", ToString(size), "\n",
                    KnobRows(walk));
  }
  return absl::StrCat("space: ", space.size(),
                      space.size() == 1 ? " schedule, " : " schedules, ",
                      ToString(total), "\n", body);
}

}  // namespace kiln
