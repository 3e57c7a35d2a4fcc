// Spells graph functions.
#ifndef KILN_IR_TEXT_PRINTER_GRAPH_PRINTER_H_
#define KILN_IR_TEXT_PRINTER_GRAPH_PRINTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln::script {

// Symbolic dimensions, each once.
class Dimensions {
 public:
  void Add(const kiln::Expr& e);
  void Add(const std::vector<kiln::Expr>& list);
  const std::vector<kiln::Var>& vars() const { return vars_; }

 private:
  std::set<const VarNode*> seen_;
  std::vector<kiln::Var> vars_;
};

class GraphPrinter {
 public:
  // Lines go to `out`.
  GraphPrinter(const PrintOptions& options, StmtPrinter& out)
      : options_(options), out_(out), newest_(out.exprs().newest()) {}

  // From the decorator to the return.
  void PrintFunction(const graph::FunctionNode& f);
  // Names that the newest spelling declares ahead of the module, as it does
  // for the dimensions of signatures.
  const std::set<std::string>& declared_ahead() const {
    return declared_ahead_;
  }
  // Whether a constant was too large to be written.
  bool has_omitted() const { return has_omitted_; }

  std::string Print(const graph::Expr& e);
  std::string Print(const graph::StructInfo& info);

 private:
  // graph_printer.cc
  void DefineSignature(const graph::FunctionNode& f);
  void DefineNumber(const graph::Var& var);
  void DeclareLocals(const graph::FunctionNode& f);
  std::string Annotation(const graph::Var& var);
  void PrintBinding(const graph::Binding& binding);
  void PrintBranch(const std::string& name, const graph::Expr& branch);
  void PrintSeq(const graph::SeqNode& seq);
  void PrintBlock(const graph::BindingBlock& block);
  const std::string& Define(const graph::Var& var);
  std::string NameOf(const graph::VarNode* var);

  // graph_info_printer.cc
  std::string Extents(const std::vector<kiln::Expr>& extents, char open,
                      char close);
  std::string Tensor(const graph::TensorInfo& info);
  std::string Prim(const graph::PrimInfo& info);
  std::string Callable(const graph::FunctionInfo& info);

  // graph_expr_printer.cc
  std::string Fields(const std::vector<graph::Expr>& fields);
  std::string Number(const kiln::Expr& value);
  std::string Constant(const graph::ConstantNode& constant);
  std::string Elements(const graph::ConstantNode& constant, size_t dimension,
                       int64_t& at);
  std::string Call(const graph::CallNode& call);
  std::string InfoKeyword(const graph::CallNode& call);
  void Attributes(const graph::CallNode& call, std::vector<std::string>& args);
  std::string Attribute(const Attr& attr);

  const PrintOptions& options_;
  StmtPrinter& out_;
  const bool newest_;
  bool in_signature_ = false;  // dimensions stand in quotes
  std::set<std::string> declared_ahead_;
  bool has_omitted_ = false;
  int next_omitted_ = 0;
  std::map<std::string, int> omitted_;  // by content
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_PRINTER_GRAPH_PRINTER_H_
