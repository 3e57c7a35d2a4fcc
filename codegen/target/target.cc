#include "kiln/codegen/target/target.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {
namespace {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::string HostFeatures() {
  std::string features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    absl::StrAppend(&features, features.empty() ? "" : ",",
                    feature.second ? "+" : "-", feature.first().str());
  }
  return features;
}

std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(const Target& target) {
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      llvm_target->createMCSubtargetInfo(target.triple, target.cpu,
                                         target.features));
}

VectorRegisters VectorsOf(const Target& target,
                          const llvm::MCSubtargetInfo& subtarget) {
  if (!llvm::Triple(target.triple).isX86()) return kNeonRegisters;
  if (subtarget.checkFeatures("+avx512f")) return kAvx512Registers;
  return subtarget.checkFeatures("+avx") ? kAvxRegisters : kSseRegisters;
}

// This machine where the target is of its architecture.
Machine MachineFor(const llvm::Triple& triple) {
  static const auto* host = [] {
    auto* machine = new Machine;
    ReadCaches(machine);
    return machine;
  }();
  const llvm::Triple here(llvm::sys::getDefaultTargetTriple());
  return triple.getArch() == here.getArch() ? *host : Machine();
}

// Elsewhere than on x86 every CPU has it.
bool HasFma(const Target& target, const llvm::MCSubtargetInfo& subtarget) {
  return !llvm::Triple(target.triple).isX86() ||
         subtarget.checkFeatures("+fma");
}

bool HasBf16(const Target& target, const llvm::MCSubtargetInfo& subtarget) {
  return llvm::Triple(target.triple).isX86() &&
         subtarget.checkFeatures("+avx512bf16,+avx512vl");
}

void Describe(Target* target) {
  const auto subtarget = Subtarget(*target);
  if (!subtarget) return;
  target->machine = MachineFor(llvm::Triple(target->triple));
  target->machine.cores = target->num_cores;
  target->machine.vectors = VectorsOf(*target, *subtarget);
  target->fma = HasFma(*target, *subtarget);
  target->bf16 = HasBf16(*target, *subtarget);
}

// "; did you mean `avx2`?" for the names of features that are nearest.
std::string NearFeatures(const llvm::MCSubtargetInfo& subtarget,
                         const std::string& name) {
  constexpr unsigned kFar = 3;
  unsigned nearest = kFar;
  std::vector<std::string> names;
  for (const auto& feature : subtarget.getAllProcessorFeatures()) {
    const unsigned distance = llvm::StringRef(name).edit_distance(
        feature.Key, /*AllowReplacements=*/true, kFar);
    if (distance >= kFar || distance > nearest) continue;
    if (distance < nearest) names.clear();
    nearest = distance;
    names.push_back(absl::StrCat("`", feature.Key, "`"));
  }
  if (names.empty()) return "";
  return absl::StrCat("; did you mean ", absl::StrJoin(names, " or "), "?");
}

absl::Status Refuse(std::string_view text, std::string_view reason) {
  constexpr size_t kMost = 200;
  const std::string start(text.substr(0, kMost));
  return absl::InvalidArgumentError(
      absl::StrCat("target \"", start, text.size() > kMost ? "..." : "",
                   "\": ", std::string(reason)));
}

// The value of `option` when it is NAME=VALUE with one or two dashes.
bool TakeOption(std::string_view option, std::string_view name,
                std::string* value) {
  while (!option.empty() && option[0] == '-') option.remove_prefix(1);
  if (option.substr(0, name.size()) != name) return false;
  option.remove_prefix(name.size());
  if (option.empty() || option[0] != '=') return false;
  *value = std::string(option.substr(1));
  return true;
}

