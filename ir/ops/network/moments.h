// Means and variances of tensors over some of their dimensions.
#ifndef KILN_IR_OPS_NETWORK_MOMENTS_H_
#define KILN_IR_OPS_NETWORK_MOMENTS_H_

#include <functional>
#include <string>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// The elements that moments are of, and which dimensions they run over.
struct Sample {
  std::vector<Expr> extents;
  std::vector<bool> is_reduced;  // of each dimension
  std::function<Expr(const std::vector<Expr>&)> element;

  std::vector<Expr> Kept(const std::vector<Expr>& i) const;
  Expr Count(DType dtype) const;
};

// The sum of `term` at the elements of the sample, for each kept index.
te::Tensor SumOver(const Sample& sample,
                   FunctionRef<Expr(const std::vector<Expr>&)> term,
                   const std::string& name);

// The mean, then the squared distances from it: two passes, since sums of
// squares lose what is small beside a large mean.
struct Moments {
  te::Tensor mean;
  te::Tensor squares;  // the sum of squared distances
};
Moments MomentsOf(const Sample& sample);

// 1 / sqrt(variance + epsilon) at the kept index.
Expr InverseDeviation(const Sample& sample, const Expr& squares,
                      double epsilon);

}  // namespace kiln

#endif  // KILN_IR_OPS_NETWORK_MOMENTS_H_
