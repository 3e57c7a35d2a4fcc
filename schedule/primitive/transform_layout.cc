// One walk over the statements that may name the tensor: loads, stores and
// regions are mapped, and simplified with the loops and iterators around them.
// Padding, where there is any, is dealt with before that walk.
#include "kiln/schedule/primitive/transform_layout.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/race.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/data_regions.h"
#include "kiln/schedule/rewrite/inlining.h"
#include "kiln/schedule/rewrite/layout_padding.h"
#include "kiln/schedule/rewrite/stride_notes.h"

namespace kiln {
namespace {

constexpr std::string_view kName = "transform_layout";

absl::Status No(std::string reason, std::string_view way_out = "") {
  return Refusal(kName, reason, way_out);
}

// One call.
struct Change {
  const IndexMap& map;
  const TransformLayoutOptions& options;
  Buffer before, after;
  int param = -1;  // of the function; -1: allocated in a block
  Path home;       // the block that allocates it, or the root
  std::vector<Var> points;
  IndexMapInverse inverse;
  const BlockNode& home_block() const { return *home.realize()->block; }
};

// Maps accesses, with what is known about the variables around them.
class AccessMapper {
 public:
  explicit AccessMapper(const Change& change) : change_(change) {
    around_.reserve(32);
  }

  Stmt Map(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      around_.push_back({loop->var, {loop->min, loop->extent}});
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const IterVar& iter : realize->block->iters) {
        around_.push_back({iter.var, iter.domain});
      }
    }
    Stmt own = s;
    if (HasLoads(s)) own = MapExprs(s, [&](const Expr& e) { return Loads(e); });
    if (const auto* store = own.As<StoreNode>()) own = Store(own, *store);
    const auto* realize = own.As<BlockRealizeNode>();
    if (realize && Names(*realize->block)) {
      return WithBlock(*realize, Mapped(*realize->block));
    }
    return MapChildren(own, [&](const Stmt& child) { return Map(child); });
  }

  BufferRegion Region(const BufferRegion& region) {
    if (region.buffer != change_.before) return region;
    BufferRegion mapped{change_.after,
                        MapRanges(change_.map, region.region, Known())};
    for (size_t d = 0; d < mapped.region.size(); ++d) {
      if (mapped.region[d].min) continue;
      mapped.region[d] = {Int(0), change_.after->shape[d]};
    }
    return mapped;
  }

  // Whether an index that was mapped comes from data.
  bool has_data() const { return has_data_; }

 private:
  // What is known where the walk stands. Most statements never ask.
  Analyzer* Known() {
    for (const LoopRange& loop : around_) {
      if (!IsOne(loop.range.extent)) analyzer_.Bind(loop.var, loop.range);
    }
    around_.clear();
    return &analyzer_;
  }

  Expr Loads(const Expr& e) {
    return ReplaceLoads(e, change_.before, [&](const LoadNode& load) {
      return Load(change_.after, Indices(load.indices));
    });
  }

  std::vector<Expr> Indices(const std::vector<Expr>& indices) {
    for (const Expr& index : indices) has_data_ |= index->has_loads;
    return MapIndices(change_.map, indices, Known());
  }

  Stmt Store(const Stmt& s, const StoreNode& store) {
    if (store.buffer != change_.before) return s;
    return MakeStore(change_.after, store.value, Indices(store.indices));
  }

  bool Names(const BlockNode& block) const {
    return ReadsBuffer(block, change_.before) ||
           WritesBuffer(block, change_.before);
  }

  BlockFields Mapped(const BlockNode& block) {
    BlockFields fields = block.fields();
    for (BufferRegion& region : fields.reads) region = Region(region);
    for (BufferRegion& region : fields.writes) region = Region(region);
    if (block.init) fields.init = Map(block.init);
    fields.body = Map(block.body);
    WidenOverData(&fields);
    DropStridesOfReplaced(block, &fields);
    return fields;
  }

  const Change& change_;
  std::vector<LoopRange> around_;  // that the analyzer does not know yet
  Analyzer analyzer_;
  bool has_data_ = false;
};

