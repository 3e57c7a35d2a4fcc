// Products of narrow numbers by instructions that multiply tiles of matrices
// (ir/expr/tile_nest.h). Operands are copied into tiles of 16 rows of 64 bytes,
// and four tiles of sums stay in registers for all steps:
//
//   parallel strips of rows:
//     rows of the strip into tiles
//     32 columns:
//       32 rows of the strip:
//         sums[2, 2, 16, 16] = 0
//         for k, i, j:        tiles, one instruction each
//           sums[i, j] += rows[i, k] * columns[j, k]
//         sums to their places
//
// or the same with columns outside and rows inside, where rows are few.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/tile_nest.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/matrix_form.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Of a short strip of rows, in bytes: it waits in the first-level cache.
constexpr int64_t kShortStrip = 32 << 10;
constexpr int64_t kMostTilesInStrip = 32;
// Steps with padding in each run of them, for one without.
constexpr int64_t kMostPadding = 6;

// The sizes of the tiles that registers hold.
struct TileSizes {
  int64_t down = 2, across = 2;
  int64_t group = 4;  // steps side by side

  int64_t rows() const { return down * kTileRows; }
  int64_t columns() const { return across * kTileRows; }
  int64_t steps() const { return group * kTileGroups; }
};

TileSizes SizesFor(int64_t rows, int64_t columns, int64_t group) {
  const auto tiles = [](int64_t extent) {
    return (extent + kTileRows - 1) / kTileRows;
  };
  TileSizes sizes{.group = group};
  if (rows <= kTileRows) {
    sizes.down = 1;
    sizes.across = std::min<int64_t>(4, tiles(columns));
  } else if (columns <= kTileRows) {
    sizes.down = std::min<int64_t>(3, tiles(rows));
    sizes.across = 1;
  }
  return sizes;
}

// [.., x // rows, .., k // steps, x % rows, k % steps] of [.., x, .., k], where
// x is that dimension.
IndexMap Tiles(size_t dims, size_t x, int64_t rows, int64_t steps) {
  IndexMap map;
  for (size_t i = 0; i < dims; ++i) {
    map.inputs.push_back(Var("d" + std::to_string(i)));
  }
  const Expr row = map.inputs[x], step = map.inputs.back();
  map.outputs.assign(map.inputs.begin(), map.inputs.end());
  map.outputs[x] = FloorDiv(row, Int(rows));
  map.outputs.back() = FloorDiv(step, Int(steps));
  map.outputs.push_back(FloorMod(row, Int(rows)));
  map.outputs.push_back(FloorMod(step, Int(steps)));
  return map;
}

// Columns likewise, 16 at a time, each with the steps of a group side by side.
IndexMap ColumnTiles(size_t dims, size_t x, const TileSizes& sizes) {
  IndexMap map = Tiles(dims, x, sizes.columns(), sizes.steps());
  const Expr column = map.outputs[dims], step = map.outputs[dims + 1];
  map.outputs.resize(dims);
  const Expr group = Int(sizes.group), lanes = Int(kTileRows);
  for (const Expr& e : {FloorDiv(column, lanes), FloorDiv(step, group),
                        FloorMod(column, lanes), FloorMod(step, group)}) {
    map.outputs.push_back(e);
  }
  return map;
}

// Elements that a vector copies of a row.
int64_t LanesOfRow(const BlockInfo& info, const MatrixAxes& axes,
                   const TileSizes& sizes) {
  std::vector<int> run = ContiguousSteps(info, axes);
  if (run.empty()) run = {axes.steps.back()};
  int64_t lanes = sizes.steps();
  if (run.size() == axes.steps.size()) return lanes;
  const int64_t extent = ExtentOf(info, run);
  while (lanes > sizes.group && extent % lanes != 0) lanes /= 2;
  return lanes;
}

int64_t RoundedUp(int64_t extent, int64_t to) {
  return (extent + to - 1) / to * to;
}

