// A product whose results a window slides over, channel by channel, as
// depthwise convolutions and pooling do.
#ifndef KILN_SEARCH_SPACE_RULE_STRIPS_H_
#define KILN_SEARCH_SPACE_RULE_STRIPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

struct Strips {
  BlockInfo product, window;
  // Blocks that work element by element, in program order: from the product to
  // the window, of which the last ones pad, and behind the window.
  std::vector<std::string> between, padding, behind;
  int rows = -1;     // the axis of the window that is cut into strips
  int columns = -1;  // the channels
};

// Those of the window `name`; nullopt where it is none, taps mix channels, or
// others read what is between.
std::optional<Strips> FindStrips(const Function& f, const std::string& name);

// Numbers of channels at a time that are worth trying: whole vectors, and one
// line of memory or more where there are so many.
std::vector<int64_t> StripWidths(const Strips& strips,
                                 const RuleContext& context);

// Rows of the window at a time, the most first, for which the data of so many
// channels stay near; none where those of one row do not.
std::vector<int64_t> StripHeights(const Strips& strips, int64_t width,
                                  const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_STRIPS_H_
