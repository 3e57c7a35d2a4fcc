// A walk over a function with what is known at each place. Internal to
// ir/verify.
#ifndef KILN_IR_VERIFY_SITE_WALK_H_
#define KILN_IR_VERIFY_SITE_WALK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/verify/instances.h"

namespace kiln::verify_internal {

// An element, or the lanes of one, that is loaded or stored.
struct Access {
  const Buffer& buffer;
  const std::vector<Expr>& indices;
  bool is_store;
};

// The least and the greatest index of a dimension, both included.
struct Ends {
  Expr first, last;
};

// What code that is handed an address says that it does there.
enum class AddressUse : uint8_t { kAny, kReads, kWrites, kBoth };

class SiteWalk {
 public:
  virtual ~SiteWalk() = default;

 protected:
  explicit SiteWalk(const Function& f) : function_(f) {}

  void Walk();

  // --- What the walk meets, in the order in which it runs.
  virtual void OnAccess(const Access& access) {}
  // The address of an element (a load) or of a buffer (its variable), handed to
  // code that no one can look into.
  virtual void OnAddress(const Expr& of, AddressUse use) {}
  virtual void OnLoop(const ForNode& loop) {}
  virtual void OnDeclare(const AllocateNode& node) {}
  // Where the bindings and the predicate of a block are known, but not yet its
  // iterators.
  virtual void OnRealize(const BlockRealizeNode& realize) {}
  // Where its iterators are; and when all of it has been seen.
  virtual void OnEnter(const BlockNode& block) {}
  virtual void OnLeave(const BlockNode& block) {}

  // --- What is known here.
  // Whether low <= high wherever this place is reached. Proves it, or tries
  // instances.
  Trial AtMost(const Expr& low, const Expr& high);
  // Proof alone.
  bool Proves(const Expr& low, const Expr& high);
  // The constant range of an index, as "0 to 63"; "" where there is none.
  std::string RangeOf(const Expr& index);
  // `e` with the variables that hold data as what they hold: S[vi] for `at`
  // after at = S[vi].
  Expr WithData(const Expr& e) const {
    return data_.empty() ? e : Substitute(e, data_);
  }
  // Whether there are any.
  bool KnowsData() const { return !data_.empty(); }
  // "main / for i / block "C"".
  std::string Path() const;
  const Function& function() const { return function_; }

 private:
  class Scoped;
  void Walk(const Stmt& s);
  void WalkFor(const ForNode& loop);
  void WalkRealize(const BlockRealizeNode& realize);
  void WalkIters(const BlockRealizeNode& realize, size_t at);
  void WalkInit(const BlockNode& block, size_t at);
  void WalkIf(const IfNode& node);
  void WalkLet(const Var& var, const Expr& value, const Stmt& body);
  void RememberData(const Var& var, const Expr& value);
  void WalkSeq(const SeqNode& seq, size_t at);
  void Walk(const Expr& e);
  void WalkGuarded(const Expr& condition, const Expr& e);
  void WalkCall(const CallNode& call);
  void WalkAccessPtr(const CallNode& call);
  // The same over the loops alone, with iterators as their values.
  bool ProvesByValues(const Expr& low, const Expr& high);

  const Function& function_;
  Analyzer analyzer_;
  Steps steps_;
  VarMap data_;
  std::vector<const StmtNode*> path_;
};

// The ends of an index that may be a vector; nullopt where its lanes are
// beyond this.
std::optional<Ends> EndsOf(const Expr& index);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_SITE_WALK_H_
