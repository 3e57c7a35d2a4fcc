#include "kiln/schedule/trace/print.h"

#include <charconv>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// The shortest digits that read back as the same number.
std::string FloatText(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string IndexText(const Expr& e, int precedence);

std::string BinaryText(const BinaryNode& e, int precedence) {
  const BinaryInfo& info = *GetBinaryInfo(e.kind);
  const std::string symbol(info.symbol);
  if (symbol.empty()) {
    return absl::StrCat("T.", std::string(info.name), "(", IndexText(e.a, 0),
                        ", ", IndexText(e.b, 0), ")");
  }
  const std::string text =
      absl::StrCat(IndexText(e.a, info.precedence), " ", symbol, " ",
                   IndexText(e.b, info.precedence + 1));
  return info.precedence < precedence ? "(" + text + ")" : text;
}

// Index maps hold integers, variables and arithmetic on them, no more.
std::string IndexText(const Expr& e, int precedence) {
  if (const auto* value = e.As<IntImmNode>()) {
    return absl::StrCat(value->value);
  }
  if (const auto* value = e.As<FloatImmNode>()) {
    return absl::StrCat("T.", value->dtype.ToString(), "(",
                        FloatText(value->value), ")");
  }
  if (const auto* var = e.As<VarNode>()) return var->name;
  if (const auto* binary = e.As<BinaryNode>()) {
    return BinaryText(*binary, precedence);
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Trace& trace) : names_(trace.rvs.size()) {}

  std::string Line(const Instruction& instruction) {
    const std::string call = Call(instruction);
    if (instruction.outputs.empty()) return call;
    std::vector<std::string> outputs;
    for (const Rv& rv : instruction.outputs) outputs.push_back(NewName(rv));
    std::string targets = absl::StrJoin(outputs, ", ");
    const bool is_list = instruction.kind->outputs == Outputs::kList;
    if (is_list && outputs.size() == 1) targets += ",";
    return absl::StrCat(targets, " = ", call);
  }

 private:
  std::string NewName(const Rv& rv) {
    const char* prefix = rv.kind == RvKind::kBlock  ? "b"
                         : rv.kind == RvKind::kLoop ? "l"
                                                    : "v";
    return names_[rv.index] = absl::StrCat(prefix, next_++);
  }

  std::string Call(const Instruction& instruction) const {
    std::vector<std::string> args;
    for (size_t i = 0; i < instruction.args.size(); ++i) {
      AddArg(instruction.kind->params[i], instruction.args[i], &args);
    }
    if (!instruction.decision.empty()) {
      args.push_back("decision=" + DecisionText(instruction));
    }
    return absl::StrCat("sch.", std::string(instruction.kind->name), "(",
                        absl::StrJoin(args, ", "), ")");
  }

  void AddArg(const ParamInfo& param, const Arg& arg,
              std::vector<std::string>* args) const {
    if (param.hide_default && arg.list() && arg.list()->empty()) return;
    if (param.kind == ParamKind::kLoops) {
      for (const Arg& item : *arg.list()) args->push_back(Text(item));
      return;
    }
    std::string text = param.kind == ParamKind::kBufferRef && arg.list()
                           ? absl::StrCat("(", Text((*arg.list())[0]), ", ",
                                          Text((*arg.list())[1]), ")")
                           : Text(arg);
    args->push_back(param.positional
                        ? text
                        : absl::StrCat(std::string(param.name), "=", text));
  }

  // One factor list, or one number.
  std::string DecisionText(const Instruction& instruction) const {
    if (instruction.kind->outputs == Outputs::kOne) {
      return absl::StrCat(instruction.decision[0]);
    }
    return absl::StrCat("[", absl::StrJoin(instruction.decision, ", "), "]");
  }

  std::string ListText(const ArgList& list) const {
    std::vector<std::string> items;
    for (const Arg& item : list) items.push_back(Text(item));
    return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
  }

  std::string DictText(const ArgDict& dict) const {
    std::vector<std::string> items;
    for (const auto& [key, item] : dict) {
      items.push_back(absl::StrCat(Quoted(key), ": ", Text(item)));
    }
    return absl::StrCat("{", absl::StrJoin(items, ", "), "}");
  }

  std::string ArithmeticText(const RvArithmetic& e) const {
    const auto operand = [&](const Arg& arg) {
      return arg.arithmetic() ? absl::StrCat("(", Text(arg), ")") : Text(arg);
    };
    const std::string op = e.op == '/' ? "//" : std::string(1, e.op);
    return absl::StrCat(operand(e.a), " ", op, " ", operand(e.b));
  }

  std::string Text(const Arg& arg) const {
    if (arg.boolean()) return *arg.boolean() ? "True" : "False";
    if (arg.integer()) return absl::StrCat(*arg.integer());
    if (arg.real()) return FloatText(*arg.real());
    if (arg.string()) return Quoted(*arg.string());
    if (arg.rv()) return names_[arg.rv()->index];
    if (arg.list()) return ListText(*arg.list());
    if (arg.dict()) return DictText(*arg.dict());
    if (arg.arithmetic()) return ArithmeticText(*arg.arithmetic());
    if (arg.index_map()) {
      return ToText(*arg.index_map(),
                    [&](const Rv& rv) { return names_[rv.index]; });
    }
    return "None";
  }

  std::vector<std::string> names_;
  int next_ = 0;
};

// The outputs two by two.
std::string RangesText(const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i + 1 < outputs.size(); i += 2) {
    ranges.push_back(absl::StrCat("(", outputs[i], ", ", outputs[i + 1], ")"));
  }
  return absl::StrCat("lambda ", absl::StrJoin(inputs, ", "), ": [",
                      absl::StrJoin(ranges, ", "), "]");
}

}  // namespace

std::string ToText(const IndexMapArg& arg,
                   FunctionRef<std::string(const Rv&)> name) {
  VarMap named;
  for (const auto& [var, rv] : arg.captured) named[var.get()] = Var(name(rv));
  std::vector<std::string> inputs, outputs;
  for (const Var& var : arg.map.inputs) inputs.push_back(var.name());
  for (const Expr& e : arg.map.outputs) {
    outputs.push_back(IndexText(Substitute(e, named), 0));
  }
  if (arg.pairs) return RangesText(inputs, outputs);
  return absl::StrCat("lambda ", absl::StrJoin(inputs, ", "), ": (",
                      absl::StrJoin(outputs, ", "),
                      outputs.empty() ? ")" : ",)");
}

std::string ToText(const Trace& trace) {
  Printer printer(trace);
  std::string text =
      "# from tvm import tir\n"
      "def apply_trace(sch: tir.Schedule) -> None:\n";
  for (const Instruction& instruction : trace.instructions) {
    absl::StrAppend(&text, "  ", printer.Line(instruction), "\n");
  }
  if (trace.instructions.empty()) text += "  pass\n";
  return text;
}

}  // namespace kiln
