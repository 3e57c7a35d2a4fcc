// Where a loop or block stands in a function, and how to change what is there.
//
// Trees have no parent pointers. A path is found from the root by id, and a
// change at its end rebuilds the statements on the path only; all else is
// shared with the function before.
//
//   KILN_ASSIGN_OR_RETURN(Path path, RequireLoop(f, loop, "unroll"));
//   ForFields fields = path.loop()->fields();
//   fields.for_kind = ForKind::kUnrolled;
//   return ReplaceAt(f, path, MakeFor(std::move(fields)));
#ifndef KILN_SCHEDULE_ANALYSIS_PATH_H_
#define KILN_SCHEDULE_ANALYSIS_PATH_H_

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The statements from the body of a function down to one of them. Each is a
// direct child of the one before; the first is the realization of the root.
class Path {
 public:
  Path() = default;
  // From `root`, which keeps all alive that stands below, through `below`: each
  // the very child of the one before.
  using Way = absl::InlinedVector<const Stmt*, 16>;
  explicit Path(Stmt root, Way below = {})
      : root_(std::move(root)), below_(std::move(below)) {}

  const Stmt& operator[](size_t i) const {
    return i == 0 ? root_ : *below_[i - 1];
  }
  const Stmt& back() const { return (*this)[size() - 1]; }
  size_t size() const { return root_ ? below_.size() + 1 : 0; }
  // The last statement as a loop or as a block; nullptr when it is not one.
  const ForNode* loop() const { return back().As<ForNode>(); }
  const BlockRealizeNode* realize() const {
    return back().As<BlockRealizeNode>();
  }
  // The index of the innermost block strictly above the last statement; -1 for
  // the root itself.
  int ScopeIndex() const;
  // The realization of that block; nullptr for the root itself.
  const BlockRealizeNode* scope() const;
  // `length` statements, at least one, from the one at `first` on.
  Path Part(size_t first, size_t length) const;
  Path Prefix(size_t length) const { return Part(0, length); }

 private:
  Stmt root_;
  Way below_;
};

std::optional<Path> FindLoop(const Function& f, LoopId id);
std::optional<Path> FindBlock(const Function& f, BlockId id);
// The path to `stmt` itself, by identity.
std::optional<Path> FindStmt(const Function& f, const Stmt& stmt);

// The same, or a refusal in the name of `primitive`; also where no block, the
// root, is around all of the body. The path then has a scope, but for the root.
absl::StatusOr<Path> RequireLoop(const Function& f, LoopId id,
                                 std::string_view primitive);
absl::StatusOr<Path> RequireBlock(const Function& f, BlockId id,
                                  std::string_view primitive);

// Also refuses a block under a loop of extent 0, for primitives that take it
// that blocks touch what they say.
absl::StatusOr<Path> RequireBlockThatRuns(const Function& f, BlockId id,
                                          std::string_view primitive);

// The loops between the enclosing block and the last statement, outermost
// first; a loop at the end is not among them.
std::vector<const ForNode*> LoopsAbove(const Path& path);
// Whether `e` names the variable of one of `loops`.
bool UsesLoop(const Expr& e, const std::vector<const ForNode*>& loops);
// The paths to the same loops, as ids.
std::vector<LoopId> LoopIdsAbove(const Path& path);

// Calls `visit` on each block realization in or below `s`, in program order,
// without entering blocks. `s` itself counts when it is one.
void ForEachBlock(const Stmt& s,
                  FunctionRef<void(const BlockRealizeNode&)> visit);
// The same, entering blocks too; parents first.
void ForEachBlockDeep(const Stmt& s,
                      FunctionRef<void(const BlockRealizeNode&)> visit);
// Blocks called `name` anywhere in `f`, in program order.
std::vector<BlockId> BlocksNamed(const Function& f, std::string_view name);

// `stmt` with its direct child `from` (by identity) replaced by `to`.
Stmt ReplaceChild(const Stmt& stmt, const Stmt& from, Stmt to);
// The body of the function with the last statement of `path` replaced.
Stmt ReplaceAt(const Path& path, Stmt replacement);
Function ReplaceAt(Function f, const Path& path, Stmt replacement);

// Takes the last statement away, with the loops that then have no body.
// nullopt when nothing would be left of the scope.
struct Removal {
  Path path;         // of the outermost statement that changes
  Stmt replacement;  // what stands there afterwards
};
std::optional<Removal> RemoveAt(const Path& path);

// A realization like `realize` with another block, values or predicate.
Stmt WithBlock(const BlockRealizeNode& realize, Block block);
Stmt WithBlock(const BlockRealizeNode& realize, BlockFields fields);

// Whether the tensor is a parameter: each of its elements then has a value from
// the start.
bool IsArgument(const Function& f, const Buffer& buffer);
// Whether a block of the function allocates the tensor.
bool IsAllocated(const Function& f, const Buffer& buffer);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_PATH_H_
