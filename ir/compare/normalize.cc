// Simplifies, then rebuilds the function with a fresh variable for every
// definition and a fresh buffer for every buffer, numbered in the order in
// which a walk meets them. Names that depend on nothing but structure make
// printed fragments usable as keys to sort by:
//
//   T.reads(B[vj], A[vi])   →   T.reads(B0[v1], B1[v2])
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/compare/spelling.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

class Renamer {
 public:
  Function Run(const Function& f);

 private:
  Var Define(const Var& var, std::string_view prefix);
  Expr Map(const Expr& e);
  Buffer Map(const Buffer& buffer);
  Range Map(const Range& range) { return {Map(range.min), Map(range.extent)}; }
  BufferRegion Map(const BufferRegion& region);
  std::vector<Expr> Map(const std::vector<Expr>& list);
  Attr Map(const Attr& attr);
  AttrMap Map(const AttrMap& map);
  Stmt Map(const Stmt& s);
  Stmt MapFor(const ForNode& loop);
  Stmt MapRealize(const BlockRealizeNode& realize);
  Block MapBlock(const BlockNode& block);
  std::vector<BufferRegion> MapRegions(
      const std::vector<BufferRegion>& regions);
  std::vector<Buffer> MapAllocations(const std::vector<Buffer>& buffers);
  Expr SortConjuncts(const Expr& predicate);

  int next_var_ = 0;
  int64_t next_id_ = 1;
  std::unordered_set<const VarNode*> used_;  // in expressions
  std::unordered_map<const VarNode*, Var> vars_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
  std::unordered_map<const BufferNode*, int> numbers_;  // of the new buffers
};

Var Renamer::Define(const Var& var, std::string_view prefix) {
  Var fresh(absl::StrCat(std::string(prefix), next_var_++), var.dtype());
  vars_[var.get()] = fresh;
  return fresh;
}

Expr Renamer::Map(const Expr& e) {
  if (!e) return e;
  if (const auto* var = e.As<VarNode>()) {
    const auto found = vars_.find(var);
    return found != vars_.end() ? found->second : Define(Var(var), "n");
  }
  if (const auto* load = e.As<LoadNode>()) {
    std::vector<Expr> indices = Map(load->indices);
    return Expr(
        new LoadNode(load->dtype, Map(load->buffer), std::move(indices)));
  }
  if (const auto* let = e.As<LetNode>()) {
    Expr value = Map(let->value);
    Var var = Define(let->var, "x");
    return Let(var, value, Map(let->body));
  }
  return InOneOrder(
      MapOperands(e, [&](const Expr& operand) { return Map(operand); }));
}

std::vector<Expr> Renamer::Map(const std::vector<Expr>& list) {
  std::vector<Expr> mapped;
  for (const Expr& e : list) mapped.push_back(Map(e));
  return mapped;
}

std::vector<Expr> Simplified(const std::vector<Expr>& extents) {
  Analyzer analyzer;
  std::vector<Expr> simple;
  for (const Expr& extent : extents) {
    simple.push_back(analyzer.Simplify(extent));
  }
  return simple;
}

Buffer Renamer::Map(const Buffer& buffer) {
  const auto found = buffers_.find(buffer.get());
  if (found != buffers_.end()) return found->second;
  const int number = static_cast<int>(numbers_.size());
  Buffer fresh = EditBuffer(buffer, [&](BufferNode& b) {
    b.name = absl::StrCat("B", number);
    b.shape = Map(Simplified(b.shape));
    b.strides = Map(b.strides);
    b.elem_offset =
        b.elem_offset && IsZero(b.elem_offset) ? Expr() : Map(b.elem_offset);
    // An address that nobody asks for is no part of the program.
    if (!used_.count(b.data.get())) b.data = Var();
    if (b.data) b.data = Var(Map(Expr(b.data)).As<VarNode>());
  });
  buffers_[buffer.get()] = fresh;
  numbers_[fresh.get()] = number;
  return fresh;
}

BufferRegion Renamer::Map(const BufferRegion& region) {
  BufferRegion mapped{Map(region.buffer), {}};
  for (const Range& range : region.region) mapped.region.push_back(Map(range));
  return mapped;
}

// Integers of annotations are compared by value, whatever their width.
Attr Renamer::Map(const Attr& attr) {
  if (const Expr* e = attr.expr()) {
    const int64_t* value = AsInt(*e);
    return value && e->dtype().is_int() ? Attr(Int(*value)) : Attr(Map(*e));
  }
  if (const AttrMap* map = attr.map()) return Map(*map);
  if (const AttrList* list = attr.list()) {
    AttrList mapped;
    for (const Attr& item : *list) mapped.push_back(Map(item));
    return mapped;
  }
  return attr;
}

AttrMap Renamer::Map(const AttrMap& map) {
  AttrMap mapped;
  for (const auto& [key, value] : map) mapped[key] = Map(value);
  return mapped;
}

Stmt Renamer::MapFor(const ForNode& loop) {
  ForFields fields = loop.fields();
  fields.id = next_id_++;
  fields.min = Map(loop.min);
  fields.extent = Map(loop.extent);
  fields.var = Define(loop.var, "i");
  fields.annotations = Map(loop.annotations);
  fields.body = Map(loop.body);
  return MakeFor(std::move(fields));
}