// Finds where the tensor comes from.
absl::Status FindHome(const Function& f, Change* change) {
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (f.params[i].buffer != change->before) continue;
    change->param = static_cast<int>(i);
    change->home = Path(f.body);
    return absl::OkStatus();
  }
  BlockId home = -1;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    const auto& buffers = realize.block->alloc_buffers;
    if (std::count(buffers.begin(), buffers.end(), change->before) > 0) {
      home = realize.block->id;
    }
  });
  if (home < 0) {
    return No(absl::StrCat("`", change->before->name,
                           "` is a view of a region of another tensor"),
              "change the layout of the tensor itself");
  }
  KILN_ASSIGN_OR_RETURN(change->home, RequireBlockThatRuns(f, home, kName));
  return absl::OkStatus();
}

absl::StatusOr<Buffer> ChosenBuffer(const Function& f, BlockId id, int index,
                                    bool is_write) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlockThatRuns(f, id, kName));
  const BlockNode& block = *path.realize()->block;
  const auto& regions = is_write ? block.writes : block.reads;
  if (index < 0 || index >= static_cast<int>(regions.size())) {
    return BadArgument(
        kName, absl::StrCat(Describe(block), is_write ? " writes " : " reads ",
                            regions.size(),
                            " tensors, so that there is no number ", index));
  }
  return regions[index].buffer;
}

absl::Status CheckArguments(const Change& change) {
  const size_t rank = change.before->shape.size();
  if (change.map.inputs.size() != rank) {
    return BadArgument(
        kName,
        absl::StrCat("the map takes ", change.map.inputs.size(),
                     " indices, but `", change.before->name, "` has ", rank));
  }
  if (change.map.outputs.empty()) {
    return BadArgument(kName, "the map gives no indices");
  }
  for (const Expr& output : change.map.outputs) {
    if (output.dtype() != DType::Index()) {
      return BadArgument(kName, "the map gives something else than indices");
    }
  }
  if (!change.before->strides.empty() || change.before->elem_offset) {
    return No(absl::StrCat("`", change.before->name,
                           "` has strides or an offset of its own"));
  }
  return absl::OkStatus();
}

absl::Status CheckPadValue(const Change& change) {
  if (!change.options.pad_value) return absl::OkStatus();
  const IndexMap& pad = *change.options.pad_value;
  const bool fits =
      pad.outputs.size() == 1 &&
      (pad.inputs.empty() || pad.inputs.size() == change.map.outputs.size());
  if (!fits) {
    return BadArgument(kName,
                       "pad_value must be one value, constant or over the new "
                       "indices");
  }
  bool loads = false;
  Visit(pad.outputs[0], [&](const Expr& e) {
    loads = loads || e.As<LoadNode>();
    return !loads;
  });
  return loads ? BadArgument(kName, "pad_value may not read tensors")
               : absl::OkStatus();
}

bool Holds(DType dtype, int64_t value) {
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  if (bits >= 63) return dtype.is_int() || value >= 0;
  const int64_t end = int64_t{1} << bits;
  return value < end && value >= (dtype.is_int() ? -end : 0);
}

// The padding's value, in the type of the tensor.
absl::StatusOr<Expr> PadValue(const Change& change) {
  const IndexMap& pad = *change.options.pad_value;
  VarMap points;
  for (size_t i = 0; i < pad.inputs.size(); ++i) {
    points[pad.inputs[i].get()] = change.points[i];
  }
  const Expr value = Substitute(pad.outputs[0], points);
  const DType dtype = change.before->dtype;
  if (value.dtype() == dtype) return value;
  if (const auto* number = value.As<IntImmNode>()) {
    if (dtype.is_bool()) return Bool(number->value != 0);
    if (!dtype.is_float() && !Holds(dtype, number->value)) {
      return BadArgument(kName, absl::StrCat("pad_value ", number->value,
                                             " does not fit the type of `",
                                             change.before->name, "`"));
    }
    return Constant(static_cast<double>(number->value), dtype);
  }
  // Indices are of the program's own index type, which is 32 bits or wider.
  if (value.dtype() == DType::Index() && dtype.bits() >= 32 &&
      (dtype.is_int() || dtype.is_uint())) {
    return Cast(dtype, value);
  }
  const auto* real = value.As<FloatImmNode>();
  if (real && dtype.is_float()) return Constant(real->value, dtype);
  return BadArgument(kName, absl::StrCat("pad_value is not of the type of `",
                                         change.before->name, "`"));
}

