// A path is found by walking the tree with a stack of pointers, so that no
// reference count is touched off the path.
#include "kiln/schedule/analysis/path.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/alias.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// Whether `is_right` holds for a direct child of `s`; stops at the first.
template <typename F>
bool AnyChild(const Stmt& s, const F& is_right) {
  if (const auto* seq = s.As<SeqNode>()) {
    return std::any_of(seq->stmts.begin(), seq->stmts.end(), is_right);
  }
  bool found = false;
  ForEachChild(s, [&](const Stmt& child) { found = found || is_right(child); });
  return found;
}

using Way = Path::Way;

// The child of a statement that has one; nullptr for others.
const Stmt* OnlyChild(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return &loop->body;
  const auto* realize = s.As<BlockRealizeNode>();
  return realize && !realize->block->init ? &realize->block->body : nullptr;
}

// Adds to `way` what stands between `s` and the statement that is wanted, that
// one included.
template <typename F>
bool Descend(const Stmt& s, const F& is_wanted, Way* way) {
  const size_t depth = way->size();
  const Stmt* at = &s;
  while (!is_wanted(*at)) {
    if (const Stmt* child = OnlyChild(*at)) {
      way->push_back(child);
      at = child;
      continue;
    }
    const bool found = AnyChild(*at, [&](const Stmt& child) {
      way->push_back(&child);
      if (Descend(child, is_wanted, way)) return true;
      way->pop_back();
      return false;
    });
    if (!found) way->resize(depth);
    return found;
  }
  return true;
}

template <typename F>
std::optional<Path> Find(const Function& f, const F& is_wanted) {
  Way way;
  if (!f.body || !Descend(f.body, is_wanted, &way)) return std::nullopt;
  return Path(f.body, std::move(way));
}

absl::Status NoRoot(const Function& f, std::string_view primitive) {
  return Refusal(primitive,
                 absl::StrCat("the body of `", f.name, "` is not in one block"),
                 "put all of it into a block without axes, as the reader of "
                 "programs does");
}

}  // namespace

int Path::ScopeIndex() const {
  for (int i = static_cast<int>(size()) - 2; i >= 0; --i) {
    if ((*this)[i].kind() == StmtKind::kBlockRealize) return i;
  }
  return -1;
}

const BlockRealizeNode* Path::scope() const {
  const int index = ScopeIndex();
  return index < 0 ? nullptr : (*this)[index].As<BlockRealizeNode>();
}

Path Path::Part(size_t first, size_t length) const {
  const auto below = below_.begin() + static_cast<long>(first);
  return Path((*this)[first],
              Way(below, below + static_cast<long>(length) - 1));
}

std::optional<Path> FindLoop(const Function& f, LoopId id) {
  return Find(f, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    return loop && loop->id == id;
  });
}

std::optional<Path> FindBlock(const Function& f, BlockId id) {
  return Find(f, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    return realize && realize->block->id == id;
  });
}

std::optional<Path> FindStmt(const Function& f, const Stmt& stmt) {
  return Find(f, [&](const Stmt& s) { return s == stmt; });
}

namespace {

const ForNode* EmptyLoop(const Path& path) {
  for (size_t i = 0; i < path.size(); ++i) {
    const auto* loop = path[i].As<ForNode>();
    if (loop && IsZero(loop->extent)) return loop;
  }
  return nullptr;
}

absl::StatusOr<Path> Analyzable(Path path, std::string_view primitive) {
  if (KeepsOrder(primitive)) return path;
  if (const ForNode* loop = EmptyLoop(path)) {
    return Refusal(primitive,
                   absl::StrCat(Describe(*loop),
                                " has no iterations: what stands below it "
                                "neither runs nor writes anything"),
                   "leave it as it is");
  }
  if (const auto reason = WhyAliased(path)) {
    return Refusal(primitive, *reason,
                   "access it by one name there, or schedule the blocks "
                   "around");
  }
  return path;
}

}  // namespace

absl::StatusOr<Path> RequireLoop(const Function& f, LoopId id,
                                 std::string_view primitive) {
  if (auto path = FindLoop(f, id)) {
    if (path->ScopeIndex() < 0) return NoRoot(f, primitive);
    return Analyzable(*std::move(path), primitive);
  }
  return Refusal(primitive, absl::StrCat("`", f.name, "` has no loop ", id),
                 "look the loop up again with get_loops");
}

