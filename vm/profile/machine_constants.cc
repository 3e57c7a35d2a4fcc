// Whatever disturbs a measurement makes it slower, so the best of five looks,
// with a nap between, is the rate. L3 and memory, which take longest, get one
// look. A level is measured by reading and writing a block that lies in it:
// with 32 KiB, 1 MiB and 32 MiB of caches, four threads at once go through
//
//   L1  16 KiB each      L2  512 KiB each      L3  4 MiB each
//   memory  16 MiB each
//
// Constants are stored as JSON. A file tells of the processor, instruction
// set, cores and caches that it is for; if this machine has others, it counts
// as missing, and the machine is measured anew.
#include "kiln/vm/profile/machine_constants.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/check.h"
#include "kiln/base/file.h"
#include "kiln/base/json.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/profile/machine.pb.h"
#include "kiln/vm/profile/peak_kernels.h"

namespace kiln {
namespace {

constexpr int kVersion = 1;
// Where a host shares its cores, threads may get half of them for seconds;
// after a nap they are placed anew. The best of some looks counts.
constexpr int kLooks = 5;
constexpr int kHeldLooks = 2;
constexpr std::chrono::milliseconds kNap{10};
// Data that fit into the last cache are read at a rate that is nearer to the
// cache's than to the memory's: more than so far on the way.
constexpr double kHeldRate = 0.5;
constexpr const char* kLevelNames[kNumMemoryLevels] = {"L1", "L2", "L3",
                                                       "memory"};

VectorRegisters VectorsOf(std::string_view isa) {
  if (isa == "avx512f") return kAvx512Registers;
  return isa == "baseline" ? kSseRegisters : kAvxRegisters;
}

// The bytes that each of `threads` threads goes through so that they lie in
// this level.
int64_t BytesIn(const Machine& machine, MemoryLevelId id, int threads) {
  const int64_t l2 = machine.level(MemoryLevelId::kL2).bytes;
  const int64_t l3 = machine.level(MemoryLevelId::kL3).bytes;
  switch (id) {
    case MemoryLevelId::kL1:
      return machine.level(id).bytes / 2;
    case MemoryLevelId::kL2:
      return l2 / 2;
    case MemoryLevelId::kL3:
      return std::min(4 * l2, l3 / 2 / threads);
    case MemoryLevelId::kMemory:
      break;
  }
  const int64_t total =
      std::clamp<int64_t>(2 * l3, int64_t{64} << 20, int64_t{1} << 30);
  return total / threads;
}

void Raise(double* best, double now) { *best = std::max(*best, now); }

void MeasureCores(ThreadPool& pool, const PeakOptions& options,
                  Machine* machine) {
  const auto peak = [&](int threads) {
    return MeasurePeakGflops(pool, threads, DType::Float(32), options);
  };
  Raise(&machine->gflops, peak(1));
  Raise(&machine->all_gflops, peak(machine->cores));
}

void MeasureLevel(ThreadPool& pool, const PeakOptions& options,
                  MemoryLevelId id, Machine* machine) {
  MemoryLevel& level = machine->levels[static_cast<int>(id)];
  const Bandwidth one =
      MeasureBandwidth(pool, 1, BytesIn(*machine, id, 1), options);
  const Bandwidth all = MeasureBandwidth(
      pool, machine->cores, BytesIn(*machine, id, machine->cores), options);
  Raise(&level.read_gbs, one.read_gbs);
  Raise(&level.write_gbs, one.write_gbs);
  Raise(&level.all_read_gbs, all.read_gbs);
  Raise(&level.all_write_gbs, all.write_gbs);
}

// The largest share of the last cache that is read again nearly as fast as a
// small part of it. Other guests may disturb a look, and help none.
void MeasureHeldBytes(ThreadPool& pool, const PeakOptions& options,
                      Machine* machine) {
  const MemoryLevel& level = machine->level(MemoryLevelId::kL3);
  const int64_t least = BytesIn(*machine, MemoryLevelId::kL3, 1);
  machine->l3_held_bytes = least;
  const double memory = machine->level(MemoryLevelId::kMemory).read_gbs;
  const double held = memory + kHeldRate * (level.read_gbs - memory);
  for (const int64_t quarters : {1, 2, 3}) {
    const int64_t bytes = level.bytes / 4 * quarters;
    if (bytes <= least) continue;
    double rate = 0;
    for (int look = 0; look < kHeldLooks && rate < held; ++look) {
      Raise(&rate, MeasureBandwidth(pool, 1, bytes, options).read_gbs);
    }
    if (rate < held) return;
    machine->l3_held_bytes = quarters == 3 ? level.bytes : bytes;
  }
}

bool HaveSameCaches(const Machine& a, const Machine& b) {
  return std::equal(std::begin(a.levels), std::end(a.levels),
                    std::begin(b.levels),
                    [](const MemoryLevel& x, const MemoryLevel& y) {
                      return x.bytes == y.bytes;
                    });
}

// A home may be shared by machines, and a process may have a part of the cores.
std::string FileNameOf(const Machine& machine) {
  std::string text = absl::StrCat(machine.cpu, "\n", machine.isa, "\n",
                                  machine.cores, " cores\n");
  for (const MemoryLevel& level : machine.levels) {
    absl::StrAppend(&text, level.bytes, "\n");
  }
  return absl::StrCat("machine-", Sha256Hex(text).substr(0, 8), ".json");
}

bool IsRate(double value) { return std::isfinite(value) && value > 0; }

absl::Status Check(const Machine& machine) {
  bool good = machine.cores > 0 && machine.vectors.bytes > 0 &&
              machine.vectors.count > 0 && machine.line_bytes > 0 &&
              machine.l1_ways > 0 && machine.l3_held_bytes >= 0 &&
              IsRate(machine.gflops) && IsRate(machine.all_gflops);
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    const MemoryLevel& level = machine.levels[i];
    good &= IsRate(level.read_gbs) && IsRate(level.write_gbs) &&
            IsRate(level.all_read_gbs) && IsRate(level.all_write_gbs) &&
            (level.bytes > 0 || i == kNumMemoryLevels - 1);
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a machine's constants are positive numbers; measure them anew with "
      "//tools:machine");
}

Machine FromProto(const machine::Constants& proto) {
  Machine m;
  m.cpu = proto.cpu();
  m.isa = proto.isa();
  m.cores = proto.cores();
  m.vectors = VectorsOf(m.isa);
  m.vectors.bytes = proto.vector_bytes();
  m.vectors.count = proto.vector_registers();
  m.line_bytes = proto.line_bytes();
  m.l1_ways = proto.l1_ways();
  if (proto.l2_ways() > 0) m.l2_ways = proto.l2_ways();
  m.l3_held_bytes = proto.l3_held_bytes();
  m.gflops = proto.gflops();
  m.all_gflops = proto.all_gflops();
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    const machine::Level& level = proto.levels(i);
    m.levels[i] = {level.bytes(), level.read_gbs(), level.write_gbs(),
                   level.all_read_gbs(), level.all_write_gbs()};
  }
  return m;
}

