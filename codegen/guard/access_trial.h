// Which accesses are in bounds if tensors hold values of given ranges. Internal
// to codegen/guard.
#ifndef KILN_CODEGEN_GUARD_ACCESS_TRIAL_H_
#define KILN_CODEGEN_GUARD_ACCESS_TRIAL_H_

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

using ContentBounds = std::unordered_map<const BufferNode*, ConstBound>;

// Walks a function without blocks. The values of a load are a variable with
// the bounds of what its buffer holds: at the call, and by any store.
class AccessTrial {
 public:
  AccessTrial(const Function& f,
              const std::vector<std::pair<Var, int64_t>>& scalars)
      : function_(f), scalars_(scalars) {}

  // How many dimensions of accesses are not known to be in bounds, where the
  // parameters hold what `inputs` says (others: anything).
  int CountUnsafe(const ContentBounds& inputs);

 private:
  void Pass();
  void Walk(const Stmt& s);
  void WalkIf(const IfNode& node);
  void Store(const StoreNode& store);
  // Looks at the accesses in `e`, and gives its value with variables in place
  // of loads. Whole numbers that come from memory are computed in 64 bits:
  // where a narrower type might wrap, the value is any of the type.
  Expr Take(const Expr& e);
  Expr TakeBinary(const Expr& e);
  Expr TakeCast(const Expr& e);
  // Looks at the accesses in the operands of an `e` that is not followed
  // further, and gives any value of its type.
  Expr TakeUnknown(const Expr& e);
  Expr Unknown(DType dtype);
  Expr Fit(const Expr& value, DType dtype);
  void BindTo(const Var& var, ConstBound bound);
  Expr TakeCall(const Expr& e);
  Expr TakeLoad(const LoadNode& load, DType dtype);
  Expr TakeIf(const Expr& condition, const Expr& e);
  void Check(const Buffer& buffer, const std::vector<Expr>& indices);
  Expr ValueOf(const LoadNode& load, const std::vector<Expr>& indices,
               DType dtype);
  void Join(const Buffer& buffer, ConstBound bound);
  // From here on, loads of `buffer` are new variables: a store may have changed
  // what those before it found.
  void Forget(const Buffer& buffer);
  void ForgetStored(const Stmt& body);

  const Function& function_;
  const std::vector<std::pair<Var, int64_t>>& scalars_;
  ContentBounds contents_;
  bool changed_ = false;
  bool widens_ = false;
  int unsafe_ = 0;
  // Of one pass.
  Analyzer analyzer_;
  struct Value {
    Expr load;
    Buffer buffer;
    Var var;
  };
  std::vector<Value> values_;  // of loads that no store has come after
};

}  // namespace kiln

#endif  // KILN_CODEGEN_GUARD_ACCESS_TRIAL_H_
