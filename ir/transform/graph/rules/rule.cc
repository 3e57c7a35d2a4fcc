// Reading a rule is mostly refusing what is none. The two functions are
// inferred as any other; then the replacement is written in the pattern's
// dimensions, parameter by parameter,
//
//   pattern(x: (n, 4))   replacement(y: (m, 4))     m is n
//
// so that what is matched of the pattern says all that the replacement needs.
#include "kiln/ir/transform/graph/rules/rule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {

RuleBody BodyOf(const graph::FunctionNode& f) {
  RuleBody body;
  const auto& seq = *f.body.As<graph::SeqNode>();
  for (const graph::BindingBlock& block : seq.blocks) {
    body.bindings.insert(body.bindings.end(), block.bindings.begin(),
                         block.bindings.end());
  }
  graph::Expr result = seq.result;
  for (const graph::Binding& binding : body.bindings) {
    const bool is_tuple = binding.var.get() == result.get() &&
                          binding.value.As<graph::TupleNode>();
    if (is_tuple) result = binding.value;
  }
  const auto* tuple = result.As<graph::TupleNode>();
  body.results = tuple ? tuple->fields : std::vector<graph::Expr>{result};
  return body;
}

namespace {

using Dims = std::set<const VarNode*>;

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// --- What a function of a rule may be.

absl::Status CheckParameter(const graph::Var& param) {
  const auto is_known = [](const graph::StructInfo& info, auto& self) -> bool {
    if (const auto* tuple = info.As<graph::TupleInfo>()) {
      return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const auto& field) { return self(field, self); });
    }
    if (const auto* tensor = info.As<graph::TensorInfo>()) {
      return !tensor->shape || tensor->extents();
    }
    return info.As<graph::PrimInfo>() || info.As<graph::ShapeInfo>();
  };
  if (is_known(param->info, is_known)) return absl::OkStatus();
  return Wrong(absl::StrCat(
      "parameter ", param->name, " is ", PrintStructInfo(param->info),
      "; a rule takes tensors, shapes, numbers and tuples of those"));
}

// Names tensor functions of the rule's own module.
absl::Status CheckNames(const graph::Expr& value, const Module& module) {
  std::set<std::string> names;
  AddNames(value, names);
  for (const std::string& name : names) {
    if (module.Find(name)) continue;
    return Wrong(absl::StrCat("calls the graph function ", name,
                              "; write what it does in its place"));
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const graph::Expr& value, const Module& module) {
  switch (value.kind()) {
    case graph::GraphKind::kMatchCast:
    case graph::GraphKind::kIf:
    case graph::GraphKind::kFunction:
    case graph::GraphKind::kSeq:
      return Wrong(
          "is a cast, a branch or a function; a rule is made of calls, tuples "
          "and fields of tuples");
    case graph::GraphKind::kCall:
      break;
    default:
      return absl::OkStatus();
  }
  KILN_RETURN_IF_ERROR(CheckNames(value, module));
  const auto& call = *value.As<graph::CallNode>();
  const bool is_called_by_op = call.callee.As<graph::OpNode>() != nullptr;
  if (is_called_by_op && IsPure(value, module)) return absl::OkStatus();
  return Wrong(absl::StrCat(
      PrintGraphExpr(value),
      " may have an effect; a rule is made of values without effects, such as "
      "ops, R.call_tir, R.call_dps_packed and R.call_pure_packed"));
}

absl::Status CheckFunction(const graph::FunctionNode& f, const Module& module) {
  if (!f.body) return Wrong("has no body");
  for (const graph::Var& param : f.params) {
    KILN_RETURN_IF_ERROR(CheckParameter(param));
  }
  for (const graph::Binding& binding : BodyOf(f).bindings) {
    const absl::Status status = CheckValue(binding.value, module);
    if (status.ok()) continue;
    return Wrong(absl::StrCat(binding.var->name, " ", status.message()));
  }
  for (const graph::Expr& result : BodyOf(f).results) {
    if (!result.As<graph::TupleNode>()) continue;
    return Wrong("gives a tuple in a tuple; a rule gives one value or a tuple");
  }
  return absl::OkStatus();
}

// --- What the pattern tells.

std::set<const graph::VarNode*> UsedBy(const graph::FunctionNode& f) {
  std::set<const graph::VarNode*> used;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    if (const auto* var = e.As<graph::VarNode>()) used.insert(var);
    return true;
  });
  return used;
}

void AddAlone(const graph::Scalar& e, Dims& dims) {
  if (const auto* var = e.As<VarNode>()) dims.insert(var);
}

// The dimensions that a match of the pattern says: those that stand alone in a
// parameter that is used, as a number, as an extent, or in what a call
// declares.
Dims ToldBy(const graph::FunctionNode& pattern) {
  Dims dims;
  const auto used = UsedBy(pattern);
  const auto add = [&](const graph::StructInfo& info) {
    for (const Var& dim : graph::DefinedScalars(info)) dims.insert(dim.get());
  };
  for (const graph::Var& param : pattern.params) {
    if (used.count(param.get()) > 0) add(param->info);
  }
  graph::Visit(pattern.body, [&](const graph::Expr& e) {
    if (const auto* number = e.As<graph::PrimNode>()) {
      AddAlone(number->value, dims);
    } else if (const auto* shape = e.As<graph::ShapeNode>()) {
      for (const graph::Scalar& value : shape->values) AddAlone(value, dims);
    } else if (const auto* call = e.As<graph::CallNode>()) {
      for (const graph::StructInfo& info : call->infos) add(info);
    }
    return true;
  });
  return dims;
}

