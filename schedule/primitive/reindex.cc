#include "kiln/schedule/primitive/reindex.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/stores.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/storage_scope.h"

namespace kiln {
namespace {

constexpr std::string_view kReindex = "reindex";

// The outermost statement of the scope that holds the block.
const Stmt& Outermost(const ElementAccess& access) {
  const size_t first = access.scope.size();
  const Stmt& below = access.block[first];
  return below.As<SeqNode>() ? access.block[first + 1] : below;
}

// Below the outermost statement the tensor is the block's alone, but for what
// others read of a tensor that the block reads.
absl::Status CheckOthers(const ElementAccess& access, bool is_write,
                         std::string_view primitive) {
  absl::Status status;
  ForEachBlock(Outermost(access), [&](const BlockRealizeNode& realize) {
    const BlockNode& other = *realize.block;
    if (other.id == access.node().id || !status.ok()) return;
    const bool meets = WritesBuffer(other, access.buffer) ||
                       (is_write && ReadsBuffer(other, access.buffer));
    if (!meets) return;
    status =
        Refusal(primitive,
                absl::StrCat(Describe(other), " uses `", access.buffer->name,
                             "` in the same nest as ", Describe(access.node())),
                "reindex before the blocks are moved together");
  });
  return status;
}

bool Uses(const BlockNode& block, const Buffer& buffer) {
  return ReadsBuffer(block, buffer) || WritesBuffer(block, buffer);
}

// The largest statement around the block that holds no other user of the
// tensor, as an index into the block's path.
size_t OwnStatement(const ElementAccess& access) {
  size_t own = access.block.size() - 1;
  while (own > access.scope.size()) {
    int users = 0;
    ForEachBlock(access.block[own - 1], [&](const BlockRealizeNode& realize) {
      users += Uses(*realize.block, access.buffer);
    });
    if (users > 1) break;
    --own;
  }
  return own;
}

// Whether one run of the statement at `own` writes exactly the element that the
// loops around it choose, so that a copy right behind it keeps the tensor as it
// was at every point of the program.
bool WritesOneElement(const ElementAccess& access, size_t own) {
  const BlockRealizeNode& realize = *access.block.realize();
  const auto moves = [&](const Expr& e) {
    for (size_t i = own; i < access.block.size(); ++i) {
      const auto* loop = access.block[i].As<ForNode>();
      if (loop && UsesVar(e, loop->var)) return true;
    }
    return false;
  };
  Analyzer analyzer;
  for (size_t i = own; i + 1 < access.block.size(); ++i) {
    const auto* loop = access.block[i].As<ForNode>();
    if (!loop && !access.block[i].As<SeqNode>()) return false;
    if (loop && !analyzer.CanProveLess(Int(0), loop->extent)) return false;
  }
  for (const IterVar& iter : access.iters) {
    const auto& iters = access.node().iters;
    const auto at =
        std::find_if(iters.begin(), iters.end(),
                     [&](const IterVar& v) { return v.var == iter.var; });
    if (moves(realize.values[at - iters.begin()])) return false;
  }
  return !moves(realize.predicate);
}

// Whether a copy out can stand in the nest, and there only.
bool CopiesInNest(const ElementAccess& access, bool is_write) {
  if (!is_write) return false;
  const size_t own = OwnStatement(access);
  return own > access.scope.size() && access.block[own - 1].As<SeqNode>() &&
         access.block[own] != Outermost(access) &&
         WritesOneElement(access, own);
}

bool IsOn(const Path& path, const BlockRealizeNode& realize) {
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i].As<BlockRealizeNode>() == &realize) return true;
  }
  return false;
}

bool IsUnderIf(const Path& path, size_t from) {
  for (size_t i = from; i < path.size(); ++i) {
    if (path[i].As<IfNode>()) return true;
  }
  return false;
}

// Whether each element is written by one of as many instances.
bool WritesAll(const Function& f, const ScopeBlock& at, const Buffer& buffer) {
  const BlockNode& block = at.block();
  if (WhyNotWholeDomain(at)) return false;
  for (size_t i = 0; i < block.writes.size(); ++i) {
    if (block.writes[i].buffer != buffer) continue;
    const auto access =
        FindElementAccess(f, block.id, static_cast<int>(i), true, kReindex);
    if (!access.ok() || HasConditions(block, buffer, true) ||
        IsUnderIf(access->block, access->scope.size()) || !IsWithin(*access) ||
        !IsInjective(*access)) {
      return false;
    }
    Expr instances = Int(1), elements = Int(1);
    for (const IterVar& iter : access->iters) {
      instances = Mul(instances, iter.domain.extent);
    }
    for (const Expr& size : buffer->shape) elements = Mul(elements, size);
    return Analyzer().CanProveEqual(instances, elements);
  }
  return false;
}

// Whether a block before `path` writes all of the tensor.
bool IsFilled(const Function& f, const Path& path, const Buffer& buffer) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const auto* realize = path[i].As<BlockRealizeNode>();
    if (!realize) continue;
    const Scope scope(*realize->block);
    for (const ScopeBlock& at : scope.blocks) {
      if (IsOn(path, *at.realize)) break;
      if (WritesAll(f, at, buffer)) return true;
    }
  }
  return false;
}

