// A graph function while it is built: bindings so far, scopes, names.
#ifndef KILN_FRONTENDS_BUILDER_OPEN_FUNCTION_H_
#define KILN_FRONTENDS_BUILDER_OPEN_FUNCTION_H_

#include <set>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/frontends/builder/scopes.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

// Errors are those of BlockBuilder, without the place; what fails changes
// nothing. Scopes have ids, given by the caller.
class OpenFunction {
 public:
  using Place = std::source_location;

  // `fields` has all but the result and the body. Without parameters, they are
  // told by Finish. `module` outlives this, and is what calls are held to.
  OpenFunction(FunctionFields fields, int id, const Module* module);

  const std::string& name() const { return fields_.name; }
  int id() const { return id_; }
  // The place of the next calls.
  void MoveTo(Place place) { place_ = place; }

  absl::Status BeginDataflow(int id);
  // Does nothing where no dataflow block has this id.
  void EndDataflow(int id);
  bool in_dataflow() const { return scopes_.is_dataflow(); }

  // Binds `value`, whose operands may be calls.
  absl::StatusOr<Var> Emit(const Expr& value, const std::string& name,
                           bool is_output = false);
  // `value` as an operand: a variable, a constant, a number, or a tuple of
  // those. Binds what it has to.
  absl::StatusOr<Expr> Operand(const Expr& value);

  // Variables that are used, may be parameters and were not given as such.
  std::vector<Var> FreeVars() const;

  // A branch: what is emitted until it ends is seen inside of it only.
  void BeginBranch();
  // The bindings of the branch and its value. Ends it in any case.
  absl::StatusOr<Expr> EndBranch(const absl::StatusOr<Expr>& value);

  // The function, inferred. `params` where it was begun without.
  absl::StatusOr<GraphFunction> Finish(const Expr& value,
                                       const std::vector<Var>& params);

 private:
  struct Frame {
    std::vector<BindingBlock> blocks;
    int dataflow_id = 0;
    size_t depth;  // of the scopes, without the frame's dataflow block
  };
  // A variable that is used and may be a parameter.
  struct Pending {
    Var var;
    Place place;
  };
  struct Mark {
    size_t bindings, pending;
  };

  Mark Here() const { return {block().size(), pending_.size()}; }
  void GoBackTo(const Mark& mark);
  std::vector<Binding>& block() {
    return frames_.back().blocks.back().bindings;
  }
  const std::vector<Binding>& block() const {
    return frames_.back().blocks.back().bindings;
  }

  absl::StatusOr<Expr> Leaf(const Expr& e);
  absl::StatusOr<Expr> LeafOfInner(const Expr& e);
  absl::StatusOr<Expr> MapLeaves(const Expr& e);
  absl::StatusOr<Expr> Flat(const Expr& e);
  absl::StatusOr<Var> Bind(const Expr& value, std::string name, bool is_output);
  absl::StatusOr<Var> BindFlat(const Expr& value, std::string name,
                               bool is_output);
  absl::StatusOr<Binding> Infer(const Var& var, const Expr& value) const;
  absl::Status CheckPure(const Expr& value) const;
  absl::Status Unseen(const Var& var);
  absl::Status TakeParams(const std::vector<Var>& params);
  bool IsPending(const Var& var) const;
  absl::Status CheckPending() const;
  absl::StatusOr<GraphFunction> Close(const Expr& value,
                                      const std::vector<Var>& params);
  std::string UniqueName(const std::string& hint);
  absl::Status InFunction(const absl::Status& status) const;

  FunctionFields fields_;
  const int id_;
  const bool has_params_;
  const Module* const module_;
  Place place_;
  Scopes scopes_;
  std::vector<Frame> frames_;
  std::vector<Pending> pending_;
  std::vector<Var> casts_;  // which tell dimensions
  std::set<std::string> names_;
  // Of the value that is bound: operands that have variables already.
  std::unordered_map<const GraphNode*, Var> bound_;
  int depth_ = 0;
};

// Of parameters: each has struct info, is none of a dataflow block, and stands
// once.
absl::Status CheckParams(const std::vector<Var>& params);

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_OPEN_FUNCTION_H_