absl::Status Plan(Change* change) {
  auto shape = MapShape(change->map, change->before->shape);
  if (!shape.ok()) return No(std::string(shape.status().message()));
  for (size_t d = 0; d < shape->size(); ++d) {
    change->points.emplace_back(absl::StrCat("p", d));
  }
  auto inverse = InvertIndexMap(change->map, change->before->shape, *shape,
                                change->points);
  if (!inverse.ok()) return No(std::string(inverse.status().message()));
  change->inverse = *std::move(inverse);
  change->after = EditBuffer(change->before, [&](BufferNode& node) {
    node.shape = *std::move(shape);
  });
  const bool may_pad =
      change->options.pad_value || change->options.assume_injective_transform;
  if (IsZero(change->inverse.is_padding) || may_pad) return absl::OkStatus();
  return No(absl::StrCat("the new layout of `", change->before->name,
                         "` holds padding"),
            "give a pad_value");
}

// The body of the home block with the padding filled.
absl::StatusOr<Stmt> FillPadding(const Change& change, Function* f) {
  const Stmt& body = change.home_block().body;
  if (IsZero(change.inverse.is_padding) || !change.options.pad_value) {
    return body;
  }
  KILN_ASSIGN_OR_RETURN(const Expr value, PadValue(change));
  const PaddedLayout layout{change.before, change.after, change.points,
                            change.inverse, value};
  if (!HasStores(body, change.before)) {
    return change.param >= 0 ? PrependAssumption(body, layout, f) : body;
  }
  if (std::optional<Stmt> replaced = ReplaceWriter(body, layout, f)) {
    return *replaced;
  }
  return AppendPaddingBlock(body, layout, f);
}

bool NamesDim(const Function& f, const Var& dim) {
  return std::any_of(f.params.begin(), f.params.end(), [&](const Param& p) {
    if (!p.buffer) return p.var == dim;
    const auto& shape = p.buffer->shape;
    return std::count(shape.begin(), shape.end(), dim) > 0;
  });
}

// Symbolic dimensions are still bound by some parameter.
absl::Status CheckDims(const Function& f, const Change& change) {
  for (const Expr& extent : change.before->shape) {
    for (const Var& dim : FreeVars(extent)) {
      if (NamesDim(f, dim)) continue;
      return No(absl::StrCat("no parameter would say what `", dim.name(),
                             "` is any more"));
    }
  }
  return absl::OkStatus();
}

// X[vi * 6 + S[vj]] does not tell rows apart as X[vi, S[vj]] does: nothing says
// that S[vj] < 6 any more.
absl::Status CheckStaysConcurrent(const Function& before,
                                  const Function& after) {
  if (!CheckConcurrentLoops(before).ok()) return absl::OkStatus();
  const absl::Status status = CheckConcurrentLoops(after);
  return status.ok() ? status : No(std::string(status.message()));
}

}  // namespace

absl::StatusOr<Function> TransformLayout(
    const Function& f, BlockId block, int index, bool is_write,
    const IndexMap& map, const TransformLayoutOptions& options) {
  Change change{map, options};
  KILN_ASSIGN_OR_RETURN(change.before, ChosenBuffer(f, block, index, is_write));
  KILN_RETURN_IF_ERROR(FindHome(f, &change));
  KILN_RETURN_IF_ERROR(CheckArguments(change));
  KILN_RETURN_IF_ERROR(CheckPadValue(change));
  if (Reason reason = WhyNotPlainAccess(change.home.back(), change.before)) {
    return No(*reason);
  }
  KILN_RETURN_IF_ERROR(Plan(&change));
  Function result = f;
  BlockFields fields = change.home_block().fields();
  KILN_ASSIGN_OR_RETURN(fields.body, FillPadding(change, &result));
  std::replace(fields.alloc_buffers.begin(), fields.alloc_buffers.end(),
               change.before, change.after);
  const Stmt home = WithBlock(*change.home.realize(), std::move(fields));
  AccessMapper mapper(change);
  result.body = ReplaceAt(change.home, mapper.Map(home));
  if (change.param >= 0) {
    result.params[change.param].buffer = change.after;
    KILN_RETURN_IF_ERROR(CheckDims(result, change));
  }
  if (mapper.has_data()) {
    KILN_RETURN_IF_ERROR(CheckStaysConcurrent(f, result));
  }
  return result;
}

}  // namespace kiln