Expr Renamer::SortConjuncts(const Expr& predicate) {
  std::vector<std::pair<std::string, Expr>> keyed;
  for (const Expr& e : ConjunctsOf(predicate)) {
    if (!IsOne(e)) keyed.emplace_back(PrintExpr(e), e);
  }
  const auto less = [](const auto& a, const auto& b) {
    return a.first < b.first;
  };
  std::sort(keyed.begin(), keyed.end(), less);
  Expr result;
  for (size_t i = 0; i < keyed.size(); ++i) {
    if (i > 0 && keyed[i].first == keyed[i - 1].first) continue;
    result = result ? And(result, keyed[i].second) : keyed[i].second;
  }
  return result ? result : Bool(true);
}

Stmt Renamer::MapRealize(const BlockRealizeNode& realize) {
  std::vector<Expr> values = Map(realize.values);
  Expr predicate = SortConjuncts(Map(realize.predicate));
  return MakeRealize(std::move(values), predicate, MapBlock(*realize.block));
}

std::vector<BufferRegion> Renamer::MapRegions(
    const std::vector<BufferRegion>& regions) {
  using Keyed = std::pair<std::pair<int, std::string>, BufferRegion>;
  std::vector<Keyed> keyed;
  for (const BufferRegion& region : regions) {
    BufferRegion mapped = Map(region);
    const int number = numbers_[mapped.buffer.get()];
    keyed.push_back({{number, PrintRegion(mapped)}, mapped});
  }
  const auto key_less = [](const Keyed& a, const Keyed& b) {
    return a.first < b.first;
  };
  std::sort(keyed.begin(), keyed.end(), key_less);
  std::vector<BufferRegion> sorted;
  for (size_t i = 0; i < keyed.size(); ++i) {
    if (i == 0 || keyed[i].first != keyed[i - 1].first) {
      sorted.push_back(keyed[i].second);
    }
  }
  return sorted;
}

std::vector<Buffer> Renamer::MapAllocations(
    const std::vector<Buffer>& buffers) {
  std::vector<Buffer> mapped;
  for (const Buffer& buffer : buffers) mapped.push_back(Map(buffer));
  std::sort(mapped.begin(), mapped.end(),
            [&](const Buffer& a, const Buffer& b) {
              return numbers_[a.get()] < numbers_[b.get()];
            });
  return mapped;
}

// The body goes first: what it uses first gets the first number.
Block Renamer::MapBlock(const BlockNode& block) {
  BlockFields fields = block.fields();
  fields.id = next_id_++;
  for (IterVar& iter : fields.iters) iter.domain = Map(iter.domain);
  for (IterVar& iter : fields.iters) iter.var = Define(iter.var, "v");
  if (block.init) fields.init = Map(block.init);
  fields.body = Map(block.body);
  for (MatchBufferRegion& match : fields.match_buffers) {
    match.source = Map(match.source);
    match.buffer = Map(match.buffer);
  }
  fields.reads = MapRegions(block.reads);
  fields.writes = MapRegions(block.writes);
  fields.alloc_buffers = MapAllocations(block.alloc_buffers);
  fields.annotations = Map(block.annotations);
  return MakeBlock(std::move(fields));
}

Stmt Renamer::Map(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return MapFor(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return MapRealize(*s.As<BlockRealizeNode>());
    case StmtKind::kStore: {
      const auto* store = s.As<StoreNode>();
      std::vector<Expr> indices = Map(store->indices);
      Expr value = Map(store->value);
      return MakeStore(Map(store->buffer), value, std::move(indices));
    }
    case StmtKind::kLet: {
      const auto* let = s.As<LetStmtNode>();
      Expr value = Map(let->value);
      Var var = Define(let->var, "x");
      return MakeLet(var, value, Map(let->body));
    }
    case StmtKind::kAllocate: {
      const auto* allocate = s.As<AllocateNode>();
      Buffer buffer = Map(allocate->buffer);
      return MakeAllocate(buffer, Map(allocate->body), allocate->is_view,
                          Map(allocate->annotations));
    }
    case StmtKind::kSeq:
    case StmtKind::kIf:
    case StmtKind::kEvaluate:
      break;
  }
  return MapChildren(MapExprs(s, [&](const Expr& e) { return Map(e); }),
                     [&](const Stmt& child) { return Map(child); });
}

// The newest scripts write "tirx.noalias" for "tir.noalias".
std::string OneSpelling(const std::string& key) {
  constexpr std::string_view kNewest = "tirx.";
  const bool is_newest = key.compare(0, kNewest.size(), kNewest) == 0;
  return is_newest ? "tir." + key.substr(kNewest.size()) : key;
}

Function Renamer::Run(const Function& f) {
  VisitExprs(f.body, [&](const Expr& e) {
    if (const auto* var = e.As<VarNode>()) used_.insert(var);
    return true;
  });
  Function result = f;
  result.attrs.clear();
  for (const auto& [key, value] : f.attrs) {
    if (key != "global_symbol") result.attrs[OneSpelling(key)] = Map(value);
  }
  for (Param& param : result.params) {
    param.var = Define(param.var, "p");
    if (param.buffer) param.buffer = Map(param.buffer);
  }
  result.body = Map(f.body);
  result.next_id = next_id_;
  return result;
}

}  // namespace

Function Normalize(const Function& f) {
  Function simplified = f;
  simplified.body = InOneSpelling(SimplifyStmt(InOneSpelling(f.body)));
  return Renamer().Run(simplified);
}

}  // namespace kiln
