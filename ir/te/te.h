// Tensor expressions: tensors defined by a formula for each element.
//
//   te::Tensor A = te::Placeholder({Int(128), Int(64)}, DType::Float(32), "A");
//   te::Tensor B = te::Placeholder({Int(64), Int(32)}, DType::Float(32), "B");
//   te::IterVar k = te::ReduceAxis(0, 64, "k");
//   te::Tensor C = te::Compute({Int(128), Int(32)}, [&](const auto& i) {
//     return te::Sum(A(i[0], k) * B(k, i[1]), {k});
//   }, "C");
//   absl::StatusOr<Function> f = te::CreatePrimFunc({A, B, C});
#ifndef KILN_IR_TE_TE_H_
#define KILN_IR_TE_TE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Operators on expressions of one type, for formulas.
inline Expr operator+(const Expr& a, const Expr& b) { return Add(a, b); }
inline Expr operator-(const Expr& a, const Expr& b) { return Sub(a, b); }
inline Expr operator*(const Expr& a, const Expr& b) { return Mul(a, b); }

}  // namespace kiln

namespace kiln::te {

// An axis of a reduction; stands for its variable in formulas.
class IterVar {
 public:
  IterVar(Var var, Range domain) : var_(std::move(var)), domain_(domain) {}
  operator Expr() const { return var_; }  // NOLINT: as in formulas
  const Var& var() const { return var_; }
  const Range& domain() const { return domain_; }

 private:
  Var var_;
  Range domain_;
};

IterVar ReduceAxis(Expr min, Expr extent, std::string name);
IterVar ReduceAxis(int64_t min, int64_t extent, std::string name);

enum class Combiner : uint8_t { kNone, kSum, kProd, kMin, kMax };

// What a formula gives: a plain expression, or one reduced over axes.
struct Value {
  Value(Expr source) : source(std::move(source)) {}  // NOLINT: a plain one
  Value(Combiner combiner, Expr source, std::vector<IterVar> axes)
      : source(std::move(source)), combiner(combiner), axes(std::move(axes)) {}
  Expr source;
  Combiner combiner = Combiner::kNone;
  std::vector<IterVar> axes;
};

// Reductions start from 0, 1, and the bounds of the type (finite for floats).
// The sum of bools is whether one is true, their product whether all are.
Value Sum(Expr source, std::vector<IterVar> axes);
Value Prod(Expr source, std::vector<IterVar> axes);
Value Max(Expr source, std::vector<IterVar> axes);
Value Min(Expr source, std::vector<IterVar> axes);

// A tensor by identity: an input, or a formula over other tensors that it keeps
// alive.
class Tensor {
 public:
  explicit Tensor(Buffer buffer) : buffer_(std::move(buffer)) {}
  const Buffer& buffer() const { return buffer_; }
  const std::vector<Expr>& shape() const { return buffer_->shape; }
  DType dtype() const { return buffer_->dtype; }

  // The element at the indices, one for each dimension.
  Expr operator()(std::vector<Expr> indices) const {
    return Load(buffer_, std::move(indices));
  }
  template <typename... Indices>
  Expr operator()(const Indices&... indices) const {
    return Load(buffer_, {static_cast<Expr>(indices)...});
  }

 private:
  Buffer buffer_;
};

Tensor Placeholder(std::vector<Expr> shape, DType dtype, std::string name);

using Formula = std::function<Value(const std::vector<Expr>&)>;

struct ComputeOptions {
  // Names of the axes; "i0", "i1", ... where there are none.
  std::vector<std::string> axes;
  Annotations annotations;  // of the block
};

// The tensor whose element at i is formula(i).
Tensor Compute(std::vector<Expr> shape, const Formula& formula,
               std::string name, ComputeOptions options = {});

// The function with `params` as parameters, in order; tensors in between become
// allocations, and every formula becomes a block of the tensor's name with
// iterators "v_" + axis, or with one "vi" of a single step where there are no
// axes. A placeholder that a formula uses and that is no parameter, or a
// parameter that comes twice, is an error. So is one of
// `layout_free_placeholders` that is no parameter or has a formula: these are
// constants whose layout is free (ir/tensor/layout_free.h).
absl::StatusOr<Function> CreatePrimFunc(
    const std::vector<Tensor>& params, std::string name = "main",
    const std::vector<Tensor>& layout_free_placeholders = {});

}  // namespace kiln::te

#endif  // KILN_IR_TE_TE_H_
