// A case is read, printed and read again, and turned into a message and back.
// A case of inference loses its annotations and gets them back:
//
//   gv = R.add(x, y)    gv: R.Tensor((2, 3), dtype="float32") = R.add(x, y)
#include "kiln/tests/conformance/graph_case.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/tests/conformance/graph_pass_case.h"
#include "kiln/tests/conformance/known_constants.h"

namespace kiln {
namespace {

using google::protobuf::Struct;

std::string Field(const Struct& object, const char* key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? "" : found->second.string_value();
}

absl::StatusOr<GraphCase> ParseCase(std::string_view line) {
  Struct object;
  KILN_RETURN_IF_ERROR(FromJson(line, &object));
  GraphCase c;
  c.id = Field(object, "id");
  c.source = Field(object, "source");
  c.is_inference = !Field(object, "op").empty();
  c.name = Field(object, c.is_inference ? "op" : "pass");
  c.before = Field(object, c.is_inference ? "module" : "before");
  c.after = Field(object, "after");
  c.refuses = Field(object, "outcome") == "refuse";
  if (c.name.empty() || c.before.empty()) {
    return absl::InvalidArgumentError(
        "a case has an op and a module, or a pass and a module before");
  }
  return c;
}

// Whether a program survives its text, in both spellings, and its message.
absl::Status CheckRoundTrips(const Module& module) {
  const std::string form = CanonicalForm(module);
  for (const auto spelling :
       {PrintOptions::Spelling::kClassic, PrintOptions::Spelling::kNewest}) {
    PrintOptions options;
    options.spelling = spelling;
    options.max_constant_elements = std::numeric_limits<int64_t>::max();
    const std::string text = PrintModule(module, options);
    const absl::StatusOr<Module> again = ParseModule("printed", text);
    if (!again.ok()) {
      return absl::InternalError(absl::StrCat(
          "its text is not read: ", again.status().message(), "\n", text));
    }
    if (CanonicalForm(*again) != form) {
      return absl::InternalError(
          absl::StrCat("its text means something else:\n", text));
    }
  }
  // A message holds only what is well formed; a text may run out of bounds.
  for (const Function& f : module.functions) {
    if (!VerifyFunction(f, {.level = LevelOf(f)}).ok()) {
      return absl::OkStatus();
    }
  }
  KILN_ASSIGN_OR_RETURN(const Module back,
                        ParseModuleBytes(SerializeModule(module)));
  if (CanonicalForm(back) == form) return absl::OkStatus();
  return absl::InternalError("its message means something else");
}

GraphResult Unread(const absl::Status& status) {
  return {GraphVerdict::kUnread, std::string(status.message())};
}

// The module without the annotations that inference has to find.
Module Bare(const Module& module) {
  Module bare = module;
  for (graph::GraphFunction& f : bare.graph_functions) {
    const graph::Expr e = WithoutInfo(f);
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return bare;
}

// What is known of a variable: of a number that only has its name, no more than
// the type.
graph::StructInfo WithoutOwnName(const graph::Var& var) {
  const auto* number = var->info.As<graph::PrimInfo>();
  const auto* name = number ? number->value.As<VarNode>() : nullptr;
  const bool is_own = name && name->name == var->name;
  return is_own ? graph::Prim(number->dtype) : var->info;
}

// The struct info of what is bound, and of the result of each function.
std::vector<graph::StructInfo> InfosOf(const Module& module) {
  std::vector<graph::StructInfo> infos;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* seq = e.As<graph::SeqNode>();
      for (size_t i = 0; seq && i < seq->blocks.size(); ++i) {
        for (const graph::Binding& binding : seq->blocks[i].bindings) {
          infos.push_back(WithoutOwnName(binding.var));
        }
      }
      return true;
    });
    infos.push_back(f->result);
  }
  return infos;
}

// Says that no extent of a parameter that is a variable is negative.
void BindExtents(const Module& module, Analyzer& analyzer) {
  for (const graph::GraphFunction& f : module.graph_functions) {
    for (const graph::Var& param : f->params) {
      const auto* tensor = param->info.As<graph::TensorInfo>();
      if (!tensor || !tensor->extents()) continue;
      for (const Expr& extent : *tensor->extents()) {
        const auto* var = extent.As<VarNode>();
        if (var) analyzer.Bind(Var(var), Range{Int(0), Int(INT64_MAX / 2)});
      }
    }
  }
}

// Whether both bind the same, with the same struct info up to the spelling of
// extents. `inferred` has the parameters of `module`.
bool SameInference(const Module& inferred, const Module& module) {
  if (CanonicalForm(Bare(inferred)) != CanonicalForm(Bare(module))) {
    return false;
  }
  const std::vector<graph::StructInfo> found = InfosOf(inferred);
  const std::vector<graph::StructInfo> wanted = InfosOf(module);
  Analyzer analyzer;
  BindExtents(module, analyzer);
  for (size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) {
    if (!graph::SameInfo(found[i], wanted[i], analyzer)) return false;
  }
  return found.size() == wanted.size();
}

GraphResult RunInference(const GraphCase& c, const Module& module) {
  const absl::StatusOr<Module> inferred = InferModule(Bare(module));
  if (c.refuses) {
    return inferred.ok() ? GraphResult{GraphVerdict::kDifferent, "accepted"}
                         : GraphResult{GraphVerdict::kRefused, ""};
  }
  if (!inferred.ok()) {
    return {GraphVerdict::kDifferent, std::string(inferred.status().message())};
  }
  if (SameInference(*inferred, module)) return {};
  return {GraphVerdict::kDifferent,
          absl::StrCat("inference gives other struct info\n",
                       PrintModule(*inferred))};
}

}  // namespace

absl::StatusOr<std::vector<GraphCase>> ParseGraphCases(std::string_view text) {
  std::vector<GraphCase> cases;
  int number = 0;
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<GraphCase> c =
        ParseCase(std::string_view(line.data(), line.size()));
    if (!c.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", c.status().message()));
    }
    cases.push_back(*std::move(c));
  }
  return cases;
}

GraphResult RunGraphCase(const GraphCase& c) {
  std::vector<Module> modules;
  for (const std::string* text : {&c.before, &c.after}) {
    if (text->empty()) continue;
    const absl::StatusOr<Module> module = ParseModule(c.id, *text);
    if (!module.ok()) return Unread(module.status());
    const absl::Status status = CheckRoundTrips(*module);
    if (!status.ok()) return Unread(status);
    if (c.is_inference) return RunInference(c, *module);
    modules.push_back(*module);
  }
  if (modules.size() < 2) return {};
  // What parameters were bound to is told by the places of constants.
  if (c.name == "BindParams")
    return RunGraphPassCase(c, modules[0], modules[1]);
  return RunGraphPassCase(c, WithKnownConstants(modules[0], c.before),
                          WithKnownConstants(modules[1], c.after));
}

}  // namespace kiln
