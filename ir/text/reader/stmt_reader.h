// Reads the statements of a function.
#ifndef KILN_IR_TEXT_READER_STMT_READER_H_
#define KILN_IR_TEXT_READER_STMT_READER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/reader/buffer_reader.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/expr_reader.h"

namespace kiln::script {

class StmtReader {
 public:
  explicit StmtReader(Context& context)
      : context_(context), exprs_(context), buffers_(context, exprs_) {}

  // The statements of a body, in a scope of their own.
  absl::StatusOr<Stmt> Body(const std::vector<py::Stmt>& stmts);

  // The ranges and names of a parameter list are the caller's to bind.
  ExprReader& exprs() { return exprs_; }
  BufferReader& buffers() { return buffers_; }

 private:
  // A statement, or something that holds for all statements after it.
  struct Item {
    Stmt stmt;
    std::function<Stmt(Stmt)> around;
  };
  using Items = std::vector<Item>;

  absl::Status Read(const py::Stmt& s, Items& out);
  absl::Status Assign(const py::Stmt& s, const py::Expr& target,
                      const py::Expr& value, Items& out);
  absl::Status AssignTuple(const py::Stmt& s, const py::Expr& targets,
                           const py::Expr& value, Items& out);
  absl::Status AssignCall(const std::string& name, const py::Expr& call,
                          Items& out, bool& known);
  absl::Status DeclareBuffer(const std::string& name, const py::Expr& call,
                             const std::string& callee, Items& out);
  absl::Status MatchBuffer(const std::string& name, const py::Expr& call);
  absl::Status Annotate(const py::Stmt& s, Items& out);
  absl::Status LetOrConstant(const std::string& name, const py::Expr& value,
                             Items& out);
  absl::Status BindLet(const std::string& name, const Value& value, Items& out);
  absl::Status Augment(const py::Stmt& s, Items& out);
  absl::Status Store(const py::Expr& target, const Value& value, Items& out);
  absl::Status Return(const py::Stmt& s, Items& out);
  absl::Status Expression(const py::Stmt& s, Items& out);
  absl::Status If(const py::Stmt& s, Items& out);

  // loop_reader.cc
  struct LoopSpec {
    Range range;
    ForKind kind = ForKind::kSerial;
    std::string thread_tag;
    Annotations annotations;
  };
  absl::Status For(const py::Stmt& s, Items& out);
  absl::StatusOr<std::vector<LoopSpec>> Loops(const py::Expr& iterable);
  absl::StatusOr<py::Arguments> LoopArguments(const py::Expr& call, bool plain,
                                              bool binds);
  absl::Status CheckStep(const py::Arguments& args);
  absl::StatusOr<LoopSpec> OneLoop(const py::Expr& call,
                                   const std::string& name);
  absl::StatusOr<std::vector<LoopSpec>> Grid(const py::Expr& call);
  absl::StatusOr<Range> Bounds(const py::Expr& first, const py::Expr* second);
  absl::StatusOr<std::vector<const py::Expr*>> LoopNames(const py::Expr& target,
                                                         size_t count);

  // block_reader.cc
  absl::Status With(const py::Stmt& s, Items& out);
  absl::Status WithOne(const py::Stmt& s, size_t index, Items& out);
  absl::Status WithBuffer(const py::Expr& call, const std::string& name,
                          const py::Expr& target, Items& out);
  // packed_call_reader.cc
  using Note = Expr;  // attr(node, key, value)
  absl::StatusOr<Note> NoteOf(const py::Expr& node, const py::Expr& key,
                              const py::Expr& value);
  absl::StatusOr<std::vector<Note>> Notes(const py::Expr& call);
  absl::Status AddNotes(const py::Expr& call, Items& out);

  absl::Status WithLet(const py::Expr& call, const py::Expr& target,
                       Items& out);
  absl::StatusOr<Stmt> WithBody(const py::Stmt& s, size_t index);
  absl::Status Block(const py::Stmt& s, size_t index, Items& out);
  absl::StatusOr<Stmt> FinishBlock(BlockFrame frame, Stmt body);
  absl::Status Init(const py::Stmt& s, size_t index);
  absl::Status LaunchThread(const py::Stmt& s, size_t index, Items& out);
  absl::Status Axis(const std::vector<const py::Expr*>& names,
                    const py::Expr& call, const std::string& callee);
  absl::Status Remap(const std::vector<const py::Expr*>& names,
                     const py::Expr& call);
  absl::StatusOr<IterType> AxisType(const py::Expr& at,
                                    const std::string& name);
  absl::StatusOr<Range> AxisDomain(const py::Expr& e);
  absl::Status AddIter(const py::Expr& name, Range domain, IterType type,
                       Expr value);
  absl::Status BlockStatement(const py::Expr& call, const std::string& name,
                              bool& known);
  absl::Status Regions(const py::Expr& call, std::vector<BufferRegion>& out);
  absl::StatusOr<BlockFrame*> InBlock(const py::Expr& at,
                                      const std::string& what);

  absl::StatusOr<std::string> SimpleName(const py::Expr& target);
  // Refuses to give another meaning to what a name stands for here.
  absl::Status CheckFree(const py::Expr& target, const py::Expr& value);
  Stmt Fold(Items items);

  Context& context_;
  ExprReader exprs_;
  BufferReader buffers_;
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_STMT_READER_H_