// Pads each run of contiguous steps by itself where that makes vectors of
// narrow copies: windows of an image of 3 channels are read row by row. Not
// where the products become many more, as of pixels that lie apart.
void PadRuns(const BlockInfo& info, int64_t group, MatrixAxes* axes) {
  const TileSizes sizes{.group = group};
  const size_t run = ContiguousSteps(info, *axes).size();
  if (run == 0 || LanesOfRow(info, *axes, sizes) >= sizes.steps() / 2) return;
  const MatrixAxes padded = WithOuterSteps(*axes, run);
  const int64_t steps = RoundedUp(ExtentOf(info, axes->steps), sizes.steps());
  const int64_t with_runs =
      RoundedUp(ExtentOf(info, padded.steps), sizes.steps()) *
      ExtentOf(info, padded.outer_steps);
  if (with_runs <= kMostPadding * steps) *axes = padded;
}

// What the schedules of a block have in common.
class Tiler {
 public:
  Tiler(const BlockInfo& info, const MatrixAxes& axes, int64_t group,
        const RuleContext& context)
      : info_(info),
        axes_(axes),
        context_(context),
        sizes_(SizesFor(ExtentOf(info, axes.rows), ExtentOf(info, axes.columns),
                        group)) {}

  absl::StatusOr<Schedule> RowsFirst(Schedule sch, int64_t tiles_in_strip) {
    KILN_RETURN_IF_ERROR(Begin(&sch));
    KILN_ASSIGN_OR_RETURN(const Loops loops, SplitLoops(&sch, tiles_in_strip));
    std::vector<Rv> outer = loops.batch;
    outer.push_back(loops.strips);
    KILN_ASSIGN_OR_RETURN(const Rv strip, sch.Fuse(outer));
    KILN_RETURN_IF_ERROR(Nest(&sch, loops, {strip, loops.columns, loops.rows}));
    const bool near = !axes_.row_operand.layout_free;
    if (near) KILN_RETURN_IF_ERROR(sch.ComputeAt(form_->rows, strip));
    KILN_RETURN_IF_ERROR(PackRows(&sch, near));
    KILN_RETURN_IF_ERROR(PackColumns(&sch, false));
    return sch;
  }

  // Of strips of about so many bytes.
  int64_t TilesInStrip(int64_t strip_bytes) const {
    const int64_t rows = ExtentOf(info_, axes_.rows);
    const int64_t tiles = (rows + sizes_.rows() - 1) / sizes_.rows();
    const int64_t bytes =
        sizes_.rows() * Steps() * kTileGroupBytes / sizes_.group;
    int64_t most = std::min(strip_bytes / bytes, kMostTilesInStrip);
    if (RunsInParallel(context_)) {
      most = std::min(most, tiles / context_.cores);
    }
    while (most > 1 && tiles % most != 0) --most;
    return std::max<int64_t>(most, 1);
  }

  absl::StatusOr<Schedule> ColumnsFirst(Schedule sch) {
    KILN_RETURN_IF_ERROR(Begin(&sch));
    KILN_ASSIGN_OR_RETURN(const Loops loops, SplitLoops(&sch, 1));
    KILN_RETURN_IF_ERROR(sch.Reorder({loops.columns, loops.strips}));
    std::vector<Rv> outer = loops.batch;
    outer.push_back(loops.columns);
    KILN_ASSIGN_OR_RETURN(const Rv panel, sch.Fuse(outer));
    KILN_RETURN_IF_ERROR(Nest(&sch, loops, {panel, loops.strips, loops.rows}));
    const bool near = !axes_.column_operand.layout_free;
    if (near) KILN_RETURN_IF_ERROR(sch.ComputeAt(form_->columns, panel));
    KILN_RETURN_IF_ERROR(PackRows(&sch, false));
    KILN_RETURN_IF_ERROR(PackColumns(&sch, near));
    return sch;
  }

 private:
  struct Loops {
    std::vector<Rv> batch;
    Rv strips, rows, columns;  // of tiles in registers
    std::vector<Rv> outer_steps;
    Rv steps, down, across, groups, step, row;  // as in tile_nest.h
    Rv column;
  };