namespace {

// The block in whose init the end of the path stands, which makes it none of
// the blocks of its scope; nullptr for none.
const BlockNode* InitAround(const Path& path) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const auto* realize = path[i].As<BlockRealizeNode>();
    if (realize && realize->block->init.get() == path[i + 1].get()) {
      return &*realize->block;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Path> RequireBlock(const Function& f, BlockId id,
                                  std::string_view primitive) {
  if (auto path = FindBlock(f, id)) {
    if (path->size() > 1 && path->ScopeIndex() < 0) return NoRoot(f, primitive);
    if (const BlockNode* around = InitAround(*path)) {
      return Refusal(primitive,
                     absl::StrCat(Describe(*path->realize()->block),
                                  " stands in the init of ", Describe(*around)),
                     "take that reduction apart with decompose_reduction");
    }
    return Analyzable(*std::move(path), primitive);
  }
  return Refusal(primitive, absl::StrCat("`", f.name, "` has no block ", id),
                 "look the block up again with get_block");
}

std::vector<const ForNode*> LoopsAbove(const Path& path) {
  std::vector<const ForNode*> loops;
  loops.reserve(path.size());
  for (size_t i = path.ScopeIndex() + 1; i + 1 < path.size(); ++i) {
    if (const auto* loop = path[i].As<ForNode>()) loops.push_back(loop);
  }
  return loops;
}

std::vector<LoopId> LoopIdsAbove(const Path& path) {
  std::vector<LoopId> ids;
  for (const ForNode* loop : LoopsAbove(path)) ids.push_back(loop->id);
  return ids;
}

void ForEachBlock(const Stmt& s,
                  FunctionRef<void(const BlockRealizeNode&)> visit) {
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    visit(*realize);
    return;
  }
  ForEachChild(s, [&](const Stmt& child) { ForEachBlock(child, visit); });
}

void ForEachBlockDeep(const Stmt& s,
                      FunctionRef<void(const BlockRealizeNode&)> visit) {
  if (const auto* realize = s.As<BlockRealizeNode>()) visit(*realize);
  ForEachChild(s, [&](const Stmt& child) { ForEachBlockDeep(child, visit); });
}

std::vector<BlockId> BlocksNamed(const Function& f, std::string_view name) {
  std::vector<BlockId> ids;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    if (realize.block->name == name) ids.push_back(realize.block->id);
  });
  return ids;
}

Stmt ReplaceChild(const Stmt& stmt, const Stmt& from, Stmt to) {
  if (const auto* loop = stmt.As<ForNode>()) {
    return WithBody(*loop, std::move(to));
  }
  const auto change = [&](const Stmt& s) -> const Stmt& {
    return s == from ? to : s;
  };
  if (const auto* seq = stmt.As<SeqNode>()) {
    std::vector<Stmt> stmts;
    stmts.reserve(seq->stmts.size());
    for (const Stmt& s : seq->stmts) stmts.push_back(change(s));
    return MakeSeq(std::move(stmts));
  }
  if (const auto* realize = stmt.As<BlockRealizeNode>()) {
    const BlockNode& block = *realize->block;
    return WithBlock(*realize,
                     WithBody(block, change(block.init), change(block.body)));
  }
  return MapChildren(stmt, change);
}

Stmt ReplaceAt(const Path& path, Stmt replacement) {
  for (size_t i = path.size() - 1; i > 0; --i) {
    replacement = ReplaceChild(path[i - 1], path[i], std::move(replacement));
  }
  return replacement;
}

Function ReplaceAt(Function f, const Path& path, Stmt replacement) {
  f.body = ReplaceAt(path, std::move(replacement));
  return f;
}

std::optional<Removal> RemoveAt(const Path& path) {
  for (size_t i = path.size() - 1; i > 0; --i) {
    const Stmt& parent = path[i - 1];
    if (parent.As<BlockRealizeNode>()) return std::nullopt;
    const auto* seq = parent.As<SeqNode>();
    if (!seq) continue;
    std::vector<Stmt> rest;
    for (const Stmt& s : seq->stmts) {
      if (s != path[i]) rest.push_back(s);
    }
    return Removal{path.Prefix(i), MakeSeq(std::move(rest))};
  }
  return std::nullopt;
}

Stmt WithBlock(const BlockRealizeNode& realize, Block block) {
  return MakeRealize(realize.values, realize.predicate, std::move(block));
}

Stmt WithBlock(const BlockRealizeNode& realize, BlockFields fields) {
  return WithBlock(realize, MakeBlock(std::move(fields)));
}

bool IsArgument(const Function& f, const Buffer& buffer) {
  return std::any_of(f.params.begin(), f.params.end(),
                     [&](const Param& p) { return p.buffer == buffer; });
}

bool IsAllocated(const Function& f, const Buffer& buffer) {
  bool found = false;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    const auto& buffers = realize.block->alloc_buffers;
    found = found ||
            std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  });
  return found;
}

}  // namespace kiln
