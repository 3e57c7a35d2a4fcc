#include "kiln/ir/text/printer/printer.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/printer/graph_printer.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln {
namespace {

using script::StmtPrinter;

void PrintHeader(const Module& module, const PrintOptions& options,
                 StmtPrinter& printer) {
  const bool newest = options.spelling == PrintOptions::Spelling::kNewest;
  if (newest && !module.graph_functions.empty()) {
    printer.Line("# from typing import TypeVar");
  }
  printer.Line("# from tvm.script import ir as I");
  if (!module.functions.empty()) {
    printer.Line(absl::StrCat("# from tvm.script import ",
                              newest ? "tirx" : "tir", " as T"));
  }
  if (newest) printer.Line("# from tvm.tirx.layout import Axis");
  if (!module.graph_functions.empty()) {
    printer.Line("# from tvm.script import relax as R");
  }
  printer.Line("");
}

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) {
  StmtPrinter printer(options);
  script::GraphPrinter graphs(options, printer);
  printer.Line("@I.ir_module");
  printer.Line("class Module:");
  printer.Indent();
  bool first = true;
  auto separate = [&] {
    if (!first) printer.Line("");
    first = false;
  };
  if (!module.attrs.empty()) {
    separate();
    printer.Line(absl::StrCat("I.module_attrs(",
                              printer.exprs().AttributeMap(module.attrs), ")"));
  }
  for (const Function& f : module.functions) {
    separate();
    printer.PrintFunction(f);
  }
  for (const graph::GraphFunction& function : module.graph_functions) {
    separate();
    graphs.PrintFunction(*function);
  }
  if (first) printer.Line("pass");
  printer.Dedent();
  if (graphs.has_omitted()) {
    printer.Line("");
    printer.Line("# Metadata omitted: constants that are too large for text.");
  }
  const std::string body = printer.Take();
  if (options.header) PrintHeader(module, options, printer);
  for (const std::string& name : graphs.declared_ahead()) {
    printer.Line(absl::StrCat(name, " = TypeVar(\"", name, "\")"));
  }
  return printer.Take() + body;
}

std::string PrintGraphFunction(const graph::FunctionNode& function,
                               const PrintOptions& options) {
  Module module;
  module.graph_functions.emplace_back(&function);
  PrintOptions plain = options;
  plain.header = false;
  return PrintModule(module, plain);
}

std::string PrintFunction(const Function& function,
                          const PrintOptions& options) {
  StmtPrinter printer(options);
  if (options.header) {
    printer.Line(options.spelling == PrintOptions::Spelling::kNewest
                     ? "# from tvm.script import tirx as T"
                     : "# from tvm.script import tir as T");
    printer.Line("");
  }
  printer.PrintFunction(function);
  return printer.Take();
}

std::string PrintStmt(const Stmt& stmt, const PrintOptions& options) {
  StmtPrinter printer(options);
  printer.Print(stmt);
  return printer.Take();
}

std::string PrintExpr(const Expr& expr, const PrintOptions& options) {
  return StmtPrinter(options).exprs().Print(expr);
}

std::string PrintRegion(const BufferRegion& region,
                        const PrintOptions& options) {
  return StmtPrinter(options).exprs().Region(region);
}

std::string PrintGraphExpr(const graph::Expr& expr,
                           const PrintOptions& options) {
  StmtPrinter printer(options);
  return script::GraphPrinter(options, printer).Print(expr);
}

std::string PrintStructInfo(const graph::StructInfo& info,
                            const PrintOptions& options) {
  StmtPrinter printer(options);
  return script::GraphPrinter(options, printer).Print(info);
}

}  // namespace kiln