std::string SizeText(int64_t bytes) {
  if (bytes == 0) return "";
  return bytes < (1 << 20) ? absl::StrCat(bytes >> 10, " KiB")
                           : absl::StrFormat("%.1f MiB", bytes / 1048576.0);
}

void Warn(const absl::Status& why, const char* effect) {
  std::fprintf(stderr, "warning: %s: %s\n", std::string(why.message()).c_str(),
               effect);
}

}  // namespace

Machine DescribeMachine() {
  Machine machine;
  ReadCaches(&machine);
  machine.isa = std::string(BestPeakKernels().isa);
  machine.cores = ThreadPool::NumAvailableCpus();
  machine.vectors = VectorsOf(machine.isa);
  return machine;
}

Machine MeasureMachine(ThreadPool& pool, const PeakOptions& options) {
  Machine machine = DescribeMachine();
  machine.cores = pool.num_threads();
  machine.gflops = machine.all_gflops = 0;
  for (MemoryLevel& level : machine.levels) level = {level.bytes, 0, 0, 0, 0};
  PeakOptions few = options;
  few.runs = std::min(options.runs, 2);
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(kNap);
    MeasureCores(pool, options, &machine);
    MeasureLevel(pool, options, MemoryLevelId::kL1, &machine);
    MeasureLevel(pool, options, MemoryLevelId::kL2, &machine);
    MeasureLevel(pool, few, MemoryLevelId::kL3, &machine);
  }
  MeasureLevel(pool, few, MemoryLevelId::kMemory, &machine);
  MeasureHeldBytes(pool, few, &machine);
  return machine;
}

std::string MachineToJson(const Machine& machine) {
  machine::Constants proto;
  proto.set_version(kVersion);
  proto.set_cpu(machine.cpu);
  proto.set_isa(machine.isa);
  proto.set_cores(machine.cores);
  proto.set_vector_bytes(machine.vectors.bytes);
  proto.set_vector_registers(machine.vectors.count);
  proto.set_line_bytes(machine.line_bytes);
  proto.set_l1_ways(machine.l1_ways);
  proto.set_l2_ways(machine.l2_ways);
  proto.set_l3_held_bytes(machine.l3_held_bytes);
  proto.set_gflops(machine.gflops);
  proto.set_all_gflops(machine.all_gflops);
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    const MemoryLevel& level = machine.levels[i];
    machine::Level* out = proto.add_levels();
    out->set_name(kLevelNames[i]);
    out->set_bytes(level.bytes);
    out->set_read_gbs(level.read_gbs);
    out->set_write_gbs(level.write_gbs);
    out->set_all_read_gbs(level.all_read_gbs);
    out->set_all_write_gbs(level.all_write_gbs);
  }
  const absl::StatusOr<std::string> json =
      ToJson(proto, JsonDefaults::kLeftOut);
  KILN_CHECK(json.ok()) << json.status().message();
  return *json;
}

