// Each of T threads writes a part of a buffer. A thread that reads all of it,
// as tiles of some rows read all panels of a matrix, gets T - 1 parts from
// others:
//
//   parallel p in 8:   panel p = ..
//   parallel i in 20:  rows i of all panels     half of them from another
//   parallel p in 8:   all rows of panel p      those that it made
//
// A thread that reads no more than its share is taken to read what it wrote
// where both are in pieces of one length: whole panels, say, and not some rows
// of each.
#include "kiln/search/cost/between_cores.h"

#include <algorithm>

namespace kiln {
namespace {

// How many times as long as lines of the third cache those take that another
// core wrote: 128 x 415 times 415 x 512 on two cores of a Xeon takes 245 to 277
// us where each uses the panels that it made, and 312 to 370 where it uses all,
// 425 KB of them from the other; the third cache gives 21 GB/s.
constexpr double kFromOtherCore = 3;
// Of one length, but for what is read around it and rests of parts.
constexpr double kAlike = 1.3;

double BytesOf(const BufferSummary& buffer) {
  double bytes = buffer.element_bytes;
  for (const int64_t extent : buffer.extents) {
    bytes *= static_cast<double>(extent);
  }
  return bytes;
}

}  // namespace

double BetweenCores::BytesFromOthers(const Nest& nest,
                                     const NestAccess& access) const {
  const auto found = writers_.find(access.buffer);
  if (found == writers_.end()) return 0;
  const Writer& writer = found->second;
  if (writer.parallel_loop == nest.parallel_loop) return 0;
  const Footprint& read = access.footprints[0];
  const double all = BytesOf(*access.buffer);
  const double touched = std::min(all, read.lines * machine_.line_bytes);
  if (writer.parallel_loop < 0) return touched;
  const bool is_alike = nest.parallel_loop >= 0 &&
                        read.row_lines >= writer.row_lines / kAlike &&
                        read.row_lines <= writer.row_lines * kAlike;
  const double own = (is_alike ? all : touched) / threads_;
  return std::max(0.0, touched - own);
}

double BetweenCores::Pass(const Nest& nest) {
  if (threads_ <= 1) return 0;
  double bytes = 0;
  for (const NestAccess& access : nest.accesses) {
    if (access.buffer->is_local || access.buffer->owner_loop >= 0) continue;
    if (access.access->writes) {
      writers_[access.buffer] = {nest.parallel_loop,
                                 access.footprints[0].row_lines};
    } else {
      bytes += BytesFromOthers(nest, access);
    }
  }
  const MemoryLevel& third = machine_.level(MemoryLevelId::kL3);
  return bytes * kFromOtherCore / (third.read_gbs * 1e9);
}

}  // namespace kiln
