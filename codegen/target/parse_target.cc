// Reads the text of a target: "llvm -mtriple=aarch64-linux-gnu
// -mcpu=neoverse-v1 -num-cores=4". Options are read into a record first and
// applied in an order of their own, since the names of CPUs and features are
// those of the triple. Without a triple, or with the host's, CPU and features
// start as the host's; another triple starts with the default CPU of its
// architecture:
//
//   llvm -mcpu=haswell                     the host's triple, another CPU; the
//                                          host's own has the host's features
//   llvm -mtriple=aarch64-linux-gnu        on x86: the CPU "generic"
//
// Names are looked up in LLVM's tables before LLVM sees them, as it only warns
// of unknown ones and goes on.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/subtarget.h"
#include "kiln/codegen/target/target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {
namespace {

using codegen_internal::CanEmit;
using codegen_internal::Describe;
using codegen_internal::Subtarget;

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

std::string NoFeature(const std::string& item) {
  return absl::StrCat("-mattr wants +NAME or -NAME, comma between them, not \"",
                      item, "\"");
}

// Whether each item of `list` is +NAME or -NAME of a feature that `subtarget`
// knows, and no name is turned both on and off.
absl::Status CheckFeatureList(std::string_view text, const std::string& list,
                              const llvm::MCSubtargetInfo& subtarget) {
  const auto known = subtarget.getAllProcessorFeatures();
  std::map<std::string, char> signs;
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(list, ','))) {
    if (item.size() < 2 || (item[0] != '+' && item[0] != '-')) {
      return Refuse(text, NoFeature(item));
    }
    const std::string name = item.substr(1);
    if (absl::c_none_of(known, [&](const auto& f) { return name == f.Key; })) {
      return Refuse(text, absl::StrCat("LLVM knows no feature \"", name, "\"",
                                       NearFeatures(subtarget, name)));
    }
    if (signs.emplace(name, item[0]).first->second != item[0]) {
      return Refuse(text, absl::StrCat("-mattr turns ", name,
                                       " both on and off; drop one of them"));
    }
  }
  return absl::OkStatus();
}

// What a target's text says, each option the last of its name.
struct Options {
  std::optional<std::string> triple, cpu;
  std::optional<std::string> attributes;  // of all -mattr, joined
  std::optional<int> cores;
};

absl::Status ReadCores(std::string_view text, const std::string& value,
                       Options* options) {
  int cores = 0;
  if (!absl::SimpleAtoi(value, &cores) || cores < 1 || cores > 1024) {
    return Refuse(text, absl::StrCat("-num-cores wants a number from 1 to "
                                     "1024, not \"",
                                     value, "\""));
  }
  options->cores = cores;
  return absl::OkStatus();
}

absl::Status ReadOption(std::string_view text, const std::string& option,
                        Options* options) {
  std::string value;
  if (TakeOption(option, "mtriple", &value)) {
    options->triple = value;
  } else if (TakeOption(option, "mcpu", &value)) {
    options->cpu = value;
  } else if (TakeOption(option, "num-cores", &value)) {
    return ReadCores(text, value, options);
  } else if (TakeOption(option, "mattr", &value)) {
    options->attributes = options->attributes
                              ? absl::StrCat(*options->attributes, ",", value)
                              : value;
  } else {
    return Refuse(text, absl::StrCat("unknown option \"", option,
                                     "\"; known are -mtriple=TRIPLE, "
                                     "-mcpu=NAME, -mattr=LIST and "
                                     "-num-cores=N"));
  }
  return absl::OkStatus();
}

// The host's where `triple` names its architecture, system and environment,
// whoever the vendor is.
absl::StatusOr<std::string> ReadTriple(std::string_view text,
                                       const std::string& triple) {
  const std::string here = llvm::sys::getDefaultTargetTriple();
  const std::string normal = llvm::Triple::normalize(triple);
  const llvm::Triple wanted(normal), host(here);
  if (wanted.getArch() == host.getArch() && wanted.getOS() == host.getOS() &&
      wanted.getEnvironment() == host.getEnvironment()) {
    return here;
  }
  if (!CanEmit(wanted)) {
    return Refuse(
        text, absl::StrCat("no code is generated for \"", triple,
                           "\": it takes 64-bit x86 or AArch64, little-endian, "
                           "with ELF objects, such as x86_64-linux-gnu or "
                           "aarch64-linux-gnu"));
  }
  return normal;
}

// "did you mean \"skylake\"? Or " of a name that is nearly one.
std::string NearestCpu(const llvm::MCSubtargetInfo& subtarget,
                       const std::string& name) {
  unsigned least = static_cast<unsigned>(name.size()) / 3 + 1;
  std::string nearest;
  for (const auto& cpu : subtarget.getAllProcessorDescriptions()) {
    const unsigned distance = llvm::StringRef(name).edit_distance(cpu.Key);
    if (distance >= least) continue;
    least = distance;
    nearest = absl::StrCat("did you mean \"", cpu.Key, "\"? Or ");
  }
  return nearest;
}

// Takes the CPU and the features of `options`. The triple's default CPU, which
// `target` has, knows their names: LLVM warns when one is made for a CPU that
// it does not know.
absl::Status ChooseCpu(std::string_view text, const Options& options,
                       Target* target) {
  const auto subtarget = Subtarget(*target);
  if (!subtarget) {
    return Refuse(text, absl::StrCat("this LLVM has no code generator for ",
                                     target->triple));
  }
  const std::string cpu = options.cpu.value_or(target->cpu);
  if (!subtarget->isCPUStringValid(cpu)) {
    return Refuse(
        text, absl::StrCat("LLVM knows no CPU \"", cpu, "\" for ",
                           target->triple, "; ", NearestCpu(*subtarget, cpu),
                           "try the default, ", target->cpu));
  }
  if (cpu != target->cpu) target->features.clear();
  target->cpu = cpu;
  if (!options.attributes) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(CheckFeatureList(text, *options.attributes, *subtarget));
  target->attributes = *options.attributes;
  absl::StrAppend(&target->features, target->features.empty() ? "" : ",",
                  *options.attributes);
  return absl::OkStatus();
}

// A target of the triple with its default CPU: the host's, or one that has what
// its architecture demands.
absl::StatusOr<Target> BaseTarget(std::string_view text,
                                  const Options& options) {
  Target target = HostTarget();
  if (!options.triple) return target;
  KILN_ASSIGN_OR_RETURN(const std::string triple,
                        ReadTriple(text, *options.triple));
  if (triple == target.triple) return target;
  target.triple = triple;
  target.cpu = llvm::Triple(triple).isX86() ? "x86-64" : "generic";
  target.features.clear();
  return target;
}

}  // namespace

absl::StatusOr<Target> ParseTarget(std::string_view text) {
  std::vector<std::string> words =
      absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
  if (words.empty() || words[0] != "llvm") {
    return Refuse(text, "the kind has to be \"llvm\", the only one so far");
  }
  Options options;
  for (size_t i = 1; i < words.size(); ++i) {
    KILN_RETURN_IF_ERROR(ReadOption(text, words[i], &options));
  }
  KILN_ASSIGN_OR_RETURN(Target target, BaseTarget(text, options));
  KILN_RETURN_IF_ERROR(ChooseCpu(text, options, &target));
  target.num_cores = options.cores.value_or(target.num_cores);
  Describe(&target);
  return target;
}

}  // namespace kiln
