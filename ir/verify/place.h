// Where a check stands, and the first fault that it found. Internal to
// ir/verify.
#ifndef KILN_IR_VERIFY_PLACE_H_
#define KILN_IR_VERIFY_PLACE_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::verify_internal {

class Place {
 public:
  explicit Place(std::string function) { path_.push_back(std::move(function)); }

  void Enter(std::string step) { path_.push_back(std::move(step)); }
  void Leave() { path_.pop_back(); }

  // Keeps the first fault.
  void Fail(const std::string& what);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Variables and buffers in scope.
  std::unordered_set<const VarNode*> vars;
  std::unordered_set<const BufferNode*> buffers;
  // The loops around a block that its body does not see.
  std::unordered_set<const VarNode*> hidden;
  // Addresses of the buffers in scope.
  std::unordered_set<const VarNode*> data;

 private:
  std::vector<std::string> path_;
  absl::Status status_;
};

// Checks `e` and all below it: definitions and types.
void CheckExpr(const Expr& e, Place& place);
// Checks that `e` is a scalar (or, if so said, a vector) of the index type.
// `what` names it in the message: "the extent".
void CheckIndex(const Expr& e, const char* what, Place& place,
                bool may_be_vector = false);
// Checks the indices of an access; returns the lanes that they make.
int CheckAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                Place& place);
// Checks shape, strides, types and size of a buffer that comes into scope.
void CheckBuffer(const Buffer& buffer, Place& place);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_PLACE_H_
