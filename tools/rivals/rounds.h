// Times of calls that take turns, so that a moment of noise meets all alike.
#ifndef KILN_TOOLS_RIVALS_ROUNDS_H_
#define KILN_TOOLS_RIVALS_ROUNDS_H_

#include <functional>
#include <string>
#include <vector>

namespace kiln::bench {

struct NamedCall {
  std::string name;  // differs from those of the others
  std::function<void()> call;
  int repetitions = 0;  // 0: as many as the options say
};

struct RoundOptions {
  int repetitions = 50;    // of each, in random order among all
  double seconds = 0.004;  // that one repetition takes at least, in batches
  // To wait before each repetition: threads of the contender before may go on
  // spinning for some ten milliseconds (libgomp's do).
  double settle_seconds = 0;
};

// Microseconds of one call over the repetitions, of each the best batch of
// calls of 0.2 ms or one call.
struct Timing {
  double best_us = 0, median_us = 0, worst_us = 0;
  int repetitions = 0;
};
// One for each call.
std::vector<Timing> TimesOf(const std::vector<NamedCall>& calls,
                            const RoundOptions& options);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_ROUNDS_H_