  // The operands and the sums in tiles.
  absl::Status Begin(Schedule* sch) {
    const Function& f = FunctionOf(*sch, context_);
    KILN_ASSIGN_OR_RETURN(const Rv block, sch->GetBlock(info_.name, f.name));
    KILN_ASSIGN_OR_RETURN(form_, ToMatrixForm(sch, block, info_, axes_,
                                              {.rows = sizes_.rows(),
                                               .columns = sizes_.columns(),
                                               .steps = sizes_.steps()},
                                              context_));
    const size_t batch = axes_.batch.size();
    const size_t dims = batch + 2 + CountOuterSteps();
    const auto write = Schedule::Side::kWrite;
    KILN_RETURN_IF_ERROR(sch->TransformLayout(
        form_->rows, write, 0,
        Tiles(dims, batch, sizes_.rows(), sizes_.steps())));
    KILN_RETURN_IF_ERROR(sch->TransformLayout(
        form_->columns, write, 0, ColumnTiles(dims, batch, sizes_)));
    return sch->TransformLayout(block, write, 0,
                                Tiles(batch + 2, batch, kTileRows, kTileRows));
  }

  size_t CountOuterSteps() const { return axes_.outer_steps.empty() ? 0 : 1; }

  // With padding.
  int64_t Steps() const {
    return RoundedUp(ExtentOf(info_, axes_.steps), sizes_.steps()) *
           ExtentOf(info_, axes_.outer_steps);
  }

  absl::StatusOr<Loops> SplitLoops(Schedule* sch, int64_t tiles_in_strip) {
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> all, sch->GetLoops(form_->product));
    const size_t batch = axes_.batch.size();
    if (all.size() != batch + 3 + CountOuterSteps()) {
      return absl::FailedPreconditionError("loops are no axes");
    }
    Loops loops;
    loops.batch.assign(all.begin(), all.begin() + batch);
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                          sch->Split(all[batch], {Arg(), tiles_in_strip,
                                                  sizes_.down, kTileRows}));
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> columns,
        sch->Split(all[batch + 1], {Arg(), sizes_.across, kTileRows}));
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> steps,
        sch->Split(all.back(), {Arg(), kTileGroups, sizes_.group}));
    loops.strips = rows[0], loops.rows = rows[1];
    loops.down = rows[2], loops.row = rows[3];
    loops.columns = columns[0], loops.across = columns[1];
    loops.column = columns[2];
    loops.outer_steps.assign(all.begin() + batch + 2, all.end() - 1);
    loops.steps = steps[0], loops.groups = steps[1], loops.step = steps[2];
    return loops;
  }

  // The loops of the product, inside of `outer`; behind it what becomes of the
  // sums.
  absl::Status Nest(Schedule* sch, const Loops& loops, std::vector<Rv> outer) {
    std::vector<Rv> steps = loops.outer_steps;
    steps.push_back(loops.steps);
    const Rv outermost = outer.front(), innermost = outer.back();
    const size_t around = outer.size();
    outer.insert(outer.end(), steps.begin(), steps.end());
    outer.insert(outer.end(), {loops.down, loops.across, loops.groups,
                               loops.step, loops.row, loops.column});
    KILN_RETURN_IF_ERROR(sch->Reorder(outer));
    KILN_ASSIGN_OR_RETURN(const Rv all_steps, sch->Fuse(steps));
    KILN_RETURN_IF_ERROR(Parallel(sch, outermost, context_));
    KILN_RETURN_IF_ERROR(sch->Vectorize(loops.column));
    KILN_RETURN_IF_ERROR(sch->Annotate(all_steps, kTileProduct, true));
    KILN_RETURN_IF_ERROR(sch->ReverseComputeAt(form_->result, innermost));
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> copies, sch->GetLoops(form_->result));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> vectors,
                          sch->Split(copies.back(), {Arg(), kTileRows}));
    KILN_RETURN_IF_ERROR(sch->Vectorize(vectors[1]));
    KILN_ASSIGN_OR_RETURN(const Rv init,
                          sch->DecomposeReduction(form_->product, all_steps));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> zeros, sch->GetLoops(init));
    return sch->Annotate(zeros[around], kTileProduct, true);
  }

  // Vectors along the steps, whose elements may lie side by side.
  absl::Status PackRows(Schedule* sch, bool near) {
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(form_->rows));
    const int64_t lanes = LanesOfRow(info_, axes_, sizes_);
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch->Split(loops.back(), {Arg(), lanes}));
    KILN_RETURN_IF_ERROR(sch->Vectorize(parts[1]));
    if (near) return absl::OkStatus();
    if (axes_.row_operand.layout_free) {
      KILN_RETURN_IF_ERROR(
          sch->Annotate(form_->rows, kLayoutPreparation, true));
    }
    loops.pop_back();
    KILN_ASSIGN_OR_RETURN(const Rv outer, sch->Fuse(loops));
    return Parallel(sch, outer, context_);
  }

  // A vector holds a group of steps of 16 columns.
  absl::Status PackColumns(Schedule* sch, bool near) {
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(form_->columns));
    const size_t n = loops.size() - 2 - CountOuterSteps();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                          sch->Split(loops[n], {Arg(), kTileRows}));
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> steps,
        sch->Split(loops.back(), {Arg(), kTileGroups, sizes_.group}));
    std::vector<Rv> outer(loops.begin() + n + 1, loops.end() - 1);
    outer.insert(outer.end(),
                 {steps[0], columns[0], steps[1], columns[1], steps[2]});
    KILN_RETURN_IF_ERROR(sch->Reorder(outer));
    KILN_ASSIGN_OR_RETURN(const Rv lanes, sch->Fuse({columns[1], steps[2]}));
    KILN_RETURN_IF_ERROR(sch->Vectorize(lanes));
    if (near) return absl::OkStatus();
    if (axes_.column_operand.layout_free) {
      KILN_RETURN_IF_ERROR(
          sch->Annotate(form_->columns, kLayoutPreparation, true));
    }
    outer.resize(outer.size() - 4);
    outer.insert(outer.begin(), loops.begin(), loops.begin() + n);
    KILN_ASSIGN_OR_RETURN(const Rv parts, sch->Fuse(outer));
    return Parallel(sch, parts, context_);
  }

  const BlockInfo& info_;
  const MatrixAxes& axes_;
  const RuleContext& context_;
  const TileSizes sizes_;
  std::optional<MatrixForm> form_;
};

