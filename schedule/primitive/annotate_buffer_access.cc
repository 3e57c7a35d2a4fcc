#include "kiln/schedule/primitive/annotate_buffer_access.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr char kName[] = "annotate_buffer_access";
// How many values of an index are tried out.
constexpr int64_t kMostPoints = 1 << 16;

// A load or store, and the variables that run inside of the block.
struct Access {
  std::vector<Expr> indices;
  std::vector<LoopRange> inner;
};

// The loads of a tensor, or the stores to it.
class Collector {
 public:
  Collector(const Buffer& buffer, bool is_write)
      : buffer_(buffer), is_write_(is_write) {}

  void Collect(const BlockNode& block) {
    for (const MatchBufferRegion& match : block.match_buffers) {
      as_a_whole_ = as_a_whole_ || match.source.buffer == buffer_;
    }
    if (block.init) Collect(block.init);
    Collect(block.body);
  }

  const std::vector<Access>& accesses() const { return accesses_; }
  bool as_a_whole() const { return as_a_whole_; }

 private:
  void Collect(const Stmt& s) {
    const size_t depth = inner_.size();
    ForEachExpr(s, [&](const Expr& e) { CollectLoads(e); });
    if (const auto* loop = s.As<ForNode>()) {
      inner_.push_back({loop->var, {loop->min, loop->extent}});
    }
    const auto* store = s.As<StoreNode>();
    if (store && is_write_ && store->buffer == buffer_) {
      accesses_.push_back({store->indices, inner_});
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const IterVar& iter : realize->block->iters) {
        inner_.push_back({iter.var, iter.domain});
      }
      Collect(*realize->block);
    } else {
      ForEachChild(s, [&](const Stmt& child) { Collect(child); });
    }
    inner_.resize(depth);
  }

  void CollectLoads(const Expr& e) {
    Visit(e, [&](const Expr& x) {
      const auto* load = x.As<LoadNode>();
      if (load && !is_write_ && load->buffer == buffer_) {
        accesses_.push_back({load->indices, inner_});
      }
      as_a_whole_ = as_a_whole_ || (buffer_->data && x == buffer_->data);
      return true;
    });
  }

  const Buffer& buffer_;
  const bool is_write_;
  std::vector<LoopRange> inner_;
  std::vector<Access> accesses_;
  bool as_a_whole_ = false;
};

bool Proves(const std::vector<LoopRange>& vars, const Expr& index,
            const Range& range) {
  Analyzer analyzer;
  for (const LoopRange& var : vars) analyzer.Bind(var.var, var.range);
  return analyzer.CanProveLessEqual(range.min, index) &&
         analyzer.CanProveLess(index, Add(range.min, range.extent));
}

// A function that fills its parameters with `values`, at every point of
// `vars`. nullopt where these are not few or not constant.
std::optional<Function> Tabulate(const std::vector<LoopRange>& vars,
                                 const std::vector<Expr>& values) {
  Function f;
  f.name = "main";
  int64_t points = 1;
  Expr at = Int(0);
  for (const LoopRange& var : vars) {
    const int64_t* extent = AsInt(var.range.extent);
    if (!extent || *extent < 0 || *extent > kMostPoints ||
        !AsInt(var.range.min)) {
      return std::nullopt;
    }
    points *= *extent;
    if (points > kMostPoints) return std::nullopt;
    at = Add(Mul(at, var.range.extent), Sub(var.var, var.range.min));
  }
  std::vector<Stmt> stores;
  for (const Expr& value : values) {
    const Buffer table =
        MakeBuffer("values", DType::Int(64), {Int(points)}, "global");
    f.params.push_back({Var("t", DType::Handle()), table});
    stores.push_back(MakeStore(table, value, {at}));
  }
  f.body = MakeSeq(std::move(stores));
  for (size_t i = vars.size(); i-- > 0;) {
    ForFields loop;
    loop.id = f.NewId();
    loop.var = vars[i].var;
    loop.min = vars[i].range.min;
    loop.extent = vars[i].range.extent;
    loop.body = std::move(f.body);
    f.body = MakeFor(std::move(loop));
  }
  return f;
}

// Whether the index is in the range for all values of `vars`, all tried.
bool HoldsEverywhere(const std::vector<LoopRange>& vars, const Expr& index,
                     const Range& range) {
  const std::vector<Expr> values = {index, range.min,
                                    Add(range.min, range.extent)};
  std::vector<LoopRange> used;
  for (const LoopRange& var : vars) {
    const bool uses =
        std::any_of(values.begin(), values.end(),
                    [&](const Expr& e) { return UsesVar(e, var.var); });
    if (uses) used.push_back(var);
  }
  const std::optional<Function> f = Tabulate(used, values);
  if (!f) return false;
  std::vector<Tensor> tables;
  for (const Param& param : f->params) {
    tables.emplace_back(DType::Int(64),
                        std::vector<int64_t>{*AsInt(param.buffer->shape[0])});
  }
  if (!Interpret(*f, tables).ok()) return false;
  for (int64_t i = 0; i < tables[0].size(); ++i) {
    const int64_t at = tables[0].GetInt(i);
    if (at < tables[1].GetInt(i) || at >= tables[2].GetInt(i)) return false;
  }
  return true;
}

