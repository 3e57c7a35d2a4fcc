// Prints a program at any stage between text and machine code, applies a
// schedule to it, or compares it with another. One path through the stages,
// which ends where --stage says:
//
//   load → graph → tensor → schedule (--trace, --schedule) → choose (--func)
//     → lower → code
//   load → graph → bytecode
//
// A module without graph functions is at `tensor` from the start.
//
//   opt --module m.py --trace t.py --stage lowered
//   opt --workload gmm:8,8,8 --compare other.py      exit status 2: they differ
//
// A stage of lowering needs no change here: its name is looked up in
// LowerStages.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/rules/check_rule.h"
#include "kiln/ir/transform/graph/rules/rule.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/tools/support/main.h"
#include "kiln/tools/support/model.h"
#include "kiln/tools/support/prepare_flags.h"
#include "kiln/tools/support/program.h"
#include "kiln/tools/support/replay.h"
#include "kiln/tools/support/stated_difference.h"
#include "kiln/vm/executable/bytecode.h"

ABSL_FLAG(std::string, module, "",
          "A file with the program: TVMScript, or a serialized module; - is "
          "stdin.");
ABSL_FLAG(std::string, workload, "",
          "A named workload with its shape, such as gmm:1024,1024,1024.");
ABSL_FLAG(std::string, einsum, "",
          "A formula such as \"C[i,j] += A[i,k] * B[k,j]\", with --shape.");
ABSL_FLAG(std::string, shape, "",
          "The extents of the formula's indices: i=512,j=512,k=512.");
ABSL_FLAG(std::string, func, "",
          "The function to print. All of the module where none is named; "
          "llvm and asm need one where there are several.");
ABSL_FLAG(std::string, trace, "",
          "A file with a schedule function or a printed trace, to apply.");
ABSL_FLAG(std::string, schedule, "",
          "default: apply to each function (or that of --func) the schedule "
          "that Kiln takes for the best without measuring.");
ABSL_FLAG(std::vector<std::string>, passes, {},
          "Passes over graph functions, run first: infer (struct info), "
          "legalize (ops become tensor functions).");
ABSL_FLAG(std::vector<std::string>, rules, {},
          "Files with rules over graph functions (functions called pattern and "
          "replacement). Each is proved on random inputs (--seed), and refused "
          "where one shows that it is wrong. They are applied where --passes "
          "says rewrite_by_rules, or ahead of the passes.");
ABSL_FLAG(bool, auto, true,
          "False: loops get no vectors, register tiles, copies and prefetches "
          "but those that the schedule asks for.");
ABSL_FLAG(uint64_t, seed, 0,
          "What decides samples without a decision, and inputs that prove "
          "rules.");
ABSL_FLAG(std::string, stage, "",
          "What to print: parsed; of graph functions graph (after --passes), "
          "tensor (the tensor functions that their ops become) or bytecode; "
          "scheduled, a stage of lowering (blocks, "
          "distribution, guards, auto, vectors, prefetches or verify), "
          "lowered, llvm or asm. "
          "Default: scheduled with --trace or --schedule, else parsed.");
ABSL_FLAG(std::string, format, "text", "text, or proto (a serialized module).");
ABSL_FLAG(int64_t, constant_elements, 64,
          "Constants of at most so many elements are printed in full, larger "
          "ones as a place in the metadata, which holds no bytes.");
ABSL_FLAG(std::string, compare, "",
          "A file with another module. Prints nothing and exits with 0 where "
          "it equals this one up to names and simplification, struct info that "
          "inference finds and bytes of constants that a text leaves out; else "
          "exits with 2 and prints the first difference.");
ABSL_FLAG(std::string, target, "llvm",
          "What to generate code for, such as \"llvm -mcpu=znver4\".");