// Steps of a group; 0 where there are no instructions for what the block adds
// up.
int64_t GroupOf(const Function& f, const BlockInfo& info,
                const RuleContext& context) {
  const auto product = NarrowSumOf(NodeOf(f, info.name));
  if (!product || (product->is_float() && IsStrict(f))) return 0;
  return StepsOfTileGroup(*product, context.registers.tiles);
}

}  // namespace

std::vector<Schedule> MatrixTiles(const Schedule& sch, const std::string& block,
                                  const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init || info->has_condition) return {};
  const int64_t group = GroupOf(f, *info, context);
  auto axes = MatrixAxesOf(*info);
  if (group == 0 || !axes) return {};
  PadRuns(*info, group, &*axes);
  Tiler tiler(*info, *axes, group, context);
  std::vector<absl::StatusOr<Schedule>> designs;
  const int64_t few = tiler.TilesInStrip(kShortStrip);
  const int64_t many = tiler.TilesInStrip(context.near_bytes / 2);
  designs.push_back(tiler.RowsFirst(sch, few));
  if (many > few) designs.push_back(tiler.RowsFirst(sch, many));
  designs.push_back(tiler.ColumnsFirst(sch));
  std::vector<Schedule> made;
  for (absl::StatusOr<Schedule>& design : designs) {
    if (design.ok()) {
      made.push_back(*std::move(design));
    } else {
      context.GaveUp("", design.status());
    }
  }
  if (!made.empty()) made.push_back(sch);
  return made;
}

}  // namespace kiln
