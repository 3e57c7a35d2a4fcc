#include "kiln/base/machine.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace kiln {
namespace {

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// The first line of a file; empty where there is none.
std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t SystemValue(int name, int64_t fallback) {
  const long value = sysconf(name);
  return value > 0 ? value : fallback;
}

// Of the data cache of a level, as the kernel tells ("32768K"), else the C
// library, which takes what all cores of an AMD processor share for one cache.
int64_t CacheBytes(int level, int name, int64_t fallback) {
  for (int i = 0;; ++i) {
    const std::string cache =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string type = LineOf(cache + "/type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    if (LineOf(cache + "/level") != std::to_string(level)) continue;
    const long long kib = std::atoll(LineOf(cache + "/size").c_str());
    if (kib > 0) return kib << 10;
  }
  return SystemValue(name, fallback);
}

}  // namespace

Machine NeoverseMachine() {
  Machine machine{.cpu = "Neoverse", .isa = "neon", .vectors = kNeonRegisters};
  machine.l1_ways = 4;
  machine.l2_ways = 8;
  machine.levels[static_cast<int>(MemoryLevelId::kL1)].bytes = 64 << 10;
  machine.levels[static_cast<int>(MemoryLevelId::kL2)].bytes = 1 << 20;
  machine.levels[static_cast<int>(MemoryLevelId::kL3)].bytes = 32 << 20;
  return machine;
}

void ReadCaches(Machine* machine) {
  machine->cpu = CpuName();
  constexpr int kNames[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                            _SC_LEVEL3_CACHE_SIZE};
  for (int i = 0; i < 3; ++i) {
    int64_t& bytes = machine->levels[i].bytes;
    bytes = CacheBytes(i + 1, kNames[i], bytes);
  }
  machine->line_bytes = static_cast<int>(
      SystemValue(_SC_LEVEL1_DCACHE_LINESIZE, machine->line_bytes));
  machine->l1_ways =
      static_cast<int>(SystemValue(_SC_LEVEL1_DCACHE_ASSOC, machine->l1_ways));
  machine->l2_ways =
      static_cast<int>(SystemValue(_SC_LEVEL2_CACHE_ASSOC, machine->l2_ways));
}

Machine WithVectors(Machine machine, const VectorRegisters& vectors, bool fma) {
  if (vectors.bytes < machine.vectors.bytes) {
    const double share =
        static_cast<double>(vectors.bytes) / machine.vectors.bytes;
    const double work = fma ? share : share / 2;
    machine.gflops *= work;
    machine.all_gflops *= work;
    MemoryLevel& l1 = machine.levels[static_cast<int>(MemoryLevelId::kL1)];
    for (double* rate :
         {&l1.read_gbs, &l1.write_gbs, &l1.all_read_gbs, &l1.all_write_gbs}) {
      *rate *= share;
    }
  }
  machine.vectors = vectors;
  return machine;
}

}  // namespace kiln