// Whether each item of `list` is +NAME or -NAME of a feature that LLVM knows,
// and no name is turned both on and off.
absl::Status CheckFeatureList(std::string_view text, const std::string& list) {
  const auto host = Subtarget(HostTarget());
  std::map<std::string, char> signs;
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(list, ','))) {
    if (item.size() < 2 || (item[0] != '+' && item[0] != '-')) {
      return Refuse(text, absl::StrCat("-mattr wants +NAME or -NAME, comma "
                                       "between them, not \"",
                                       item, "\""));
    }
    const std::string name = item.substr(1);
    const auto known = host->getAllProcessorFeatures();
    if (std::none_of(known.begin(), known.end(),
                     [&](const auto& f) { return name == f.Key; })) {
      return Refuse(text, absl::StrCat("LLVM knows no feature \"", name, "\"",
                                       NearFeatures(*host, name)));
    }
    if (signs.emplace(name, item[0]).first->second != item[0]) {
      return Refuse(text, absl::StrCat("-mattr turns ", name,
                                       " both on and off; drop one of them"));
    }
  }
  return absl::OkStatus();
}

absl::Status ApplyOption(std::string_view text, const std::string& option,
                         Target* target) {
  std::string value;
  if (TakeOption(option, "mcpu", &value)) {
    if (value != target->cpu) target->features.clear();
    target->cpu = value;
    return absl::OkStatus();
  }
  if (TakeOption(option, "num-cores", &value)) {
    if (!absl::SimpleAtoi(value, &target->num_cores) || target->num_cores < 1 ||
        target->num_cores > 1024) {
      return Refuse(text, absl::StrCat("-num-cores wants a number from 1 to "
                                       "1024, not \"",
                                       value, "\""));
    }
    return absl::OkStatus();
  }
  if (TakeOption(option, "mattr", &value)) {
    KILN_RETURN_IF_ERROR(CheckFeatureList(text, value));
    absl::StrAppend(&target->features, target->features.empty() ? "" : ",",
                    value);
    return absl::OkStatus();
  }
  return Refuse(text, absl::StrCat("unknown option \"", option,
                                   "\"; known are -mcpu=NAME, -mattr=LIST and "
                                   "-num-cores=N"));
}

// "did you mean \"skylake\"? Or " of a name that is nearly one.
std::string NearestCpu(const llvm::MCSubtargetInfo* host,
                       const std::string& name) {
  unsigned least = static_cast<unsigned>(name.size()) / 3 + 1;
  std::string nearest;
  if (!host) return nearest;
  for (const auto& cpu : host->getAllProcessorDescriptions()) {
    const unsigned distance = llvm::StringRef(name).edit_distance(cpu.Key);
    if (distance >= least) continue;
    least = distance;
    nearest = absl::StrCat("did you mean \"", cpu.Key, "\"? Or ");
  }
  return nearest;
}

}  // namespace

std::string Target::ToString() const {
  return absl::StrCat("llvm -mcpu=", cpu, " -num-cores=", num_cores);
}

std::string Target::Fingerprint() const {
  return absl::StrCat(triple, " ", cpu, " ", features);
}

Target HostTarget() {
  InitializeLlvm();
  Target target;
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  target.features = HostFeatures();
  target.num_cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Describe(&target);
  return target;
}

absl::StatusOr<Target> ParseTarget(std::string_view text) {
  Target target = HostTarget();
  std::vector<std::string> words =
      absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
  if (words.empty() || words[0] != "llvm") {
    return Refuse(text, "the kind has to be \"llvm\", the only one so far");
  }
  for (size_t i = 1; i < words.size(); ++i) {
    KILN_RETURN_IF_ERROR(ApplyOption(text, words[i], &target));
  }
  // Asked of the host's: LLVM warns when one is made for a CPU it does not
  // know.
  auto host = Subtarget(HostTarget());
  if (!host || !host->isCPUStringValid(target.cpu)) {
    return Refuse(text, absl::StrCat("LLVM knows no CPU \"", target.cpu,
                                     "\" for ", target.triple, "; ",
                                     NearestCpu(host.get(), target.cpu),
                                     "try the host's, ", HostTarget().cpu));
  }
  Describe(&target);
  return target;
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
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
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
