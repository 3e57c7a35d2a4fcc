// The classic spelling declares the dimensions of a function in its body and
// puts those of the signature in quotes; the newest one has those of signatures
// ahead of the module, once for all functions:
//
//   def main(x: R.Tensor(("n", 4))):         n = TypeVar("n")
//       n = T.int64()                        @I.ir_module
//                                            class Module:
//                                                def main(x: R.Tensor((n, 4))):
//
// Names are unique in a function, branches and dataflow blocks included. The
// value of an if is what its branches name last, by the name that the if is
// bound to.
#include "kiln/ir/text/printer/graph_printer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"

namespace kiln::script {
namespace {

// The dimension that the variable is, or nullptr.
const VarNode* OwnDimension(const graph::VarNode& var) {
  const auto* number = var.info.As<graph::PrimInfo>();
  return number ? number->value.As<VarNode>() : nullptr;
}

}  // namespace

void Dimensions::Add(const kiln::Expr& e) {
  if (!e) return;
  for (const kiln::Var& var : FreeVars(e)) {
    if (seen_.insert(var.get()).second) vars_.push_back(var);
  }
}

void Dimensions::Add(const std::vector<kiln::Expr>& list) {
  for (const kiln::Expr& e : list) Add(e);
}

const std::string& GraphPrinter::Define(const graph::Var& var) {
  return out_.names().Define(var.get(), var->name);
}

std::string GraphPrinter::NameOf(const graph::VarNode* var) {
  return out_.names().Of(var, var->name);
}

// A number that goes by its own name shows its type only.
std::string GraphPrinter::Annotation(const graph::Var& var) {
  if (!var->info) return "";
  const VarNode* own = OwnDimension(*var.get());
  if (own && out_.names().Of(own) == NameOf(var.get())) {
    return absl::StrCat(": ", Print(graph::Prim(own->dtype)));
  }
  return absl::StrCat(": ", Print(var->info));
}

// A number and the dimension that it is are one name.
void GraphPrinter::DefineNumber(const graph::Var& var) {
  const VarNode* own = OwnDimension(*var.get());
  if (own && !out_.names().IsDefined(own)) {
    out_.names().Alias(own, NameOf(var.get()));
  }
}

void GraphPrinter::DefineSignature(const graph::FunctionNode& f) {
  for (const graph::Var& param : f.params) {
    Define(param);
    DefineNumber(param);
  }
}

// Dimensions and shapes that the body declares.
void GraphPrinter::DeclareLocals(const graph::FunctionNode& f) {
  Names& names = out_.names();
  const std::vector<graph::Var> shapes = graph::FreeShapeVars(f);
  for (const graph::Var& shape : shapes) {
    if (!names.IsDefined(shape.get())) Define(shape);
  }
  graph::Visit(f.body, [&](const graph::Expr& e) {
    const auto* seq = e.As<graph::SeqNode>();
    if (!seq) return true;
    for (const graph::BindingBlock& block : seq->blocks) {
      for (const graph::Binding& binding : block.bindings) {
        if (!OwnDimension(*binding.var.get())) continue;
        Define(binding.var);
        DefineNumber(binding.var);
      }
    }
    return true;
  });
  Dimensions ahead, all;
  const auto add_to = [](Dimensions& dimensions) {
    return [&dimensions](const kiln::Expr& e) { dimensions.Add(e); };
  };
  for (const graph::Var& param : f.params) {
    graph::VisitScalars(param->info, add_to(ahead));
  }
  if (f.result) graph::VisitScalars(f.result, add_to(ahead));
  for (const kiln::Var& var : ahead.vars()) all.Add(var);
  for (const graph::Var& shape : shapes) {
    graph::VisitScalars(shape->info, add_to(all));
  }
  graph::VisitScalars(f.body, add_to(all));
  std::set<const VarNode*> is_ahead;
  for (const kiln::Var& var : ahead.vars()) is_ahead.insert(var.get());
  for (const kiln::Var& var : all.vars()) {
    if (names.IsDefined(var.get())) continue;
    const std::string& name = names.Define(var);
    if (newest_ && is_ahead.count(var.get())) {
      declared_ahead_.insert(name);
    } else {
      out_.Line(absl::StrCat(name, " = T.int64()"));
    }
  }
  for (const graph::Var& shape : shapes) {
    out_.Line(absl::StrCat(NameOf(shape.get()), Annotation(shape)));
  }
}

// The variable that a branch of these blocks ends with, as it is read; null
// where it ends with none.
const graph::VarNode* LastName(const graph::SeqNode& seq) {
  if (seq.blocks.empty() || seq.blocks.back().bindings.empty()) return nullptr;
  const graph::BindingBlock& block = seq.blocks.back();
  const auto is_output = [](const graph::Binding& binding) {
    return !binding.var->is_dataflow;
  };
  const bool is_one =
      !block.is_dataflow || std::count_if(block.bindings.begin(),
                                          block.bindings.end(), is_output) == 1;
  return is_one ? block.bindings.back().var.get() : nullptr;
}

void GraphPrinter::PrintBranch(const std::string& name,
                               const graph::Expr& branch) {
  const auto& seq = *branch.As<graph::SeqNode>();
  const auto* result = seq.result.As<graph::VarNode>();
  const graph::VarNode* last = LastName(seq);
  out_.Indent();
  NamesScope scope(out_.names());
  if (result && result == last) {
    out_.names().Alias(result, name);
    for (const graph::BindingBlock& block : seq.blocks) PrintBlock(block);
  } else {
    for (const graph::BindingBlock& block : seq.blocks) PrintBlock(block);
    out_.Line(absl::StrCat(name, " = ", Print(seq.result)));
  }
  out_.Dedent();
}

void GraphPrinter::PrintBinding(const graph::Binding& binding) {
  if (const auto* function = binding.value.As<graph::FunctionNode>()) {
    out_.names().Alias(binding.var.get(), function->name);
    return PrintFunction(*function);
  }
  if (const auto* branch = binding.value.As<graph::IfNode>()) {
    out_.Line(absl::StrCat("if ", Print(branch->condition), ":"));
    if (!out_.names().IsDefined(binding.var.get())) Define(binding.var);
    const std::string name = NameOf(binding.var.get());
    PrintBranch(name, branch->then_body);
    out_.Line("else:");
    PrintBranch(name, branch->else_body);
    return;
  }
  const std::string value = Print(binding.value);
  if (binding.var->name == "_" && newest_ && !binding.var->info &&
      binding.value.kind() == graph::GraphKind::kCall) {
    return out_.Line(value);
  }
  const std::string annotation = Annotation(binding.var);
  if (binding.var->name == "_") {
    return out_.Line(absl::StrCat("_", annotation, " = ", value));
  }
  // The result of a branch has the name of the if already.
  if (!out_.names().IsDefined(binding.var.get())) Define(binding.var);
  out_.Line(absl::StrCat(NameOf(binding.var.get()), annotation, " = ", value));
}

void GraphPrinter::PrintBlock(const graph::BindingBlock& block) {
  if (block.is_dataflow) {
    out_.Line("with R.dataflow():");
    out_.Indent();
  }
  std::vector<std::string> outputs;
  for (const graph::Binding& binding : block.bindings) {
    PrintBinding(binding);
    if (!binding.var->is_dataflow && binding.var->name != "_") {
      outputs.push_back(NameOf(binding.var.get()));
    }
  }
  if (block.is_dataflow) {
    out_.Line(absl::StrCat("R.output(", absl::StrJoin(outputs, ", "), ")"));
    out_.Dedent();
  }
}

void GraphPrinter::PrintSeq(const graph::SeqNode& seq) {
  for (const graph::BindingBlock& block : seq.blocks) PrintBlock(block);
  out_.Line(absl::StrCat("return ", Print(seq.result)));
}

void GraphPrinter::PrintFunction(const graph::FunctionNode& f) {
  NamesScope scope(out_.names());
  // The signature is printed behind the lines that name its dimensions.
  DefineSignature(f);
  StmtPrinter& out = out_;
  std::string head = out.Take();
  out.Indent();
  DeclareLocals(f);
  const std::string locals = out.Take();
  out.Dedent();
  out.Append(head);
  std::vector<std::string> options, params;
  if (f.is_private) options.push_back("private=True");
  if (!f.is_pure) options.push_back("pure=False");
  in_signature_ = true;
  for (const graph::Var& param : f.params) {
    params.push_back(absl::StrCat(NameOf(param.get()), Annotation(param)));
  }
  const std::string result =
      f.result ? absl::StrCat(" -> ", Print(f.result)) : "";
  in_signature_ = false;
  out.Line(absl::StrCat(
      "@R.function",
      options.empty() ? "" : "(" + absl::StrJoin(options, ", ") + ")"));
  out.Line(absl::StrCat("def ", f.name, "(", absl::StrJoin(params, ", "), ")",
                        result, ":"));
  out.Append(locals);
  out.Indent();
  if (!f.attrs.empty()) {
    out.Line(
        absl::StrCat("R.func_attr(", out.exprs().AttributeMap(f.attrs), ")"));
  }
  if (graph::UsesGlobals(f.body)) out.Line("cls = Module");
  PrintSeq(*f.body.As<graph::SeqNode>());
  out.Dedent();
}

}  // namespace kiln::script
