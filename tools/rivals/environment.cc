#include "kiln/tools/rivals/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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

// The value of kChosenCore; empty where there is none.
std::string ChosenCore(const char* const* entries) {
  const std::string begin = absl::StrCat(kChosenCore, "=");
  for (; *entries; ++entries) {
    const std::string_view entry = *entries;
    if (entry.substr(0, begin.size()) == begin) {
      return std::string(entry.substr(begin.size()));
    }
  }
  return "";
}

absl::Status Restart(char** argv, std::vector<std::string> entries,
                     const std::string& how) {
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  execve("/proc/self/exe", argv, environment.data());
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot start again ", how));
}

}  // namespace

SplitEnvironment WithoutSteering(const char* const* entries) {
  SplitEnvironment split;
  const std::string own =
      absl::StrCat("OPENBLAS_CORETYPE=", ChosenCore(entries));
  for (; *entries; ++entries) {
    const std::string_view entry = *entries;
    const bool steers =
        entry != own && SteersLibraries(entry.substr(0, entry.find('=')));
    (steers ? split.dropped : split.kept).emplace_back(entry);
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

absl::Status RestartWithCore(char** argv, const std::string& core) {
  if (ChosenCore(environ) == core) return absl::OkStatus();
  const std::string setting = absl::StrCat("OPENBLAS_CORETYPE=", core);
  std::fprintf(stderr,
               "bench: starts again with %s: OpenBLAS has chosen kernels below "
               "the processor\n",
               setting.c_str());
  std::vector<std::string> entries = WithoutSteering(environ).kept;
  // An earlier choice would hide this one, and the next start would start
  // again.
  std::erase_if(entries, [](const std::string& entry) {
    return entry.rfind(absl::StrCat(kChosenCore, "="), 0) == 0 ||
           entry.rfind("OPENBLAS_CORETYPE=", 0) == 0;
  });
  entries.push_back(setting);
  entries.push_back(absl::StrCat(kChosenCore, "=", core));
  return Restart(argv, std::move(entries), absl::StrCat("with ", setting));
}

}  // namespace kiln::bench
