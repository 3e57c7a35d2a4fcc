// The least time that a machine allows for a call: the roofline model.
#ifndef KILN_VM_PROFILE_ROOFLINE_H_
#define KILN_VM_PROFILE_ROOFLINE_H_

#include "kiln/base/machine.h"

namespace kiln {

// "L1", "L2", "L3" or "memory".
const char* LevelName(MemoryLevelId id);

// What a call has to do, each tensor read or written once.
struct CallWork {
  double flop = 0;
  double bytes_read = 0, bytes_written = 0;
};

struct Roofline {
  double seconds = 0;
  // Where all its data fit, which is where they come from.
  MemoryLevelId level = MemoryLevelId::kL1;
  bool by_bandwidth = false;  // and not by arithmetic

  // "FMA", or the level whose bandwidth it is.
  const char* by() const { return by_bandwidth ? LevelName(level) : "FMA"; }
};

// On so many threads, whose peak is `gflops`; data come from the nearest level
// that holds all of them.
Roofline RooflineOf(const CallWork& work, int threads, const Machine& machine,
                    double gflops);

}  // namespace kiln

#endif  // KILN_VM_PROFILE_ROOFLINE_H_
