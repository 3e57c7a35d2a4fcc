// Writes statements as indented lines.
#ifndef KILN_IR_TEXT_PRINTER_STMT_PRINTER_H_
#define KILN_IR_TEXT_PRINTER_STMT_PRINTER_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/text/printer/expr_printer.h"
#include "kiln/ir/text/printer/names.h"

namespace kiln::script {

class StmtPrinter {
 public:
  explicit StmtPrinter(const PrintOptions& options)
      : exprs_(names_, options), newest_(exprs_.newest()) {}

  // A function from its decorator to its last statement.
  void PrintFunction(const Function& f);
  void Print(const Stmt& s);

  Names& names() { return names_; }
  ExprPrinter& exprs() { return exprs_; }
  void Line(std::string_view text);
  // The lines so far, which are gone from here then.
  std::string Take() { return std::exchange(text_, std::string()); }
  void Append(std::string_view lines) { text_.append(lines); }
  void Indent() { ++depth_; }
  void Dedent() { --depth_; }

 private:
  // What a declaration says about a buffer, and what may stay open.
  enum class Declares { kParameter, kMatch, kAllocation, kView };

  // function_printer.cc
  std::vector<std::string> Parameters(const Function& f);
  bool IsSimple(const Buffer& buffer) const;
  void MatchedParameters();
  void DeclareDimensions(const Function& f);
  void FunctionBody(const Function& f);
  bool HasImplicitRoot(const Function& f) const;
  void FindUses(const Function& f);

  // buffer_printer.cc
  std::string BufferArguments(const Buffer& buffer, Declares declares);
  std::string Extent(const Expr& e, bool quotes_new);
  std::string Strides(const Buffer& buffer);
  void DeclareVars(const Buffer& buffer, bool shape_too);
  void NameParts(const Buffer& buffer, Declares declares,
                 std::string& arguments);
  void DeclareBuffer(const Buffer& buffer, const std::string& callee,
                     Declares declares);

  void PrintBody(const Stmt& s);
  void PrintSequence(const std::vector<Stmt>& stmts);
  void PrintFor(const ForNode& loop);
  std::string LoopCall(const ForNode& loop);
  void PrintBlock(const BlockRealizeNode& realize);
  void BlockParts(const BlockNode& block);
  void PrintAxes(const BlockRealizeNode& realize);
  bool IsRemap(const IterVar& iter, const Expr& value) const;
  void PrintStore(const StoreNode& store);
  void PrintIf(const IfNode& branch);
  void PrintNote(const CallNode& note, const Stmt& body, bool is_last);
  void PrintLet(const LetStmtNode& let, bool is_last);
  void PrintAllocate(const AllocateNode& allocate, bool is_last);
  void PrintEvaluate(const EvaluateNode& evaluate);

  Names names_;
  ExprPrinter exprs_;
  const bool newest_;
  std::string text_;
  int depth_ = 0;
  // The ranges of the loops around the current place.
  std::unordered_map<const VarNode*, Range> loops_;
  // Variables that statements use, and buffers that they load or store.
  std::unordered_set<const VarNode*> used_;
  std::unordered_set<const BufferNode*> accessed_;
  // Parameters whose buffers are declared in the body.
  std::vector<Param> matched_;
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_PRINTER_STMT_PRINTER_H_