namespace kiln {
namespace {

std::string Usage() {
  return absl::StrCat(
      "Prints a program at a stage of compilation:\n"
      "  opt --module m.py [--func f] [--trace t.py | --schedule default] "
      "--stage parsed|graph|tensor|bytecode|scheduled|",
      absl::StrJoin(LowerStages(), "|"),
      "|lowered|llvm|asm [--format text|proto]\n"
      "      [--passes ",
      absl::StrJoin(GraphPassNames(), ","),
      "] [--rules r.py,s.py] [--bind n=16] [--bind-params w.npz] [--noauto] "
      "[--compare other.py] [--target \"llvm "
      "-mcpu=...\"]\n"
      "Exit status: 0; 1 for an error; 2 where --compare differs; 3 where a "
      "step of the trace is refused.");
}

enum class Stage {
  kParsed,
  kGraph,
  kTensor,
  kBytecode,
  kScheduled,
  kLowered,
  kLlvm,
  kAsm
};

const std::map<std::string, Stage>& StageNames() {
  static const auto* const kNames = new std::map<std::string, Stage>{
      {"parsed", Stage::kParsed},       {"graph", Stage::kGraph},
      {"tensor", Stage::kTensor},       {"bytecode", Stage::kBytecode},
      {"scheduled", Stage::kScheduled}, {"lowered", Stage::kLowered},
      {"llvm", Stage::kLlvm},           {"asm", Stage::kAsm}};
  return *kNames;
}

absl::StatusOr<Stage> ParseStage() {
  const std::string name = absl::GetFlag(FLAGS_stage);
  const bool is_scheduled = !absl::GetFlag(FLAGS_trace).empty() ||
                            !absl::GetFlag(FLAGS_schedule).empty();
  if (name.empty()) return is_scheduled ? Stage::kScheduled : Stage::kParsed;
  const auto known = StageNames().find(name);
  if (known != StageNames().end()) return known->second;
  const std::vector<std::string> parts = LowerStages();
  if (absl::c_linear_search(parts, name)) return Stage::kLowered;
  return absl::InvalidArgumentError(absl::StrCat(
      "--stage ", name,
      " is unknown; stages are parsed, graph, tensor, bytecode, scheduled, ",
      absl::StrJoin(parts, ", "), ", lowered, llvm and asm"));
}

absl::StatusOr<bool> WantsProto(Stage stage) {
  const std::string format = absl::GetFlag(FLAGS_format);
  const bool is_module = stage != Stage::kBytecode && stage <= Stage::kLowered;
  if (format == "proto" && is_module) return true;
  if (format == "text") return false;
  return absl::InvalidArgumentError(
      format == "proto"
          ? std::string("--format proto holds modules; bytecode, llvm and "
                        "asm are text")
          : absl::StrCat("--format ", format,
                         " is unknown; use text or proto"));
}

ProgramFlags Program() {
  ProgramFlags flags;
  flags.module = absl::GetFlag(FLAGS_module);
  flags.workload = absl::GetFlag(FLAGS_workload);
  flags.einsum = absl::GetFlag(FLAGS_einsum);
  flags.shape = absl::GetFlag(FLAGS_shape);
  flags.is_auto = absl::GetFlag(FLAGS_auto);
  return flags;
}

// The module with no function but the one of --func, which passes may have
// made.
absl::StatusOr<Module> KeepChosen(Module module) {
  const std::string name = absl::GetFlag(FLAGS_func);
  if (name.empty()) return module;
  if (const graph::FunctionNode* chosen = module.FindGraph(name)) {
    module.graph_functions = {graph::GraphFunction(chosen)};
    module.functions.clear();
    return module;
  }
  KILN_ASSIGN_OR_RETURN(const Function* chosen, ChooseFunction(module, name));
  Function function = *chosen;
  module.functions = {std::move(function)};
  module.graph_functions.clear();
  return module;
}

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

absl::Status CheckHasGraph(const Module& module) {
  if (!module.graph_functions.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--stage ", absl::GetFlag(FLAGS_stage),
      " is of graph functions, and the module has none; --stage parsed prints "
      "what it has"));
}

absl::StatusOr<std::vector<Rule>> ProvedRules() {
  std::vector<Rule> rules;
  for (const std::string& path : absl::GetFlag(FLAGS_rules)) {
    KILN_ASSIGN_OR_RETURN(const std::string text,
                          ReadFileOrStdin(CallerPath(path)));
    KILN_ASSIGN_OR_RETURN(std::vector<Rule> read, ReadRules(path, text));
    for (Rule& rule : read) {
      RuleCheck check;
      check.seed = absl::GetFlag(FLAGS_seed);
      KILN_RETURN_IF_ERROR(CheckRule(rule, check));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

// After the passes of the flags.
absl::StatusOr<Module> RunPassesOfFlags(Module module) {
  constexpr char kByRules[] = "rewrite_by_rules";
  GraphPassOptions options;
  KILN_ASSIGN_OR_RETURN(options.rules, ProvedRules());
  std::vector<std::string> passes = absl::GetFlag(FLAGS_passes);
  if (!options.rules.empty() && !absl::c_linear_search(passes, kByRules)) {
    passes.insert(passes.begin(), kByRules);
  }
  return RunGraphPasses(std::move(module), passes, options);
}

// What graph functions call, once their ops are tensor functions.
absl::StatusOr<Module> TensorFunctions(const Module& module) {
  KILN_ASSIGN_OR_RETURN(Module prepared, PrepareByFlags(module));
  prepared.graph_functions.clear();
  return prepared;
}

absl::StatusOr<int> PrintBytecode(const Module& module, bool by_default) {
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareByFlags(module));
  KILN_ASSIGN_OR_RETURN(
      const vm::Executable executable,
      CompileModel(prepared, target,
                   by_default ? DefaultSchedules(target) : KeepSchedules()));
  Print(vm::ToString(executable));
  return kExitOk;
}

absl::StatusOr<Module> ScheduleAll(Module module) {
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  const std::string chosen = absl::GetFlag(FLAGS_func);
  for (Function& f : module.functions) {
    if (!chosen.empty() && f.name != chosen) continue;
    KILN_ASSIGN_OR_RETURN(DefaultSchedule best,
                          DefaultScheduleFor(module, f.name, target));
    f = std::move(best.scheduled);
  }
  return module;
}

absl::StatusOr<Module> LowerAll(Module module) {
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  const std::string stage = absl::GetFlag(FLAGS_stage);
  const bool is_part = absl::c_linear_search(LowerStages(), stage);
  for (Function& f : module.functions) {
    absl::StatusOr<Function> lowered =
        LowerForTarget(f, target, Effort::kFull, is_part ? stage : "");
    if (!lowered.ok()) {
      return absl::Status(
          lowered.status().code(),
          absl::StrCat("function ", f.name, ": ", lowered.status().message()));
    }
    f = *std::move(lowered);
  }
  return module;
}

absl::StatusOr<std::string> Code(const Module& lowered, Stage stage) {
  KILN_ASSIGN_OR_RETURN(Target target,
                        ParseTarget(absl::GetFlag(FLAGS_target)));
  KILN_ASSIGN_OR_RETURN(const Function* f, ChooseFunction(lowered, ""));
  return stage == Stage::kLlvm ? CompileToLlvmIr(*f, f->name, target)
                               : CompileToAssembly(*f, f->name, target);
}

absl::StatusOr<int> Compare(const Module& module) {
  KILN_ASSIGN_OR_RETURN(Module other,
                        LoadModuleFile(absl::GetFlag(FLAGS_compare)));
  KILN_ASSIGN_OR_RETURN(other, KeepChosen(std::move(other)));
  const std::optional<std::string> difference = StatedDifference(module, other);
  if (!difference) return kExitOk;
  std::fputs(difference->c_str(), stdout);
  return kExitMismatch;
}

// With the schedules that the flags ask for.
absl::StatusOr<Module> Scheduled(Module module, bool by_default) {
  if (by_default) return ScheduleAll(std::move(module));
  const std::string trace = absl::GetFlag(FLAGS_trace);
  if (trace.empty()) return module;
  KILN_ASSIGN_OR_RETURN(
      module, ApplyTraceFile(module, trace, absl::GetFlag(FLAGS_seed)));
  if (const absl::Status valid = VerifyModule(module); !valid.ok()) {
    std::fprintf(stderr, "warning: no tool runs this program: %s\n",
                 std::string(valid.message()).c_str());
  }
  return module;
}

// The module as it is at the stage, which is not one of code.
absl::StatusOr<Module> ModuleAt(Stage stage, Module module, bool by_default) {
  if (stage == Stage::kTensor) {
    KILN_ASSIGN_OR_RETURN(module, TensorFunctions(module));
  }
  if (stage >= Stage::kScheduled) {
    KILN_ASSIGN_OR_RETURN(module, Scheduled(std::move(module), by_default));
  }
  KILN_ASSIGN_OR_RETURN(module, KeepChosen(std::move(module)));
  return stage >= Stage::kLowered ? LowerAll(std::move(module)) : module;
}

absl::StatusOr<int> Run() {
  KILN_ASSIGN_OR_RETURN(const Stage stage, ParseStage());
  KILN_ASSIGN_OR_RETURN(const bool proto, WantsProto(stage));
  KILN_ASSIGN_OR_RETURN(Module module, LoadProgram(Program()));
  KILN_ASSIGN_OR_RETURN(module, Bound(std::move(module), BindingsOfFlags()));
  KILN_ASSIGN_OR_RETURN(module, RunPassesOfFlags(std::move(module)));
  KILN_ASSIGN_OR_RETURN(const bool by_default,
                        WantsDefaultSchedule(absl::GetFlag(FLAGS_schedule),
                                             absl::GetFlag(FLAGS_trace)));
  if (stage > Stage::kParsed && stage < Stage::kScheduled) {
    KILN_RETURN_IF_ERROR(CheckHasGraph(module));
  }
  if (stage == Stage::kBytecode) return PrintBytecode(module, by_default);
  absl::StatusOr<Module> at = ModuleAt(stage, std::move(module), by_default);
  if (IsRefusedStep(at.status())) {
    std::fprintf(stderr, "refused: %s\n",
                 std::string(at.status().message()).c_str());
    return kExitRefused;
  }
  KILN_RETURN_IF_ERROR(at.status());
  if (!absl::GetFlag(FLAGS_compare).empty()) return Compare(*at);
  if (stage == Stage::kLlvm || stage == Stage::kAsm) {
    KILN_ASSIGN_OR_RETURN(std::string code, Code(*at, stage));
    Print(code);
  } else {
    PrintOptions options;
    options.max_constant_elements = absl::GetFlag(FLAGS_constant_elements);
    Print(proto ? SerializeModule(*at) : PrintModule(*at, options));
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::Usage() + kiln::WorkloadHelp(),
                       kiln::Run);
}
