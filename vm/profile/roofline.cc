#include "kiln/vm/profile/roofline.h"

#include <algorithm>

namespace kiln {
namespace {

// The first two levels are each core's own.
MemoryLevelId LevelOf(double bytes, int threads, const Machine& machine) {
  for (const MemoryLevelId id :
       {MemoryLevelId::kL1, MemoryLevelId::kL2, MemoryLevelId::kL3}) {
    const int copies = id == MemoryLevelId::kL3 ? 1 : std::max(threads, 1);
    if (bytes <= copies * static_cast<double>(machine.level(id).bytes)) {
      return id;
    }
  }
  return MemoryLevelId::kMemory;
}

}  // namespace

const char* LevelName(MemoryLevelId id) {
  switch (id) {
    case MemoryLevelId::kL1:
      return "L1";
    case MemoryLevelId::kL2:
      return "L2";
    case MemoryLevelId::kL3:
      return "L3";
    case MemoryLevelId::kMemory:
      return "memory";
  }
  return "";
}

Roofline RooflineOf(const CallWork& work, int threads, const Machine& machine,
                    double gflops) {
  const bool all = threads > 1;
  const MemoryLevelId id =
      LevelOf(work.bytes_read + work.bytes_written, threads, machine);
  const MemoryLevel& from = machine.level(id);
  const double read = all ? from.all_read_gbs : from.read_gbs;
  const double write = all ? from.all_write_gbs : from.write_gbs;
  const double moving =
      (work.bytes_read / read + work.bytes_written / write) * 1e-9;
  const double computing = work.flop / gflops * 1e-9;
  return {std::max(moving, computing), id, moving > computing};
}

}  // namespace kiln