absl::StatusOr<Machine> MachineFromJson(std::string_view json) {
  machine::Constants proto;
  const absl::Status parsed = FromJson(json, &proto);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "these are no constants of a machine: ", parsed.message()));
  }
  if (proto.version() != kVersion || proto.levels_size() != kNumMemoryLevels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "constants of a machine in version ", proto.version(), " with ",
        proto.levels_size(), " levels of memory; this program reads version ",
        kVersion, " with ", kNumMemoryLevels));
  }
  const Machine machine = FromProto(proto);
  KILN_RETURN_IF_ERROR(Check(machine));
  return machine;
}

std::string DefaultMachinePath() {
  if (const char* path = std::getenv("KILN_MACHINE")) return path;
  const std::string name = FileNameOf(DescribeMachine());
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) {
    return absl::StrCat(cache, "/kiln/", name);
  }
  const char* home = std::getenv("HOME");
  return home ? absl::StrCat(home, "/.cache/kiln/", name) : "";
}

absl::StatusOr<Machine> LoadMachine(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string json, ReadFile(path));
  absl::StatusOr<Machine> machine = MachineFromJson(json);
  if (!machine.ok()) {
    return absl::Status(
        machine.status().code(),
        absl::StrCat(path, ": ", std::string(machine.status().message())));
  }
  if (machine->l3_held_bytes <= 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        " does not tell how much of the last cache is held; measure anew "
        "with //tools:machine"));
  }
  const Machine here = DescribeMachine();
  if (machine->cpu != here.cpu || machine->isa != here.isa ||
      machine->cores != here.cores || !HaveSameCaches(*machine, here)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " tells of another machine: ", machine->cpu, ", ",
                     machine->cores, " cores; this is ", here.cpu, ", ",
                     here.cores, " cores. Measure anew with //tools:machine"));
  }
  return machine;
}

absl::Status SaveMachine(const Machine& machine, const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    KILN_RETURN_IF_ERROR(MakeFolders(path.substr(0, slash)));
  }
  return WriteFileAtomically(path, MachineToJson(machine));
}

Machine LoadOrMeasureMachine(const std::string& path) {
  if (!path.empty()) {
    absl::StatusOr<Machine> stored = LoadMachine(path);
    if (stored.ok()) return *std::move(stored);
    const bool is_expected = absl::IsNotFound(stored.status()) ||
                             absl::IsFailedPrecondition(stored.status());
    if (!is_expected) Warn(stored.status(), "the machine is measured anew");
  }
  ThreadPool pool(ThreadPool::OneForEachCpu(0));
  Machine machine = MeasureMachine(pool);
  if (path.empty()) return machine;
  const absl::Status saved = SaveMachine(machine, path);
  if (!saved.ok()) Warn(saved, "what was measured of the machine is not kept");
  return machine;
}

double PeakGflops(const Machine& machine, int threads) {
  ThreadPool pool(ThreadPool::OneForEachCpu(threads));
  const double now = MeasurePeakGflops(
      pool, threads, DType::Float(32),
      {.runs = 20, .run_us = 3000, .vector_bytes = machine.vectors.bytes});
  if (threads == machine.cores) return std::max(now, machine.all_gflops);
  return threads == 1 ? std::max(now, machine.gflops) : now;
}

std::string MachineTable(const Machine& m) {
  std::string text =
      absl::StrFormat("%s, %d cores, %s (%d registers of %d bytes)\n", m.cpu,
                      m.cores, m.isa, m.vectors.count, m.vectors.bytes);
  absl::StrAppendFormat(&text, "%-22s | %10s | %10s\n", "float32 GFLOP/s",
                        "one core", "all cores");
  absl::StrAppendFormat(&text, "%-22s | %10.1f | %10.1f\n", "multiply-adds",
                        m.gflops, m.all_gflops);
  absl::StrAppendFormat(&text, "%-22s | %10s | %10s\n", "GB/s read, write",
                        "one core", "all cores");
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    const MemoryLevel& level = m.levels[i];
    absl::StrAppendFormat(
        &text, "%-22s | %10s | %10s\n",
        absl::StrCat(kLevelNames[i], "  ", SizeText(level.bytes)),
        absl::StrFormat("%.0f, %.0f", level.read_gbs, level.write_gbs),
        absl::StrFormat("%.0f, %.0f", level.all_read_gbs, level.all_write_gbs));
  }
  if (m.l3_held_bytes > 0) {
    absl::StrAppend(&text, "of L3, ", SizeText(m.l3_held_bytes),
                    " stay for one core\n");
  }
  return text;
}

}  // namespace kiln
