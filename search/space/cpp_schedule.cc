// Each instruction of the trace becomes one call of Schedule::Apply, by the
// name of its primitive, since that takes any argument that a trace can hold:
//
//   l1, l2 = sch.split(loop=l0, factors=[None, 16])
//     ->  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> r1,
//             sch.Apply("split", ArgList{r0[0], Arg(ArgList{..}), ..}));
//
// Random variables are elements of the vectors that calls gave. An index map is
// a lambda that makes its variables and then its outputs.
#include "kiln/search/space/cpp_schedule.h"

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/trace/arg.h"

namespace kiln {
namespace {

class Writer {
 public:
  absl::StatusOr<std::string> Write(const Trace& trace) {
    std::string text = "absl::Status ApplyTrace(Schedule& sch) {\n";
    for (const Instruction& instruction : trace.instructions) {
      KILN_ASSIGN_OR_RETURN(const std::string step, Step(instruction));
      text += step;
    }
    return text + "  return absl::OkStatus();\n}\n";
  }

 private:
  absl::StatusOr<std::string> Step(const Instruction& instruction) {
    std::vector<std::string> args;
    for (const Arg& arg : instruction.args) {
      KILN_ASSIGN_OR_RETURN(std::string text, Text(arg));
      args.push_back(std::move(text));
    }
    // Braces around one argument that is a list itself would be that list.
    std::string call =
        absl::StrCat("sch.Apply(\"", std::string(instruction.kind->name),
                     "\", ArgList{", absl::StrJoin(args, ", "), "}");
    if (instruction.kind->samples) {
      absl::StrAppend(&call, ", {", absl::StrJoin(instruction.decision, ", "),
                      "}");
    }
    absl::StrAppend(&call, ")");
    if (instruction.outputs.empty()) {
      return absl::StrCat("  KILN_RETURN_IF_ERROR(", call, ".status());\n");
    }
    const std::string name = absl::StrCat("r", results_++);
    for (size_t i = 0; i < instruction.outputs.size(); ++i) {
      names_[instruction.outputs[i].index] = absl::StrCat(name, "[", i, "]");
    }
    return absl::StrCat("  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> ", name,
                        ",\n                        ", call, ");\n");
  }

  absl::StatusOr<std::string> Text(const Arg& arg) {
    if (arg.is_none()) return std::string("Arg()");
    if (arg.boolean()) return std::string(*arg.boolean() ? "true" : "false");
    if (arg.integer()) return absl::StrCat("int64_t{", *arg.integer(), "}");
    if (arg.real()) return absl::StrCat("double{", *arg.real(), "}");
    if (arg.string()) {
      return absl::StrCat("\"", absl::CEscape(*arg.string()), "\"");
    }
    if (arg.rv()) return names_[arg.rv()->index];
    if (arg.list()) return List(*arg.list());
    if (arg.dict()) return Dict(*arg.dict());
    if (arg.arithmetic()) return Arithmetic(*arg.arithmetic());
    return Map(*arg.index_map());
  }

  absl::StatusOr<std::string> List(const ArgList& list) {
    std::vector<std::string> items;
    for (const Arg& item : list) {
      KILN_ASSIGN_OR_RETURN(const std::string text, Text(item));
      items.push_back(absl::StrCat("Arg(", text, ")"));
    }
    return absl::StrCat("Arg(ArgList{", absl::StrJoin(items, ", "), "})");
  }

  absl::StatusOr<std::string> Dict(const ArgDict& dict) {
    std::vector<std::string> items;
    for (const auto& [key, value] : dict) {
      KILN_ASSIGN_OR_RETURN(const std::string text, Text(value));
      items.push_back(
          absl::StrCat("{\"", absl::CEscape(key), "\", Arg(", text, ")}"));
    }
    return absl::StrCat("Arg(ArgDict{", absl::StrJoin(items, ", "), "})");
  }

  absl::StatusOr<std::string> Arithmetic(const RvArithmetic& e) {
    KILN_ASSIGN_OR_RETURN(const std::string a, Text(e.a));
    KILN_ASSIGN_OR_RETURN(const std::string b, Text(e.b));
    return absl::StrCat("std::make_shared<const RvArithmetic>(RvArithmetic{'",
                        std::string(1, e.op), "', Arg(", a, "), Arg(", b,
                        ")})");
  }

  // The variables are made where the map is.
  absl::StatusOr<std::string> Map(const IndexMapArg& arg) {
    std::map<const VarNode*, std::string> vars;
    std::vector<std::string> made, inputs, outputs, captured;
    const auto make = [&](const Var& var) {
      const std::string name = absl::StrCat("x", vars.size());
      vars[var.get()] = name;
      made.push_back(
          absl::StrCat("const Var ", name, "(\"", var.name(), "\"); "));
      return name;
    };
    for (const Var& input : arg.map.inputs) inputs.push_back(make(input));
    for (const auto& [var, rv] : arg.captured) {
      captured.push_back(
          absl::StrCat("{", make(var), ", ", names_[rv.index], "}"));
    }
    for (const Expr& output : arg.map.outputs) {
      KILN_ASSIGN_OR_RETURN(std::string text, Text(output, vars));
      outputs.push_back(std::move(text));
    }
    return absl::StrCat(
        "[&] { ", absl::StrJoin(made, ""),
        "return std::make_shared<const IndexMapArg>(IndexMapArg{{{",
        absl::StrJoin(inputs, ", "), "}, {", absl::StrJoin(outputs, ", "),
        "}}, {", absl::StrJoin(captured, ", "), "}}); }()");
  }

  absl::StatusOr<std::string> Text(
      const Expr& e, const std::map<const VarNode*, std::string>& vars) {
    if (const auto* value = e.As<IntImmNode>()) {
      return absl::StrCat("Int(", value->value, ")");
    }
    if (const auto* var = e.As<VarNode>()) {
      const auto found = vars.find(var);
      if (found != vars.end()) return found->second;
    }
    if (const auto* binary = e.As<BinaryNode>()) {
      KILN_ASSIGN_OR_RETURN(const std::string a, Text(binary->a, vars));
      KILN_ASSIGN_OR_RETURN(const std::string b, Text(binary->b, vars));
      return absl::StrCat(std::string(GetBinaryInfo(e.kind())->name), "(", a,
                          ", ", b, ")");
    }
    return absl::UnimplementedError(
        "an index map holds what has no form as C++ calls; use the schedule as "
        "text");
  }

  std::map<int, std::string> names_;  // of random variables
  int results_ = 0;
};

}  // namespace

absl::StatusOr<std::string> CppText(const Trace& trace) {
  return Writer().Write(trace);
}

}  // namespace kiln