absl::Status CheckHolds(const BlockNode& block, const BufferRegion& region,
                        bool is_write) {
  Collector collector(region.buffer, is_write);
  collector.Collect(block);
  if (collector.as_a_whole()) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " takes `", region.buffer->name,
                            "` as a whole, not by its elements"));
  }
  for (const Access& access : collector.accesses()) {
    std::vector<LoopRange> vars;
    for (const IterVar& iter : block.iters) {
      vars.push_back({iter.var, iter.domain});
    }
    vars.insert(vars.end(), access.inner.begin(), access.inner.end());
    for (size_t d = 0; d < access.indices.size(); ++d) {
      if (Proves(vars, access.indices[d], region.region[d]) ||
          HoldsEverywhere(vars, access.indices[d], region.region[d])) {
        continue;
      }
      return Refusal(kName,
                     absl::StrCat("dimension ", d, " of `", region.buffer->name,
                                  "`: what ", Describe(block),
                                  is_write ? " writes" : " reads",
                                  " is not known to lie within the range"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferRegion> ToldRegion(const BlockNode& block,
                                        const BufferRegion& now,
                                        const IndexMap& ranges) {
  if (ranges.inputs.size() != block.iters.size() ||
      ranges.outputs.size() != 2 * now.region.size()) {
    return BadArgument(
        kName, absl::StrCat("the map goes from ", ranges.inputs.size(), " to ",
                            ranges.outputs.size() / 2, " ranges, but ",
                            Describe(block), " has ", block.iters.size(),
                            " iterators, and `", now.buffer->name, "` ",
                            now.region.size(), " dimensions"));
  }
  VarMap map;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    map[ranges.inputs[i].get()] = block.iters[i].var;
  }
  Analyzer analyzer;
  BufferRegion told{now.buffer, {}};
  for (size_t i = 0; i < now.region.size(); ++i) {
    const Expr begin = Substitute(ranges.outputs[2 * i], map);
    const Expr end = Substitute(ranges.outputs[2 * i + 1], map);
    if (begin.dtype() != now.region[i].min.dtype() ||
        end.dtype() != begin.dtype()) {
      return BadArgument(kName, "begin and end of a range are no indices");
    }
    told.region.push_back({begin, analyzer.Simplify(Sub(end, begin))});
  }
  return told;
}

// Adds `index` to the list of those told by hand.
void Mark(BlockFields* fields, const char* key, int index) {
  Attr& note = fields->annotations[key];
  AttrList list = note.list() ? *note.list() : AttrList();
  for (const Attr& item : list) {
    const int64_t* known = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (known && *known == index) return;
  }
  list.push_back(Int(index));
  note = std::move(list);
}

// The blocks around the last statement of `path` but for the root declare all
// of `buffer`, since what is told of a block inside may be more than they held.
Function WithWholeAround(Function f, Path path, const Buffer& buffer,
                         bool is_write) {
  const int scope = path.ScopeIndex();
  if (scope <= 0) return f;
  const auto& realize = *path[scope].As<BlockRealizeNode>();
  BlockFields fields = realize.block->fields();
  auto& regions = is_write ? fields.writes : fields.reads;
  for (BufferRegion& region : regions) {
    if (region.buffer == buffer) region = FullRegion(buffer);
  }
  const BlockId id = fields.id;
  f = ReplaceAt(std::move(f), path.Prefix(scope + 1),
                WithBlock(realize, std::move(fields)));
  return WithWholeAround(f, *FindBlock(f, id), buffer, is_write);
}

}  // namespace

absl::StatusOr<Function> AnnotateBufferAccess(const Function& f, BlockId id,
                                              int index, bool is_write,
                                              const IndexMap& ranges) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, id, kName));
  BlockFields fields = path.realize()->block->fields();
  const BlockNode& block = *path.realize()->block;
  auto& regions = is_write ? fields.writes : fields.reads;
  if (index < 0 || index >= static_cast<int>(regions.size())) {
    return BadArgument(
        kName, absl::StrCat(Describe(block), is_write ? " writes " : " reads ",
                            regions.size(),
                            " tensors, so that there is no number ", index));
  }
  KILN_ASSIGN_OR_RETURN(BufferRegion region,
                        ToldRegion(block, regions[index], ranges));
  KILN_RETURN_IF_ERROR(CheckHolds(block, region, is_write));
  regions[index] = std::move(region);
  Mark(&fields, is_write ? "explicit_write_region" : "explicit_read_region",
       index);
  const Buffer buffer = regions[index].buffer;
  Function told =
      ReplaceAt(f, path, WithBlock(*path.realize(), std::move(fields)));
  const Path to = *FindBlock(told, id);
  return WithWholeAround(std::move(told), to, buffer, is_write);
}

}  // namespace kiln
