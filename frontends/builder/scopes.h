// Which variables of a graph function are seen where, and whether expressions
// use only those.
#ifndef KILN_FRONTENDS_BUILDER_SCOPES_H_
#define KILN_FRONTENDS_BUILDER_SCOPES_H_

#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::graph {

// Scopes that are open, outermost first. Variables are held by who binds them.
class Scopes {
 public:
  Scopes() { Enter(/*is_dataflow=*/false); }

  void Enter(bool is_dataflow);
  // What a dataflow scope binds to variables that are not `is_dataflow` is seen
  // behind it; what others bind is not.
  void Leave();
  bool is_dataflow() const { return levels_.back().is_dataflow; }
  void Bind(const Var& var);
  // In the outermost scope.
  void BindOutside(const Var& var) { levels_[0].vars.insert(var.get()); }
  void Unbind(const Var& var);
  size_t depth() const { return levels_.size(); }
  bool Sees(const Var& var) const;

  // Asked about a variable that is not seen.
  using OnUnseen = FunctionRef<absl::Status(const Var&)>;

  // InvalidArgument where `e`, or what it binds inside of it, uses a variable
  // that is not seen and that `on_unseen` refuses, lacks an operand, binds a
  // variable twice, states struct info that is none (dimensions.h), or nests
  // more deeply than any walk over programs goes.
  absl::Status Check(const Expr& e, OnUnseen on_unseen);

 private:
  struct Level {
    bool is_dataflow;
    std::unordered_set<const VarNode*> vars;
  };

  absl::Status CheckBelow(const Expr& e, OnUnseen on_unseen);
  absl::Status CheckAll(const std::vector<Expr>& list, OnUnseen on_unseen);
  absl::Status CheckCall(const CallNode& call, OnUnseen on_unseen);
  absl::Status CheckCast(const MatchCastNode& cast, OnUnseen on_unseen);
  absl::Status CheckIf(const IfNode& branch, OnUnseen on_unseen);
  absl::Status CheckSeq(const SeqNode& seq, OnUnseen on_unseen);
  absl::Status CheckBinding(const Binding& binding, OnUnseen on_unseen);
  absl::Status CheckFunction(const FunctionNode& f, OnUnseen on_unseen);

  std::vector<Level> levels_;
  int depth_ = 0;
};

// Why a variable that is not seen is refused, and what to do.
absl::Status UnseenError(const Var& var);

// A whole function: that it uses only what it defines, dimensions included.
// The message begins with its name.
absl::Status CheckFunctionScopes(const FunctionNode& f);

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_SCOPES_H_