// A copy is of what the block would not read too, which has to have a value.
absl::Status CheckValues(const Function& f, const ElementAccess& access,
                         std::string_view primitive) {
  const bool reads_all = !HasConditions(access.node(), access.buffer, false) &&
                         !IsUnderIf(access.block, access.scope.size());
  if (reads_all || IsArgument(f, access.buffer) ||
      IsFilled(f, access.block, access.buffer)) {
    return absl::OkStatus();
  }
  return Refusal(
      primitive,
      absl::StrCat(Describe(access.node()), " reads `", access.buffer->name,
                   "` under a condition; other elements of it may "
                   "never have been written"));
}

absl::Status Check(const Function& f, const ElementAccess& access,
                   bool is_write, std::string_view primitive) {
  const Scope scope(access.scope_node());
  if (!is_write) {
    KILN_RETURN_IF_ERROR(CheckValues(f, access, primitive));
  }
  const int index = scope.IndexOf(access.node().id);
  if (Reason reason = WhyNotWholeDomain(scope.blocks[index])) {
    return Refusal(primitive, *reason);
  }
  if (!IsWithin(access)) {
    return Refusal(primitive,
                   absl::StrCat("the indices of `", access.buffer->name,
                                "` are not known to stay within it"));
  }
  if (is_write && !IsInjective(access)) {
    return Refusal(primitive,
                   absl::StrCat("several values of the iterators may "
                                "write the same element of `",
                                access.buffer->name, "`"));
  }
  if (is_write &&
      !StoresAll(access.node(), {access.buffer, PointRegion(access.indices)})) {
    return Refusal(primitive, absl::StrCat(Describe(access.node()),
                                           " may leave `", access.buffer->name,
                                           "` as it was; the copy would not"));
  }
  for (const IterVar& iter : access.iters) {
    if (!is_write || iter.type == IterType::kSpatial) continue;
    return Refusal(primitive, absl::StrCat("reduce iterator `", iter.var.name(),
                                           "` indexes what is written"));
  }
  if (CopiesInNest(access, is_write)) return absl::OkStatus();
  return CheckOthers(access, is_write, primitive);
}

// The enclosing block with `copy` before or after the outermost statement.
Stmt Insert(const ElementAccess& access, const Stmt& nest, Stmt copy,
            bool is_write, const Buffer& staging) {
  const Stmt& outermost = Outermost(access);
  BlockFields fields = access.scope_node().fields();
  const auto* seq = fields.body.As<SeqNode>();
  std::vector<Stmt> stmts = seq ? seq->stmts : std::vector<Stmt>{fields.body};
  const auto at = std::find(stmts.begin(), stmts.end(), outermost);
  *at = nest;
  stmts.insert(is_write ? at + 1 : at, std::move(copy));
  fields.body = MakeSeq(std::move(stmts));
  fields.alloc_buffers.push_back(staging);
  return WithBlock(*access.scope.realize(), std::move(fields));
}

// The copy of the one element that the loops around the statement choose.
Stmt PointCopy(const ElementAccess& access, Block copy) {
  const BlockRealizeNode& realize = *access.block.realize();
  const auto& iters = access.node().iters;
  std::vector<Expr> values;
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool copied =
        std::any_of(access.iters.begin(), access.iters.end(),
                    [&](const IterVar& v) { return v.var == iters[i].var; });
    if (copied) values.push_back(realize.values[i]);
  }
  return MakeRealize(std::move(values), realize.predicate, std::move(copy));
}

// The enclosing block with `copy` behind the statement at `own`, in its nest.
Stmt InsertInNest(const ElementAccess& access, const Block& redirected,
                  Stmt copy, const Buffer& staging) {
  const size_t own = OwnStatement(access);
  const Stmt changed =
      ReplaceAt(access.block.Part(own, access.block.size() - own),
                WithBlock(*access.block.realize(), redirected));
  std::vector<Stmt> stmts = access.block[own - 1].As<SeqNode>()->stmts;
  const auto at = std::find(stmts.begin(), stmts.end(), access.block[own]);
  *at = changed;
  stmts.insert(at + 1, std::move(copy));
  const size_t top = access.scope.size() - 1;
  const Stmt scope =
      ReplaceAt(access.block.Part(top, own - top), MakeSeq(std::move(stmts)));
  const auto& realize = *scope.As<BlockRealizeNode>();
  BlockFields fields = realize.block->fields();
  fields.alloc_buffers.push_back(staging);
  return WithBlock(realize, std::move(fields));
}

