#include "kiln/schedule/trace/script_call.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

// The mark of IsRefusedStep: the line of the step.
constexpr char kRefusedStep[] = "kiln/refused_step";

// "main", or the only function of a module that has no main.
std::string DefaultFunction(const Schedule& schedule) {
  const Module& module = schedule.original();
  if (module.functions.size() == 1) return module.functions[0].name;
  return "main";
}

}  // namespace

bool IsRefusedStep(const absl::Status& status) {
  return RefusedLine(status).has_value();
}

std::optional<int> RefusedLine(const absl::Status& status) {
  const auto mark = status.GetPayload(kRefusedStep);
  int line = 0;
  if (!mark || !absl::SimpleAtoi(std::string(*mark), &line)) {
    return std::nullopt;
  }
  return line;
}

absl::Status ScriptCall::Error(const std::string& message) const {
  return source.Error(call.begin, message);
}

absl::Status ScriptCall::Refused(const absl::Status& status) const {
  const absl::Status placed =
      source.Error(call.begin, std::string(status.message()));
  absl::Status refused(status.code(), placed.message());
  const std::string line = absl::StrCat(call.begin.line);
  refused.SetPayload(kRefusedStep, absl::Cord(absl::string_view(line)));
  return refused;
}

absl::StatusOr<Arg> ScriptCall::BindOne(const InstructionKind& kind,
                                        size_t param, size_t* next) {
  const ParamInfo& info = kind.params[param];
  const std::string name(info.name);
  const auto given = named.find(name);
  if (info.kind == ParamKind::kLoops && given == named.end()) {
    ArgList loops(positional.begin() + static_cast<long>(*next),
                  positional.end());
    *next = positional.size();
    return Arg(std::move(loops));
  }
  if (*next < positional.size()) {
    if (given != named.end()) return Error("`" + name + "` is given twice");
    return positional[(*next)++];
  }
  if (given != named.end()) {
    Arg value = std::move(given->second);
    named.erase(given);
    return value;
  }
  if (info.default_value) return *info.default_value;
  return Error(absl::StrCat(std::string(kind.name), " needs `", name, "`"));
}

absl::StatusOr<std::vector<Arg>> ScriptCall::Bind(const InstructionKind& kind) {
  std::vector<Arg> args;
  size_t next = 0;
  for (size_t i = 0; i < kind.params.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Arg arg, BindOne(kind, i, &next));
    args.push_back(std::move(arg));
  }
  if (kind.samples && next < positional.size()) {
    named["decision"] = positional[next++];
  }
  if (next < positional.size()) {
    return Error(absl::StrCat(std::string(kind.name), " takes ",
                              kind.params.size(), " arguments at most"));
  }
  return args;
}

absl::StatusOr<Decision> ScriptCall::BindDecision(const InstructionKind& kind) {
  Decision decision;
  const auto given = named.find("decision");
  if (!kind.samples || given == named.end()) return decision;
  const Arg value = std::move(given->second);
  named.erase(given);
  if (value.is_none()) return decision;
  if (value.integer()) return Decision{*value.integer()};
  if (!value.list()) return Error("a decision is an integer or a list of them");
  for (const Arg& item : *value.list()) {
    if (!item.integer()) return Error("a decision holds plain integers");
    decision.push_back(*item.integer());
  }
  return decision;
}

absl::Status ScriptCall::NameBlock(Schedule* schedule, Arg* arg) const {
  if (!arg->string()) return absl::OkStatus();
  auto block = schedule->GetBlock(*arg->string(), DefaultFunction(*schedule));
  if (!block.ok()) return Refused(block.status());
  *arg = *block;
  return absl::OkStatus();
}

absl::Status ScriptCall::Convert(const ParamInfo& param, Schedule* schedule,
                                 Arg* arg) {
  const bool wants_block =
      param.kind == ParamKind::kBlock || param.kind == ParamKind::kBlockOrLoop;
  if (wants_block) KILN_RETURN_IF_ERROR(NameBlock(schedule, arg));
  if (param.name == "func_name" && arg->is_none()) {
    *arg = DefaultFunction(*schedule);
  }
  if (param.kind == ParamKind::kBlocks) {
    if (arg->is_none()) *arg = ArgList();
    if (!arg->list()) *arg = ArgList{*arg};
    ArgList blocks;
    for (Arg block : *arg->list()) {
      KILN_RETURN_IF_ERROR(NameBlock(schedule, &block));
      blocks.push_back(std::move(block));
    }
    *arg = std::move(blocks);
  }
  return absl::OkStatus();
}

absl::StatusOr<Arg> ScriptCall::Run(Schedule* schedule) {
  const std::string& name = call.items[0].text;
  const InstructionKind* kind = FindInstruction(name);
  if (!kind) return Error("there is no primitive `" + name + "`");
  const bool default_function = kind->name == "get_block" &&
                                positional.size() < 2 &&
                                named.count("func_name") == 0;
  if (default_function) named["func_name"] = Arg();
  KILN_ASSIGN_OR_RETURN(std::vector<Arg> args, Bind(*kind));
  KILN_ASSIGN_OR_RETURN(Decision decision, BindDecision(*kind));
  if (!named.empty()) {
    return Error(
        absl::StrCat(name, " has no parameter `", named.begin()->first, "`"));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    KILN_RETURN_IF_ERROR(Convert(kind->params[i], schedule, &args[i]));
  }
  auto outputs = schedule->Apply(name, std::move(args), std::move(decision));
  if (!outputs.ok()) return Refused(outputs.status());
  switch (kind->outputs) {
    case Outputs::kNone:
      return Arg();
    case Outputs::kOne:
      return Arg((*outputs)[0]);
    case Outputs::kList:
      return Arg(ArgList(outputs->begin(), outputs->end()));
  }
  return Arg();
}

}  // namespace kiln