// The dimensions of which values of `f`, and parameters that are used, speak.
std::vector<Var> NeededDims(const graph::FunctionNode& f) {
  std::vector<Var> dims;
  const auto add = [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) dims.push_back(var);
  };
  const auto used = UsedBy(f);
  for (const graph::Var& param : f.params) {
    if (used.count(param.get()) > 0) graph::VisitScalars(param->info, add);
  }
  for (const graph::Binding& binding : BodyOf(f).bindings) {
    graph::VisitScalars(binding.value, add);
  }
  for (const graph::Expr& result : BodyOf(f).results) {
    graph::VisitScalars(result, add);
  }
  return dims;
}

absl::Status CheckDims(const graph::FunctionNode& f, const Dims& told) {
  for (const Var& dim : NeededDims(f)) {
    if (told.count(dim.get()) > 0) continue;
    return Wrong(absl::StrCat(
        f.name, " speaks of ", dim->name,
        ", which the pattern does not tell; a dimension is known where it "
        "stands alone in a parameter that the pattern uses, as in (",
        dim->name, ", 4)"));
  }
  return absl::OkStatus();
}

// Matching goes as deep as a pattern has parts.
constexpr int kMostParts = 1000;

absl::Status CheckSize(const graph::FunctionNode& pattern) {
  int parts = 0;
  graph::Visit(pattern.body, [&](const graph::Expr&) {
    ++parts;
    return true;
  });
  if (parts <= kMostParts) return absl::OkStatus();
  return Wrong(absl::StrCat(pattern.name, " has ", parts,
                            " calls and operands, and may have ", kMostParts));
}

// Every value is needed for a result, and every result is a value of its own.
absl::Status CheckPattern(const graph::FunctionNode& pattern) {
  const RuleBody body = BodyOf(pattern);
  std::set<const graph::VarNode*> bound, needed;
  for (const graph::Binding& binding : body.bindings) {
    const bool is_value = binding.value.As<graph::CallNode>() ||
                          binding.value.As<graph::TupleItemNode>();
    if (is_value) bound.insert(binding.var.get());
  }
  for (const graph::Expr& result : body.results) {
    const auto* var = result.As<graph::VarNode>();
    if (bound.count(var) == 0) {
      return Wrong(absl::StrCat("result ", PrintGraphExpr(result), " of ",
                                pattern.name,
                                " is no call, so it matches too much"));
    }
    if (!needed.insert(var).second) {
      return Wrong(absl::StrCat(pattern.name, " gives ", var->name, " twice"));
    }
  }
  for (size_t i = body.bindings.size(); i-- > 0;) {
    const graph::Binding& binding = body.bindings[i];
    const bool is_result_tuple =
        binding.var.get() ==
        pattern.body.As<graph::SeqNode>()->result.As<graph::VarNode>();
    if (needed.count(binding.var.get()) == 0 && !is_result_tuple) {
      return Wrong(absl::StrCat("no result of ", pattern.name, " needs ",
                                binding.var->name));
    }
    graph::Visit(binding.value, [&](const graph::Expr& e) {
      if (const auto* var = e.As<graph::VarNode>()) needed.insert(var);
      return true;
    });
  }
  return absl::OkStatus();
}

// --- The two together.

// The replacement in the pattern's dimensions.
absl::StatusOr<graph::GraphFunction> InDimsOf(
    const graph::FunctionNode& pattern,
    const graph::FunctionNode& replacement) {
  if (pattern.params.size() != replacement.params.size()) {
    return Wrong(absl::StrCat(pattern.name, " takes ", pattern.params.size(),
                              " parameters, and ", replacement.name, " ",
                              replacement.params.size()));
  }
  graph::Substitution own, back;
  for (size_t i = 0; i < pattern.params.size(); ++i) {
    const graph::StructInfo& theirs = pattern.params[i]->info;
    graph::Match(replacement.params[i]->info, theirs, own);
    graph::Match(theirs, replacement.params[i]->info, back);
  }
  Analyzer analyzer;
  for (size_t i = 0; i < pattern.params.size(); ++i) {
    const graph::StructInfo& theirs = pattern.params[i]->info;
    const graph::StructInfo& ours = replacement.params[i]->info;
    const bool same =
        graph::SameInfo(graph::Substitute(ours, own), theirs, analyzer) &&
        graph::SameInfo(graph::Substitute(theirs, back), ours, analyzer);
    if (same) continue;
    return Wrong(absl::StrCat("parameter ", i + 1, " is ",
                              PrintStructInfo(theirs), " in ", pattern.name,
                              " and ", PrintStructInfo(ours), " in ",
                              replacement.name));
  }
  const graph::Expr e =
      graph::Substitute(graph::GraphFunction(&replacement), own);
  return graph::GraphFunction(e.As<graph::FunctionNode>());
}

