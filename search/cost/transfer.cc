// The loops of a nest are walked from the outside until what one iteration
// touches fits into the level at hand: what every such iteration touches comes
// from beyond, unless the one before it left it there.
//
//   for i in 32, k in 256: C[i * 4 : +4, 0:16] += A[i * 4 : +4, k] * B[k, 0:16]
//
// An iteration of i touches 16 KiB of B, which the next one finds in a first
// level of 32 KiB: its lines move once. Where the 256 rows of B fall into 4
// sets of that level, they do not fit, and move 32 times.
#include "kiln/search/cost/transfer.h"

#include <algorithm>
#include <cmath>

#include "kiln/base/lowering_policy.h"

namespace kiln {
namespace {

// Of each level, what is left for the data: some goes to the rest of the
// program, some to lines fetched ahead.
constexpr double kCapacityShare = 0.85;

// Rows of a panel that meet in a few sets of the first cache push each other
// out while they are fetched ahead. Measured on a Zen 3 for 256 to 768 rows of
// one line and of two, in ns a line where a stream takes 0.65: 1.9 and 1.05
// where they are 512, 1024, 1536 or 3072 bytes apart (8 sets or fewer for each
// line of a row), no more than the multiply-adds take (1.35 and 0.87) where
// they are 384, 640, 768 or 1152 bytes apart.
constexpr double kConflictTimes = 2;  // more, shared by the lines of a row

// How many times as long as those of a stream the lines take whose neighbours
// in the row come after lines of other rows. Depthwise convolutions of 112 x
// 112 x 32 took up to 1.3 times as long on a Xeon where channels were the outer
// loop, and 1.7 times where half a line came at a time.
constexpr double kOtherRowsTimes = 1.25;
// Bytes of a row that are read one after the other like a stream.
constexpr double kStreamBytes = 512;

// Of a matrix of 64 MiB a Zen 3 reads 15 to 19 GB/s where the next lines of 8
// rows come in turns, up to the end of the rows; 10 of one row, 13 of two, and
// 7 to 10 of 32 rows or more; 15 where it reads 4 KiB of 8 rows before it goes
// on to the next ones, 12 where it reads 2 KiB or less. It is all the same
// whether lines are asked for ahead, and whether rows are 16000 bytes apart or
// 16384; and a matrix of 3 MB, in its third cache, is read at one speed.
constexpr double kRowsFollowed = 24;  // at a time
constexpr double kLostTimes = 2;      // as long, of more rows
constexpr double kFewRows = 0.6;      // more, shared by the rows
constexpr double kStartBytes = 1024;  // of a row, that take twice as long
// Third caches up to so many times as fast as memory are like it, for what is
// so many times larger than the second. On a Xeon whose third cache gives 28
// GB/s and its memory 15, matrices of 4 to 180 MB times 1 to 32 rows take 0.80
// to 0.99 of the time in the order that follows from that; products with one of
// 1.6 MB take longer.
constexpr double kSlowCacheTimes = 2;
constexpr double kFarTimes = 2;
// Bytes of a row from which on it does not matter where the next ones are.
constexpr double kLongRun = 2048;

// What a thread touches in a call and the second cache cannot hold as a whole
// is there in part when the next call begins. Of a matrix of 1, 1.25, 1.5 and
// twice the 2 MiB that a Xeon's core has, 0.3, 0.68, 0.78 and 1 of the lines
// come from beyond, in one piece; of half of the columns of 1024 x 1024 nearly
// all, where rows of the part meet in half of the sets, and two thirds of 1024
// x 1000, because a core asks ahead for the lines behind each piece.
constexpr double kAllHeld = 0.75, kNoneHeld = 1.5;  // of the cache
constexpr double kAheadBytes = 512;

class Traffic {
 public:
  Traffic(const Nest& nest, const Machine& machine)
      : nest_(nest), machine_(machine) {}

  Transfer At(MemoryLevelId id) const;
  ColdReads Cold() const;
  bool IsLikeMemory(MemoryLevelId id, const NestAccess& access) const;

 private:
  double Capacity(MemoryLevelId id) const;
  double BytesAt(const NestAccess& access, int depth, MemoryLevelId id) const;
  double BytesAt(int depth, MemoryLevelId id) const;
  double MissingShare() const;
  double BytesOfTwo(const NestAccess& access, int depth,
                    MemoryLevelId id) const;
  bool HasRoomFor(double bytes, const NestAccess& access, int depth,
                  MemoryLevelId id) const;
  double LinesMoved(const NestAccess& access, int depth,
                    MemoryLevelId id) const;
  bool IsCrowded(const NestAccess& access, int depth) const;
  double ConflictTimes(const NestAccess& access, int depth,
                       MemoryLevelId id) const;
  double RunTimes(const NestAccess& access, MemoryLevelId id) const;
  struct Walk;
  Walk WalkOf(const NestAccess& access) const;
  double MemoryTimes(const NestAccess& access) const;
  struct FirstReads;
  FirstReads FirstReadsOf(const NestAccess& access) const;
  double ReadSeconds(const NestAccess& access) const;

