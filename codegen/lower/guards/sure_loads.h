// Which elements a statement reads whatever its conditions say.
#ifndef KILN_CODEGEN_LOWER_GUARDS_SURE_LOADS_H_
#define KILN_CODEGEN_LOWER_GUARDS_SURE_LOADS_H_

#include <cstddef>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// The loads that running some statements evaluates in any case, so that they
// may as well be evaluated early:
//
//   o[i] = select(v[i] > x[i] or f(w[i]), o[i], j)    o[i], v[i] and x[i]
//
// What stands in branches and loops inside is not counted.
class SureLoads {
 public:
  void Add(const Stmt& s);
  bool Holds(const LoadNode& load) const;

  // Forgets what was added after the size was `size`.
  size_t size() const { return loads_.size(); }
  void Shrink(size_t size) { loads_.resize(size); }

 private:
  void Add(const Expr& e);

  std::vector<Expr> loads_;
};

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_SURE_LOADS_H_