absl::Status CheckResults(const Rule& rule) {
  Analyzer analyzer;
  const graph::StructInfo& found = rule.pattern->result;
  const graph::StructInfo& put = rule.replacement->result;
  if (graph::Fits(put, found, analyzer) == graph::Fit::kAlways) {
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat(rule.pattern_name, " gives ",
                            PrintStructInfo(found), ", and ",
                            rule.replacement_name, " ", PrintStructInfo(put)));
}

absl::Status CheckUses(const Rule& rule) {
  const auto in_pattern = UsedBy(*rule.pattern);
  const auto in_replacement = UsedBy(*rule.replacement);
  for (size_t i = 0; i < rule.pattern->params.size(); ++i) {
    const graph::Var& param = rule.replacement->params[i];
    const bool is_known = in_replacement.count(param.get()) == 0 ||
                          in_pattern.count(rule.pattern->params[i].get()) > 0;
    if (is_known) continue;
    return Wrong(absl::StrCat(rule.replacement_name, " uses parameter ", i + 1,
                              " (", param->name, "), and ", rule.pattern_name,
                              " does not, so that no match says what it is"));
  }
  return absl::OkStatus();
}

absl::Status Check(Rule& rule) {
  const graph::FunctionNode& pattern =
      *rule.module.FindGraph(rule.pattern_name);
  const graph::FunctionNode* replacement =
      rule.module.FindGraph(rule.replacement_name);
  if (!replacement) {
    return Wrong(absl::StrCat("there is ", rule.pattern_name, " and no ",
                              rule.replacement_name));
  }
  for (const graph::FunctionNode* f : {&pattern, replacement}) {
    const absl::Status status = CheckFunction(*f, rule.module);
    if (!status.ok())
      return Wrong(absl::StrCat(f->name, ": ", status.message()));
  }
  rule.pattern = graph::GraphFunction(&pattern);
  KILN_ASSIGN_OR_RETURN(rule.replacement, InDimsOf(pattern, *replacement));
  KILN_RETURN_IF_ERROR(CheckSize(pattern));
  KILN_RETURN_IF_ERROR(CheckPattern(pattern));
  KILN_RETURN_IF_ERROR(CheckUses(rule));
  const Dims told = ToldBy(pattern);
  KILN_RETURN_IF_ERROR(CheckDims(pattern, told));
  KILN_RETURN_IF_ERROR(CheckDims(*rule.replacement, told));
  return CheckResults(rule);
}

// What stands behind "pattern": "" or "_NAME"; nullopt for another name.
std::optional<std::string> EndingOf(std::string_view function,
                                    std::string_view kind) {
  if (function.substr(0, kind.size()) != kind) return std::nullopt;
  function.remove_prefix(kind.size());
  if (!function.empty() && function[0] != '_') return std::nullopt;
  return std::string(function);
}

absl::Status CheckName(const graph::FunctionNode& f, const Module& module) {
  if (EndingOf(f.name, "pattern")) return absl::OkStatus();
  const auto ending = EndingOf(f.name, "replacement");
  const std::string wanted = absl::StrCat("pattern", ending.value_or(""));
  if (ending && module.FindGraph(wanted)) return absl::OkStatus();
  return Wrong(ending ? absl::StrCat("there is ", f.name, " and no ", wanted)
                      : absl::StrCat("graph function ", f.name,
                                     " is no part of a rule; its functions are "
                                     "called pattern and replacement, or "
                                     "pattern_NAME and replacement_NAME"));
}

absl::Status In(const std::string& place, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(place, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::vector<Rule>> ReadRules(const std::string& name,
                                            const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Module parsed, ParseModule(name, text));
  absl::StatusOr<Module> module = InferModule(parsed);
  KILN_RETURN_IF_ERROR(In(name, module.status()));
  std::vector<Rule> rules;
  for (const graph::GraphFunction& f : module->graph_functions) {
    KILN_RETURN_IF_ERROR(In(name, CheckName(*f, *module)));
    const auto ending = EndingOf(f->name, "pattern");
    if (!ending) continue;
    Rule rule;
    rule.name = ending->empty() ? name : ending->substr(1);
    rule.module = *module;
    rule.pattern_name = f->name;
    rule.replacement_name = absl::StrCat("replacement", *ending);
    KILN_RETURN_IF_ERROR(In(absl::StrCat("rule ", rule.name), Check(rule)));
    rules.push_back(std::move(rule));
  }
  if (!rules.empty()) return rules;
  return Wrong(absl::StrCat(name,
                            " has no rule: two graph functions, called "
                            "pattern and replacement"));
}

absl::StatusOr<Rule> ReadRule(const std::string& name,
                              const std::string& text) {
  KILN_ASSIGN_OR_RETURN(std::vector<Rule> rules, ReadRules(name, text));
  if (rules.size() == 1) return std::move(rules[0]);
  return Wrong(absl::StrCat(name, " has ", rules.size(), " rules, not one"));
}

}  // namespace kiln