  const Nest& nest_;
  const Machine& machine_;
};

double Traffic::Capacity(MemoryLevelId id) const {
  const bool is_last = id == MemoryLevelId::kL3;
  const int64_t held = is_last ? machine_.l3_held_bytes : 0;
  const auto bytes =
      static_cast<double>(held > 0 ? held : machine_.level(id).bytes);
  const double shared = is_last ? nest_.threads : 1;
  return kCapacityShare * bytes / shared;
}

double Traffic::BytesAt(const NestAccess& access, int depth,
                        MemoryLevelId id) const {
  // Sums that wait in memory are in registers while the loops below run.
  if (access.in_registers &&
      (!access.waits_in_memory || depth > nest_.RegisterDepth(access))) {
    return 0;
  }
  const Footprint& footprint = access.footprints[depth];
  switch (id) {
    case MemoryLevelId::kL1:
      return footprint.l1_bytes;
    case MemoryLevelId::kL2:
      return footprint.l2_bytes;
    case MemoryLevelId::kL3:
    case MemoryLevelId::kMemory:
      break;
  }
  return footprint.lines * machine_.line_bytes;
}

double Traffic::BytesAt(int depth, MemoryLevelId id) const {
  double bytes = 0;
  for (const NestAccess& access : nest_.accesses) {
    bytes += BytesAt(access, depth, id);
  }
  return bytes;
}

// Of what is touched in a call, the share that the call before did not leave in
// the second cache.
double Traffic::MissingShare() const {
  double bytes = 0;
  for (const NestAccess& access : nest_.accesses) {
    const Footprint& all = access.footprints[0];
    const double piece = all.row_lines * machine_.line_bytes;
    const double ahead = all.lines > all.row_lines ? kAheadBytes / piece : 0;
    bytes += (1 + ahead) * BytesAt(access, 0, MemoryLevelId::kL2);
  }
  const auto size =
      static_cast<double>(machine_.level(MemoryLevelId::kL2).bytes);
  const double share = (bytes / size - kAllHeld) / (kNoneHeld - kAllHeld);
  return std::clamp(share, 0.0, 1.0);
}

// Of two iterations of the loop around `depth`: what both touch counts once.
double Traffic::BytesOfTwo(const NestAccess& access, int depth,
                           MemoryLevelId id) const {
  const double one = BytesAt(access, depth, id);
  const double more = BytesAt(access, depth - 1, id) - one;
  return one + more / std::max(nest_.extents[depth - 1] - 1, 1.0);
}

// Whether `bytes` of the access stay while the loop around `depth` goes on:
// only what everything else touches meanwhile may push them out.
bool Traffic::HasRoomFor(double bytes, const NestAccess& access, int depth,
                         MemoryLevelId id) const {
  for (const NestAccess& other : nest_.accesses) {
    if (&other != &access) bytes += BytesOfTwo(other, depth, id);
  }
  return bytes <= Capacity(id);
}

// Lines that come from beyond the level `id`, which can hold what the loops
// from `depth` on touch. Sums in registers move before and after their loops.
double Traffic::LinesMoved(const NestAccess& access, int depth,
                           MemoryLevelId id) const {
  const bool waits = access.in_registers && nest_.RegisterDepth(access) < depth;
  if (waits) depth = nest_.RegisterDepth(access);
  // What no loop of the tile moves stays in registers.
  while (depth > nest_.tile && access.strides[depth - 1] == 0) --depth;
  const auto& footprints = access.footprints;
  if (depth == 0) return footprints[0].lines;
  double lines = footprints[depth - 1].lines;
  if (waits || !HasRoomFor(BytesAt(access, depth, id), access, depth, id)) {
    lines = std::max(lines, footprints[depth].lines * nest_.extents[depth - 1]);
  } else if (access.rounds[depth - 1] > 1 &&
             !HasRoomFor(BytesAt(access, depth - 1, id), access, depth, id)) {
    lines *= access.rounds[depth - 1];
  }
  return lines * nest_.Iterations(0, depth - 1);
}

// Whether the rows that the loops from `depth` on touch meet in a few sets of
// the first cache, so that one pass over them leaves nothing there for the
// next.
bool Traffic::IsCrowded(const NestAccess& access, int depth) const {
  const Footprint& footprint = access.footprints[depth];
  return footprint.l1_bytes > Capacity(MemoryLevelId::kL1) &&
         footprint.row_sets <= kFewPlaces;
}

// How many times as long as those of a stream the lines take that the access
// reads again from `depth` on.
double Traffic::ConflictTimes(const NestAccess& access, int depth,
                              MemoryLevelId id) const {
  if (id != MemoryLevelId::kL1 || !IsCrowded(access, depth)) return 1;
  return 1 + kConflictTimes / access.footprints[depth].row_lines;
}

// How many times as long as those of a stream the lines take for being parts of
// short runs. A line of which a run is a part comes again for the next one,
// where the level `id` does not hold what is touched in between.
double Traffic::RunTimes(const NestAccess& access, MemoryLevelId id) const {
  if (access.runs.empty() || access.runs[0].bytes >= kStreamBytes) return 1;
  double parts = 1;
  for (const RowRun& run : access.runs) {
    const bool stays = run.stays * BytesAt(run.loop + 1, id) <= Capacity(id);
    if (!stays) parts = std::max(parts, machine_.line_bytes / run.bytes);
  }
  return kOtherRowsTimes * parts;
}

// How rows are read, a run of each in turns. Where no loop goes on with them
// after others, all that is read is one row.
struct Traffic::Walk {
  double rows = 1;
  double run = 0;    // bytes of a row before the next
  double bytes = 0;  // of a row before others
};

// A step of less than a long run stays in the row. Windows go over rows that
// are there already: of three taps at two places, four.
Traffic::Walk Traffic::WalkOf(const NestAccess& access) const {
  const auto element = static_cast<double>(access.buffer->element_bytes);
  Walk walk = {.rows = 1, .run = element, .bytes = element};
  double rows = 1, reach = 0;
  for (int i = nest_.depth() - 1; i >= 0; --i) {
    const double stride = std::abs(access.strides[i]);
    const double steps = nest_.extents[i] - 1;
    if (stride == 0 || steps <= 0) continue;
    if (stride <= std::max(walk.bytes, kLongRun)) {
      walk.bytes += stride * steps;
      if (rows == 1) walk.run = walk.bytes;
      walk.rows = rows;
    } else if (stride < reach && walk.bytes < kLongRun) {
      rows += steps;
      reach += stride * steps;
    } else if (walk.rows > 1) {
      break;
    } else {
      rows *= steps + 1;
      reach = stride * (steps + 1);
    }
  }
  return walk;
}

// How many times as long as a stream it takes to read the access from memory.
double Traffic::MemoryTimes(const NestAccess& access) const {
  const Walk walk = WalkOf(access);
  if (walk.rows == 1 || walk.run >= kLongRun) return 1;
  if (walk.rows > kRowsFollowed) return kLostTimes;
  return std::min(kLostTimes,
                  1 + kStartBytes / walk.bytes + kFewRows / walk.rows);
}

// When the elements of an access are read first.
struct Traffic::FirstReads {
  // Whether they come all the time while the panels are passed over: new ones
  // in each iteration, or a panel that the second cache holds while loops pass
  // over the one before.
  bool steady = true;
  // Of all iterations, those that read elements that none before them read.
  double share = 1;
};

Traffic::FirstReads Traffic::FirstReadsOf(const NestAccess& access) const {
  int i = nest_.tile - 1;
  const auto goes_on = [&] {
    return access.strides[i] != 0 && access.stays[i] <= 1 &&
           access.rounds[i] <= 1;
  };
  const auto is_one = [&] { return nest_.extents[i] <= 1; };
  const auto passes = [&] {
    return access.strides[i] == 0 ? nest_.extents[i] : access.stays[i];
  };
  while (i >= 0 && (goes_on() || is_one())) --i;
  FirstReads reads;
  if (i < 0) return reads;
  const bool is_panel =
      i + 1 < nest_.tile &&
      access.footprints[i + 1].l2_bytes <= Capacity(MemoryLevelId::kL2) &&
      !IsCrowded(access, i + 1);
  double of_panel = 1;
  for (; i > nest_.parallel && (access.strides[i] == 0 || is_one()); --i) {
    of_panel *= nest_.extents[i];
  }
  // Lowering tells passes from panels in the outermost loop, of panels that
  // are small as a whole.
  const bool are_fused =
      i == 0 && access.strides[0] != 0 && access.stays[0] > 1;
  const int panel = are_fused ? i + 1 : nest_.tile - 1;
  reads.steady = is_panel && i >= 0 && (goes_on() || are_fused) &&
                 IsAskedForAhead(static_cast<int64_t>(
                     access.footprints[panel].lines * machine_.line_bytes));
  if (!reads.steady) reads.share /= of_panel;
  if (reads.steady && are_fused) --i;
  for (; i >= 0; --i) {
    reads.share /= std::max(1.0, passes()) * access.rounds[i];
  }
  return reads;
}

// Whether what is read of a level comes as from memory: from a third cache that
// is little faster, too, where the second one holds no good part of it.
bool Traffic::IsLikeMemory(MemoryLevelId id, const NestAccess& access) const {
  const double memory = machine_.level(MemoryLevelId::kMemory).read_gbs;
  const double bytes = access.footprints[0].lines * machine_.line_bytes;
  return id == MemoryLevelId::kMemory ||
         (id == MemoryLevelId::kL3 &&
          machine_.level(id).read_gbs < kSlowCacheTimes * memory &&
          bytes > kFarTimes * Capacity(MemoryLevelId::kL2));
}

Transfer Traffic::At(MemoryLevelId id) const {
  const MemoryLevelId inner =
      static_cast<MemoryLevelId>(static_cast<int>(id) - 1);
  // A vector moves as one.
  const bool ends_in_lanes = nest_.lane_loop == nest_.depth() - 1;
  const int last = nest_.reads_tile_once
                       ? nest_.tile
                       : nest_.depth() - (ends_in_lanes ? 1 : 0);
  int depth = 0;
  while (depth < last && BytesAt(depth, inner) > Capacity(inner)) {
    ++depth;
  }
  const bool is_third = id == MemoryLevelId::kL3;
  const double missing = is_third ? MissingShare() : 1;
  // Found there since the last call.
  if (depth == 0 && (!is_third || missing == 0)) return {};
  const MemoryLevel& level = machine_.level(id);
  const bool all = nest_.threads > 1;
  const double share = nest_.threads;
  const double read = (all ? level.all_read_gbs / share : level.read_gbs) * 1e9;
  const double write =
      (all ? level.all_write_gbs / share : level.write_gbs) * 1e9;
  Transfer transfer;
  for (const NestAccess& access : nest_.accesses) {
    if (access.in_registers && !access.waits_in_memory) continue;
    const double lines = LinesMoved(access, depth, inner);
    // The first time, some of them are there from the call before.
    const double there = (1 - missing) * access.footprints[0].lines;
    const double bytes = std::max(lines - there, 0.0) * machine_.line_bytes;
    const bool again = lines >= 2 * access.footprints[0].lines;
    double times = again ? ConflictTimes(access, depth - 1, inner)
                         : RunTimes(access, inner);
    if (!access.access->writes && IsLikeMemory(id, access)) {
      times *= MemoryTimes(access);
    }
    const double seconds =
        times * bytes / (access.access->writes ? write : read);
    transfer.seconds += seconds;
    if (!access.access->writes && FirstReadsOf(access).steady) {
      transfer.steady += seconds;
    }
  }
  return transfer;
}

// Of all elements, once, from memory. What the threads share comes for all of
// them together.
double Traffic::ReadSeconds(const NestAccess& access) const {
  const MemoryLevel& memory = machine_.level(MemoryLevelId::kMemory);
  double gbs = nest_.threads > 1 ? memory.all_read_gbs : memory.read_gbs;
  if (nest_.parallel >= 0 && access.strides[nest_.parallel] != 0) {
    gbs /= nest_.threads;
  }
  return MemoryTimes(access) * access.footprints[0].lines *
         machine_.line_bytes / (gbs * 1e9);
}

ColdReads Traffic::Cold() const {
  ColdReads reads;
  double share = 0;
  for (const NestAccess& access : nest_.accesses) {
    if (!access.buffer->is_cold) continue;
    const FirstReads first = FirstReadsOf(access);
    const double seconds = ReadSeconds(access);
    reads.seconds += seconds;
    share += first.share * seconds;
    if (first.steady) reads.steady += seconds;
  }
  if (reads.seconds > 0) reads.share = share / reads.seconds;
  return reads;
}

}  // namespace

ColdReads ColdReadsOf(const Nest& nest, const Machine& machine) {
  return Traffic(nest, machine).Cold();
}

Transfer TransferOf(const Nest& nest, const Machine& machine,
                    MemoryLevelId id) {
  return Traffic(nest, machine).At(id);
}

}  // namespace kiln
