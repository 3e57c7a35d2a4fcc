// The time of a clock that never goes back, for measuring how long something
// takes.
#ifndef KILN_BASE_CLOCK_H_
#define KILN_BASE_CLOCK_H_

#include <chrono>

namespace kiln {

// Seconds since some moment that is the same for the whole process.
inline double MonotonicSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace kiln

#endif  // KILN_BASE_CLOCK_H_
