#include "kiln/tools/rivals/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kiln::bench {
namespace {

// Of OpenBLAS (GOTO_ and plain OMP_ are read by it too), of OpenMP runtimes,
// of oneDNN under its three names, of MKL, of allocators.
constexpr std::string_view kPrefixes[] = {
    "OPENBLAS_", "GOTO_",     "OMP_",      "GOMP_",    "KMP_",
    "LIBOMP_",   "ONEDNN_",   "DNNL_",     "MKLDNN_",  "MKL_",
    "MALLOC_",   "TCMALLOC_", "JEMALLOC_", "MIMALLOC_"};

// Of the C library and its loader.
constexpr std::string_view kNames[] = {
    "LD_PRELOAD",    "LD_AUDIT",   "LD_BIND_NOT",   "LD_DEBUG",
    "LD_HWCAP_MASK", "LD_PROFILE", "GLIBC_TUNABLES"};

}  // namespace

bool SteersLibraries(std::string_view variable) {
  const auto begins = [&](std::string_view prefix) {
    return variable.substr(0, prefix.size()) == prefix;
  };
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), begins) ||
         std::count(std::begin(kNames), std::end(kNames), variable) > 0;
}

namespace {

bool IsOf(const std::string& entry, std::string_view name) {
  return absl::StartsWith(entry, absl::StrCat(std::string(name), "="));
}

// Those of kChosenSettings.
std::vector<std::string> ChosenSettings(const char* const* entries) {
  for (; *entries; ++entries) {
    const std::string entry = *entries;
    if (!IsOf(entry, kChosenSettings)) continue;
    return absl::StrSplit(entry.substr(entry.find('=') + 1), ' ',
                          absl::SkipEmpty());
  }
  return {};
}

absl::Status Restart(char** argv, std::vector<std::string> entries,
                     const std::string& how) {
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  // By its path, so that it keeps its name in lists of processes.
  std::error_code unknown;
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/exe", unknown);
  execve(path.c_str(), argv, environment.data());
  execve("/proc/self/exe", argv, environment.data());
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot start again ", how));
}

}  // namespace

SplitEnvironment WithoutSteering(const char* const* entries) {
  SplitEnvironment split;
  const std::vector<std::string> own = ChosenSettings(entries);
  for (; *entries; ++entries) {
    const std::string entry = *entries;
    const bool steers = SteersLibraries(entry.substr(0, entry.find('='))) &&
                        !absl::c_linear_search(own, entry);
    (steers ? split.dropped : split.kept).push_back(entry);
  }
  return split;
}

absl::Status RestartUnsteered(char** argv) {
  SplitEnvironment split = WithoutSteering(environ);
  if (split.dropped.empty()) return absl::OkStatus();
  std::fprintf(stderr,
               "bench: starts again without %s: libraries would not run at "
               "their best\n",
               absl::StrJoin(split.dropped, " ").c_str());
  return Restart(argv, std::move(split.kept),
                 absl::StrCat("without ", absl::StrJoin(split.dropped, " "),
                              "; unset these variables"));
}

bool HasChosenSettings() { return !ChosenSettings(environ).empty(); }

absl::Status RestartWith(char** argv, const std::vector<std::string>& settings,
                         const std::string& why) {
  if (ChosenSettings(environ) == settings) return absl::OkStatus();
  const std::string list = absl::StrJoin(settings, " ");
  std::fprintf(stderr, "bench: starts again with %s: %s\n", list.c_str(),
               why.c_str());
  std::vector<std::string> entries = WithoutSteering(environ).kept;
  // An earlier choice would hide this one, and the next start would start
  // again.
  std::erase_if(entries, [](const std::string& entry) {
    return IsOf(entry, kChosenSettings) ||
           SteersLibraries(entry.substr(0, entry.find('=')));
  });
  entries.insert(entries.end(), settings.begin(), settings.end());
  entries.push_back(absl::StrCat(kChosenSettings, "=", list));
  return Restart(argv, std::move(entries), absl::StrCat("with ", list));
}

}  // namespace kiln::bench
