// The one way to walk and to rebuild expressions.
#ifndef KILN_IR_EXPR_VISIT_H_
#define KILN_IR_EXPR_VISIT_H_

#include <type_traits>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/var_table.h"

namespace kiln {

// A reference to a callable that outlives the call. Cheaper than
// std::function.
template <typename Signature>
class FunctionRef;
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)  // NOLINT: a lambda is a FunctionRef
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(
              static_cast<Args>(args)...);
        }) {}
  R operator()(Args... args) const {
    return call_(object_, static_cast<Args>(args)...);
  }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// Calls `child(e)` on each direct operand, in evaluation order.
void ForEachOperand(const Expr& e, FunctionRef<void(const Expr&)> child);

// Rebuilds `e` with each direct operand replaced by `map(operand)`. The same
// node comes back when no operand changed.
Expr MapOperands(const Expr& e, FunctionRef<Expr(const Expr&)> map);

// Walks `e` and all below it, parents first. `visit` says whether to go below.
void Visit(const Expr& e, FunctionRef<bool(const Expr&)> visit);

// Rebuilds `e`, parents first: `rewrite` gives the replacement of a node, or
// null to go on below it. Replacements are not rewritten again.
Expr Rewrite(const Expr& e, FunctionRef<Expr(const Expr&)> rewrite);

using VarMap = VarTable<Expr>;
// Replaces variables by expressions, all at once.
Expr Substitute(const Expr& e, const VarMap& map);
Expr Substitute(const Expr& e, const Var& var, const Expr& value);

bool UsesVar(const Expr& e, FunctionRef<bool(const VarNode*)> is_wanted);
bool UsesVar(const Expr& e, const Var& var);
// Whether `e` uses a variable of the table.
template <typename T>
bool UsesVar(const Expr& e, const VarTable<T>& table) {
  return e.MayUse(table.var_bits()) &&
         UsesVar(e, [&](const VarNode* var) { return table.count(var) > 0; });
}
// Whether `e` reads elements of `buffer`.
bool LoadsFrom(const Expr& e, const Buffer& buffer);
// The variables of `e`, each once, in order of first appearance.
std::vector<Var> FreeVars(const Expr& e);

}  // namespace kiln

#endif  // KILN_IR_EXPR_VISIT_H_
