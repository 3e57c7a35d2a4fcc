// What the compilation of code nodes knows about names in scope.
// Internal to ir/interp.
#ifndef KILN_IR_INTERP_SCOPE_H_
#define KILN_IR_INTERP_SCOPE_H_

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/interp/machine.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::interp_internal {

// Gives variables and buffers their slots, and keeps the first error of the
// compilation, after which any code may come back.
class Scope {
 public:
  explicit Scope(std::string function) : function_(std::move(function)) {}

  // Defines a variable for as long as nobody calls Forget.
  int Define(const Var& var);
  int Define(const Buffer& buffer);
  void Forget(const Var& var) { vars_.erase(var.get()); }
  void Forget(const Buffer& buffer) { buffers_.erase(buffer.get()); }
  bool Knows(const Var& var) const { return vars_.count(var.get()) > 0; }
  bool Knows(const Buffer& buffer) const {
    return buffers_.count(buffer.get()) > 0;
  }
  // The slot, or 0 after an error when it is not defined here.
  int Slot(const Var& var);
  int Slot(const Buffer& buffer);

  // The view slot of the buffer whose storage `data` addresses; -1: none.
  int DataSlot(const Var& data) const;

  // Enters a loop or a block; the place lives as long as the program.
  void Enter(std::string block, std::vector<std::pair<std::string, int>> vars);
  void Leave() { place_ = place_->parent; }
  const Place* place() const { return place_; }

  void Fail(absl::StatusCode code, const std::string& message);
  const absl::Status& status() const { return status_; }

  int value_count() const { return value_count_; }
  int view_count() const { return view_count_; }
  std::deque<Place>& places() { return places_; }

  // Whether the code at hand runs as one of the threads of a block.
  bool in_threads = false;

 private:
  std::string function_;
  absl::Status status_;
  std::unordered_map<const VarNode*, int> vars_;
  std::unordered_map<const BufferNode*, int> buffers_;
  std::unordered_map<const VarNode*, int> data_;
  int value_count_ = 0, view_count_ = 0;
  std::deque<Place> places_;
  const Place* place_ = nullptr;
};

// Code of an expression. Never null; what is wrong goes to `scope`.
ExprPtr CompileExpr(const Expr& e, Scope& scope);
// Code of a call, but for IfThenElse and Likely.
ExprPtr CompileCall(const CallNode& call, Scope& scope);
std::vector<ExprPtr> CompileList(const std::vector<Expr>& list, Scope& scope);
// Whether an integer operation on `e` counts as index arithmetic, whose
// overflow is an error: int64 that no load feeds.
bool IsIndexArithmetic(const Expr& e);

// Code of a statement. Never null.
StmtPtr CompileStmt(const Stmt& s, Scope& scope);

// Code of an index: most are a variable or a constant, which need no call.
class IndexCode {
 public:
  IndexCode(const Expr& e, Scope& scope);
  int64_t Get(Frame& frame, int lane) const {
    if (slot_ >= 0) return frame.slots[slot_].i;
    return code_ ? code_->Int(frame, lane) : constant_;
  }

 private:
  int slot_ = -1;
  int64_t constant_ = 0;
  ExprPtr code_;
};
std::vector<IndexCode> CompileIndices(const std::vector<Expr>& list,
                                      Scope& scope);

// How the shape of a buffer becomes a view.
class BufferCode {
 public:
  BufferCode(const Buffer& buffer, Scope& scope);
  // Evaluates the shape, and strides or dense ones; false after a failure.
  bool Evaluate(Frame& frame, View* view) const;
  // Puts a new allocation into the slot of the buffer.
  void Allocate(Frame& frame) const;
  const Buffer& buffer() const { return buffer_; }
  int slot() const { return slot_; }

 private:
  Buffer buffer_;
  int slot_;
  const Place* place_;
  std::vector<ExprPtr> shape_, strides_;
  ExprPtr offset_;  // null: 0
};

// The one variable of `pattern` that `scope` does not know and that its value
// tells, as n does with n * 2 + m for a known m; null where there is none.
Var SolvedBy(const Expr& pattern, const Scope& scope);

// Code that gives the one not yet known variable in `pattern` its value, or
// checks the value of an expression over known ones.
// `what` says what is matched, for messages: "A.shape[1]".
class MatchCode {
 public:
  MatchCode(const Expr& pattern, std::string what, Scope& scope);
  bool Match(Frame& frame, int64_t value) const;

 private:
  bool Solve(Frame& frame, int64_t value) const;

  std::string what_;
  const Place* place_;
  int define_ = -1;         // slot to set
  ExprPtr factor_, check_;  // to (value - check) / factor; null: 1 and 0
};

// A view that match_buffer makes.
class MatchBufferCode {
 public:
  MatchBufferCode(const MatchBufferRegion& match, Scope& scope);
  void Bind(Frame& frame) const;

 private:
  bool InBounds(Frame& frame, const View& source, const int64_t* mins,
                const int64_t* extents) const;
  bool BindSymbols(Frame& frame, const View& view) const;

  std::string name_;
  DType dtype_;
  int64_t offset_factor_;
  const Place* place_;
  int source_, slot_ = 0;
  std::vector<ExprPtr> mins_, extents_;
  std::vector<MatchCode> shape_, strides_;
  std::vector<MatchCode> offset_;  // none or one
};

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_SCOPE_H_