// The function with the tensor staged in `staging`, at `order` over the
// iterators of the block.
ReindexResult Stage(const Function& f, const ElementAccess& access,
                    bool is_write, const Buffer& staging,
                    const std::vector<Expr>& order, std::string copy_name) {
  const Buffer& tensor = access.buffer;
  ReindexResult result{f, 0};
  result.copy = result.function.NewId();
  Block copy = is_write
                   ? CopyBlock(result.copy, std::move(copy_name), access.iters,
                               staging, order, tensor, access.indices)
                   : CopyBlock(result.copy, std::move(copy_name), access.iters,
                               tensor, access.indices, staging, order);
  if (CopiesInNest(access, is_write)) {
    result.function.body =
        ReplaceAt(access.scope,
                  InsertInNest(access, Redirect(access, staging, order),
                               PointCopy(access, std::move(copy)), staging));
    return result;
  }
  Stmt copy_nest = LoopsOverDomains(std::move(copy), &result.function);
  const size_t top =
      access.scope.size() + (access.scope_node().body.As<SeqNode>() ? 1 : 0);
  const Path below = access.block.Part(top, access.block.size() - top);
  const Stmt nest = ReplaceAt(
      below,
      WithBlock(*access.block.realize(), Redirect(access, staging, order)));
  result.function.body =
      ReplaceAt(access.scope,
                Insert(access, nest, std::move(copy_nest), is_write, staging));
  return result;
}

// `map` as a map of those iterators alone that choose the element.
absl::StatusOr<IndexMap> MapOfUsed(const ElementAccess& access,
                                   const IndexMap& map,
                                   std::string_view primitive) {
  const std::vector<IterVar>& iters = access.node().iters;
  if (map.inputs.size() != iters.size()) {
    return BadArgument(
        primitive,
        absl::StrCat("the map takes ", map.inputs.size(), " iterators, but ",
                     Describe(access.node()), " has ", iters.size()));
  }
  IndexMap used{{}, map.outputs};
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool chooses =
        std::any_of(access.iters.begin(), access.iters.end(),
                    [&](const IterVar& v) { return v.var == iters[i].var; });
    if (chooses) {
      used.inputs.push_back(map.inputs[i]);
      continue;
    }
    for (const Expr& output : map.outputs) {
      if (!UsesVar(output, map.inputs[i])) continue;
      return Refusal(
          primitive,
          absl::StrCat("the map uses iterator `", iters[i].var.name(),
                       "`, which does not index `", access.buffer->name, "`"));
    }
  }
  return used;
}

absl::StatusOr<std::vector<Expr>> MappedShape(const ElementAccess& access,
                                              const IndexMap& used,
                                              std::string_view primitive) {
  std::vector<Expr> shape;
  for (const IterVar& iter : access.iters) shape.push_back(iter.domain.extent);
  auto extents = MapShape(used, shape);
  if (!extents.ok()) {
    return Refusal(primitive, std::string(extents.status().message()));
  }
  std::vector<Var> points;
  for (size_t i = 0; i < used.outputs.size(); ++i) {
    points.emplace_back(absl::StrCat("p", i));
  }
  const auto inverse = InvertIndexMap(used, shape, *extents, points);
  if (inverse.ok()) return *std::move(extents);
  return Refusal(primitive, std::string(inverse.status().message()),
                 "name every iterator that chooses the element");
}

}  // namespace

absl::StatusOr<ReindexResult> Reindex(const Function& f, BlockId block,
                                      int index, bool is_write) {
  KILN_ASSIGN_OR_RETURN(const ElementAccess access,
                        FindElementAccess(f, block, index, is_write, kReindex));
  KILN_RETURN_IF_ERROR(Check(f, access, is_write, kReindex));
  std::vector<Expr> shape, order;
  for (const IterVar& iter : access.iters) {
    shape.push_back(iter.domain.extent);
    order.push_back(iter.var);
  }
  const Buffer staging =
      StagingBuffer(access.buffer, access.buffer->name + "_reindex",
                    std::move(shape), access.buffer->scope);
  std::string name = staging->name;
  if (!is_write) name += "_reindex";
  return Stage(f, access, is_write, staging, order, std::move(name));
}

absl::StatusOr<ReindexResult> ReindexCache(const Function& f, BlockId block,
                                           int index, bool is_write,
                                           const std::string& memory,
                                           const IndexMap& map) {
  const char* name = is_write ? "reindex_cache_write" : "reindex_cache_read";
  KILN_RETURN_IF_ERROR(CheckStorageScope(memory, name));
  KILN_ASSIGN_OR_RETURN(const ElementAccess access,
                        FindElementAccess(f, block, index, is_write, name));
  KILN_RETURN_IF_ERROR(Check(f, access, is_write, name));
  KILN_ASSIGN_OR_RETURN(const IndexMap used, MapOfUsed(access, map, name));
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> shape,
                        MappedShape(access, used, name));
  std::vector<Expr> iters;
  for (const IterVar& iter : access.iters) iters.push_back(iter.var);
  Analyzer analyzer;
  for (const IterVar& iter : access.iters) {
    analyzer.Bind(iter.var, iter.domain);
  }
  const Buffer staging = StagingBuffer(
      access.buffer, absl::StrCat(access.buffer->name, "_", memory),
      std::move(shape), memory);
  return Stage(f, access, is_write, staging, MapIndices(used, iters, &analyzer),
               staging->name);
}

}  // namespace kiln
