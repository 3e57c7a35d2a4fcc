#include "kiln/codegen/target/target.h"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/cpu_features.h"
#include "kiln/codegen/target/subtarget.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {

using codegen_internal::Describe;
using codegen_internal::Subtarget;

namespace {

// As LLVM reads them, without those that the operating system does not keep.
llvm::StringMap<bool> FeaturesOfHost() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const std::string& name : MissingCpuFeatures(KnownCpuFeatures())) {
    const auto found = features.find(name);
    if (found != features.end()) found->second = false;
  }
  return features;
}

std::string HostFeatures() {
  std::string features;
  for (const auto& feature : FeaturesOfHost()) {
    absl::StrAppend(&features, features.empty() ? "" : ",",
                    feature.second ? "+" : "-", feature.first().str());
  }
  return features;
}

}  // namespace

std::string Target::ToString() const {
  std::string text = "llvm";
  if (triple != llvm::sys::getDefaultTargetTriple()) {
    absl::StrAppend(&text, " -mtriple=", triple);
  }
  absl::StrAppend(&text, " -mcpu=", cpu);
  if (!attributes.empty()) absl::StrAppend(&text, " -mattr=", attributes);
  return absl::StrCat(text, " -num-cores=", num_cores);
}

std::string Target::Fingerprint() const {
  const auto kib = [&](MemoryLevelId cache) {
    return machine.level(cache).bytes >> 10;
  };
  return absl::StrCat(triple, " ", cpu, " ", features,
                      " caches=", kib(MemoryLevelId::kL1), "K,",
                      kib(MemoryLevelId::kL2), "K");
}

Target HostTarget() {
  Target target;
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  target.features = HostFeatures();
  target.num_cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Describe(&target);
  return target;
}

bool IsOfThisArchitecture(const Target& target) {
  return llvm::Triple(target.triple).getArch() ==
         llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch();
}

namespace {

// Instructions that only an operating system or one who asks for them by name
// uses: code that is generated from arithmetic has none of them. Virtual
// machines often hide them. From the intrinsics in Intel's and AMD's manuals.
bool IsGenerated(const std::string& feature) {
  static const auto* by_name_only = new std::set<std::string>{
      "cldemote", "clflushopt", "clwb",      "clzero",   "enqcmd", "fsgsbase",
      "hreset",   "invpcid",    "kl",        "lwp",      "mwaitx", "pconfig",
      "pku",      "prefetchi",  "ptwrite",   "rdpid",    "rdpru",  "rdrnd",
      "rdseed",   "rtm",        "serialize", "sgx",      "shstk",  "tsxldtrk",
      "uintr",    "usermsr",    "waitpkg",   "wbnoinvd", "widekl", "xsave",
      "xsavec",   "xsaveopt",   "xsaves",    "raoint"};
  return by_name_only->count(feature) == 0;
}

}  // namespace

absl::Status CheckRunsHere(const Target& target) {
  static const auto* host = new Target(HostTarget());
  if (target.Fingerprint() == host->Fingerprint()) return absl::OkStatus();
  const auto wanted = Subtarget(target);
  if (!wanted || target.triple != host->triple) {
    return absl::FailedPreconditionError(absl::StrCat(
        "code for ", target.triple, " cannot run on this machine, ",
        host->triple, "; compile it here and run it there"));
  }
  std::vector<std::string> missing;
  for (const auto& feature : FeaturesOfHost()) {
    const std::string name = feature.first().str();
    if (!feature.second && IsGenerated(name) &&
        wanted->checkFeatures("+" + name)) {
      missing.push_back(name);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  std::sort(missing.begin(), missing.end());
  return absl::FailedPreconditionError(absl::StrCat(
      "this machine (", host->cpu, ") cannot run code for ", target.cpu,
      ": it lacks ", absl::StrJoin(missing, ", "), "; take -mcpu=", host->cpu,
      ", or add -mattr=-", absl::StrJoin(missing, ",-")));
}

}  // namespace kiln
