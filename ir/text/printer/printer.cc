#include "kiln/ir/text/printer/printer.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln {
namespace {

using script::StmtPrinter;

void PrintHeader(const Module& module, const PrintOptions& options,
                 StmtPrinter& printer) {
  const bool newest = options.spelling == PrintOptions::Spelling::kNewest;
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

void PrintGraphFunction(const GraphFunction& graph, StmtPrinter& printer) {
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(graph.source), '\n')) {
    if (!line.empty()) printer.Line(std::string(line));
  }
}

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) {
  StmtPrinter printer(options);
  if (options.header) PrintHeader(module, options, printer);
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
  for (const GraphFunction& graph : module.graph_functions) {
    separate();
    PrintGraphFunction(graph, printer);
  }
  if (first) printer.Line("pass");
  return printer.Take();
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

}  // namespace kiln
