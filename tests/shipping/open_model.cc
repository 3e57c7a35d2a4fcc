// How long it takes to open a model, and what of it is in memory then:
//
//   open_model --megabytes 100
//
// Writes a model with that many megabytes of weights as a shared object and as
// a file of objects, and opens each: with all of it in the system's cache, and
// with none of it there. A line for each: the time, and what the process has
// got larger by.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/export/shared_model.h"
#include "kiln/tests/shipping/model.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/machine/loaded_executable.h"

namespace kiln {
namespace {

// Bytes of the process that are in memory.
int64_t ResidentBytes() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

// Whatever of the file is in the system's cache.
void Forget(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

absl::Status Measure(const std::string& path, bool is_cold) {
  if (is_cold) Forget(path);
  const int64_t before = ResidentBytes();
  const auto start = std::chrono::steady_clock::now();
  KILN_ASSIGN_OR_RETURN(const auto loaded, vm::LoadedExecutable::Open(path));
  const std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  std::printf("%s, %s: %.2f ms, %.1f MB of memory\n",
              std::filesystem::path(path).filename().c_str(),
              is_cold ? "not in the cache" : "in the cache", time.count(),
              static_cast<double>(ResidentBytes() - before) * 1e-6);
  return absl::OkStatus();
}

absl::Status Run(int64_t megabytes) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const std::string shared = folder + "/kiln_open_model.so";
  const std::string objects = folder + "/kiln_open_model.kiln";
  {
    KILN_ASSIGN_OR_RETURN(vm::Executable executable, testing::SmallModel());
    const vm::Executable weights =
        testing::BigConstant(megabytes * 1000000 / sizeof(float));
    executable.constants.push_back(weights.constants[0]);
    KILN_RETURN_IF_ERROR(WriteSharedModel(executable, shared));
    KILN_RETURN_IF_ERROR(vm::WriteExecutable(executable, objects));
  }
  for (const std::string& path : {shared, objects}) {
    for (int i = 0; i < 3; ++i) {
      KILN_RETURN_IF_ERROR(Measure(path, /*is_cold=*/false));
    }
    for (int i = 0; i < 3; ++i) {
      KILN_RETURN_IF_ERROR(Measure(path, /*is_cold=*/true));
    }
    std::filesystem::remove(path);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  const bool has_size = argc == 3 && std::string(argv[1]) == "--megabytes";
  if (argc != 1 && !has_size) {
    std::fprintf(stderr, "open_model [--megabytes 100]\n");
    return 1;
  }
  const long megabytes = has_size ? std::atol(argv[2]) : 100;
  const absl::Status status = kiln::Run(megabytes > 0 ? megabytes : 1);
  if (status.ok()) return 0;
  std::fprintf(stderr, "open_model: %s\n",
               std::string(status.message()).c_str());
  return 1;
}
