// Who uses what variables hold.
#ifndef KILN_IR_PATTERN_USES_H_
#define KILN_IR_PATTERN_USES_H_

#include <set>
#include <unordered_map>
#include <vector>

#include "kiln/ir/graph/expr.h"

namespace kiln {

// The graph variables that an expression uses in values and in struct info,
// bindings inside of it included.
std::vector<const graph::VarNode*> UsedVars(const graph::Expr& e);
// Those that stand for shapes in struct info.
std::vector<const graph::VarNode*> ShapeVars(const graph::StructInfo& info);

// The variables whose values use each variable of a function. nullptr among
// them is a use of another kind: as a result, or in struct info of a variable.
class Uses {
 public:
  explicit Uses(const graph::Expr& e);

  using Users = std::set<const graph::VarNode*>;
  // Of other names of the variable, their users.
  const Users& Of(const graph::VarNode* var) const;

 private:
  void Add(const graph::Expr& e, const graph::VarNode* user);
  void AddInfo(const graph::StructInfo& info);
  // Where `name` is bound to nothing but `var`.
  void AddName(const graph::VarNode* var, const graph::VarNode* name);

  std::unordered_map<const graph::VarNode*, Users> users_;
};

}  // namespace kiln

#endif  // KILN_IR_PATTERN_USES_H_
