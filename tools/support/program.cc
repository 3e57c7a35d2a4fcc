#include "kiln/tools/support/program.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/einsum/einsum.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/analysis/race.h"

namespace kiln {
namespace {

absl::Status InFlag(const char* flag, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("--", flag, ": ", status.message()));
}

absl::Status InFile(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(name, ": ", status.message()));
}

// A serialized module begins with the tag and number of its version, which are
// control characters; a script never holds any but spaces.
bool LooksLikeText(std::string_view contents) {
  return std::all_of(contents.begin(), contents.end(), [](unsigned char c) {
    return c >= 32 || c == '\n' || c == '\t' || c == '\r' || c == '\f';
  });
}

absl::Status Verify(const Module& module) {
  for (const Function& f : module.functions) {
    KILN_RETURN_IF_ERROR(VerifyFunction(f, {.level = LevelOf(f)}));
    KILN_RETURN_IF_ERROR(CheckConcurrentLoops(f));
  }
  return absl::OkStatus();
}

// What a flag made, unless it is too large for any machine.
absl::StatusOr<Module> FromFlag(const char* flag,
                                absl::StatusOr<Module> module) {
  if (!module.ok()) return InFlag(flag, module.status());
  const absl::Status valid = Verify(*module);
  return valid.ok() ? module : InFlag(flag, valid);
}

absl::StatusOr<Module> LoadEinsum(const ProgramFlags& flags) {
  if (flags.shape.empty()) {
    return absl::InvalidArgumentError(
        "--einsum needs the extent of every index: --shape i=512,j=512,k=512");
  }
  absl::StatusOr<std::map<std::string, int64_t>> extents =
      ParseExtents(flags.shape);
  if (!extents.ok()) return InFlag("shape", extents.status());
  return FromFlag("einsum", ParseEinsum(flags.einsum, *extents));
}

absl::StatusOr<Module> LoadFromFlags(const ProgramFlags& flags) {
  if (!flags.module.empty()) return LoadModuleFile(flags.module);
  if (!flags.einsum.empty()) return LoadEinsum(flags);
  return FromFlag("workload", MakeWorkload(flags.workload));
}

std::string FunctionNames(const Module& module) {
  std::string names;
  for (const Function& f : module.functions) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", f.name);
  }
  return names;
}

}  // namespace

absl::StatusOr<Module> LoadModuleFile(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(std::string contents,
                        ReadFileOrStdin(CallerPath(path)));
  const std::string name = path == "-" ? "stdin" : path;
  if (!LooksLikeText(contents)) {
    absl::StatusOr<Module> module = ParseModuleBytes(contents);
    return module.ok() ? module : InFile(name, module.status());
  }
  KILN_ASSIGN_OR_RETURN(Module module, ParseModule(name, std::move(contents)));
  const absl::Status valid = Verify(module);
  return valid.ok() ? absl::StatusOr<Module>(std::move(module))
                    : InFile(name, valid);
}

absl::StatusOr<Module> LoadProgram(const ProgramFlags& flags) {
  const int given =
      !flags.module.empty() + !flags.workload.empty() + !flags.einsum.empty();
  if (given != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        given == 0 ? "no program is given" : "more than one program is given",
        "; use one of --module FILE, --workload gmm:1024,1024,1024, and "
        "--einsum \"C[i,j] += A[i,k] * B[k,j]\" --shape i=512,j=512,k=512"));
  }
  if (!flags.shape.empty() && flags.einsum.empty()) {
    return absl::InvalidArgumentError(
        "--shape goes with --einsum; a workload has its shape in its name, "
        "such as gmm:512,512,512");
  }
  KILN_ASSIGN_OR_RETURN(Module module, LoadFromFlags(flags));
  if (!flags.is_auto) SetAuto(&module, false);
  if (!flags.func.empty() && !module.FindGraph(flags.func)) {
    KILN_RETURN_IF_ERROR(ChooseFunction(module, flags.func).status());
  }
  return module;
}

absl::StatusOr<const Function*> ChooseFunction(const Module& module,
                                               const std::string& func) {
  if (module.functions.empty()) {
    return absl::InvalidArgumentError("the module has no tensor function");
  }
  if (func.empty()) {
    if (module.functions.size() == 1) return &module.functions[0];
    return absl::InvalidArgumentError(absl::StrCat(
        "the module has ", module.functions.size(),
        " functions; choose one with --func: ", FunctionNames(module)));
  }
  if (const Function* found = module.Find(func)) return found;
  return absl::NotFoundError(absl::StrCat("--func ", func,
                                          ": the module has no such function, "
                                          "only ",
                                          FunctionNames(module)));
}

std::string WorkloadHelp() {
  std::string text =
      "\nWorkloads, with their dimensions (none: the default shape; "
      ":layout_free and\n:normwise may stand behind them):\n";
  for (const auto* table : {&Workloads(), &Layers()}) {
    for (const WorkloadInfo& workload : *table) {
      absl::StrAppend(&text, "  ", workload.name, ":", workload.dimensions,
                      "\n");
    }
  }
  text.pop_back();
  return text;
}

}  // namespace kiln
