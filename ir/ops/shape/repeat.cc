// Elements again, or from the end:
//
//   R.repeat(x, 2, axis=0)      y[i] = x[i // 2]
//   R.tile(x, [2, 3])           y[i, j] = x[i % n, j % m], n, m those of x
//   R.flip(x, axis=0)           y[i] = x[n - 1 - i]
//   R.reverse_sequence(x, s)    y[b, i] = x[b, s[b] - 1 - i] where i < s[b]
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

Expr Times(const Expr& extent, int64_t count) {
  if (count == 1) return extent;
  return IsOne(extent) ? Int(count) : Mul(extent, Int(count));
}

// --- repeat.

absl::StatusOr<int64_t> Repeats(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int64_t repeats, call.Int("repeats"));
  if (repeats >= 0) return repeats;
  return call.Error("`repeats` is negative");
}

absl::StatusOr<StructInfo> InferRepeat(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t repeats, Repeats(call));
  if (call.IsNone("axis")) {
    if (!x->extents()) return Like(*x, 1);
    return Like(*x, Extents{Times(Product(*x->extents()), repeats)});
  }
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  if (!x->extents()) return Like(*x, x->rank);
  Extents shape = *x->extents();
  shape[axis] = Times(shape[axis], repeats);
  return Like(*x, std::move(shape));
}

te::Tensor Flat(const te::Tensor& x) {
  return te::Compute(
      {Product(x.shape())},
      [&](const Extents& i) -> te::Value {
        return x(IndexOfFlat(x.shape(), i[0]));
      },
      "T_reshape");
}

absl::StatusOr<Lowered> LowerRepeat(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferRepeat(call));
  KILN_ASSIGN_OR_RETURN(const int64_t repeats, Repeats(call));
  const Extents& from = in[0].shape();
  const bool is_flat = call.IsNone("axis");
  int axis = 0;
  if (!is_flat) {
    KILN_ASSIGN_OR_RETURN(axis,
                          call.Axis("axis", static_cast<int>(from.size())));
  }
  const Expr count = Int(std::max<int64_t>(repeats, 1));
  const te::Tensor x = is_flat ? Flat(in[0]) : in[0];
  return Lowered(te::Compute(
      *info.As<graph::TensorInfo>()->extents(),
      [&](Extents i) -> te::Value {
        i[axis] = FloorDiv(i[axis], count);
        return x(i);
      },
      "T_repeat"));
}

// --- tile.

absl::StatusOr<std::vector<int64_t>> Tiles(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> repeats, call.Ints("repeats"));
  for (const int64_t count : repeats) {
    if (count < 0) return call.Error("`repeats` has a negative number");
  }
  return repeats;
}

absl::StatusOr<StructInfo> InferTile(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, Tiles(call));
  if (x->rank == graph::kUnknownRank) return Like(*x, x->rank);
  const int rank = std::max(x->rank, static_cast<int>(repeats.size()));
  if (!x->extents()) return Like(*x, rank);
  Extents shape(rank, Int(1));
  std::copy(x->extents()->begin(), x->extents()->end(), shape.end() - x->rank);
  for (size_t back = 1; back <= repeats.size(); ++back) {
    Expr& extent = shape[rank - back];
    extent = Times(extent, repeats[repeats.size() - back]);
  }
  return Like(*x, std::move(shape));
}

absl::StatusOr<Lowered> LowerTile(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferTile(call));
  const Extents& shape = *info.As<graph::TensorInfo>()->extents();
  const Extents& from = in[0].shape();
  const size_t added = shape.size() - from.size();
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents index;
        for (size_t d = 0; d < from.size(); ++d) {
          const bool is_whole =
              call.analyzer().CanProveEqual(shape[added + d], from[d]);
          index.push_back(is_whole ? i[added + d]
                                   : FloorMod(i[added + d], from[d]));
        }
        return in[0](std::move(index));
      },
      "tile"));
}

// --- flip, reverse_sequence.

absl::StatusOr<StructInfo> InferFlip(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  return call.info(0);
}

absl::StatusOr<Lowered> LowerFlip(const OpCall& call, const Inputs& in) {
  const Extents& shape = in[0].shape();
  KILN_ASSIGN_OR_RETURN(const int axis,
                        call.Axis("axis", static_cast<int>(shape.size())));
  return Lowered(te::Compute(
      shape,
      [&](Extents i) -> te::Value {
        i[axis] = Sub(Plus(shape[axis], -1), i[axis]);
        return in[0](std::move(i));
      },
      "flip"));
}

absl::StatusOr<StructInfo> InferReverse(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* lengths, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *lengths));
  KILN_RETURN_IF_ERROR(CheckRank(call, 1, *lengths, 1));
  KILN_RETURN_IF_ERROR(call.Axis("seq_axis", x->rank).status());
  KILN_ASSIGN_OR_RETURN(const int batch, call.Axis("batch_axis", x->rank));
  const Extents* of_x = KnownExtents(*x);
  const Extents* of_lengths = KnownExtents(*lengths);
  if (of_x && of_lengths &&
      !call.AreEqual((*of_x)[batch], of_lengths->front())) {
    return call.ErrorAt(1, "there is not one length for each batch");
  }
  return call.info(0);
}

absl::StatusOr<Lowered> LowerReverse(const OpCall& call, const Inputs& in) {
  const Extents& shape = in[0].shape();
  const int rank = static_cast<int>(shape.size());
  KILN_ASSIGN_OR_RETURN(const int sequence, call.Axis("seq_axis", rank));
  KILN_ASSIGN_OR_RETURN(const int batch, call.Axis("batch_axis", rank));
  return Lowered(te::Compute(
      shape,
      [&](Extents i) -> te::Value {
        const Expr length = Cast(DType::Index(), in[1](i[batch]));
        const Expr at = i[sequence], extent = shape[sequence];
        const Expr stays = Or(LE(length, Int(1)), LE(length, at));
        const Expr back =
            IfThenElse(LT(extent, length), Sub(Plus(extent, -1), at),
                       Sub(Sub(length, at), Int(1)));
        i[sequence] = IfThenElse(stays, at, back);
        return in[0](std::move(i));
      },
      "T_reverse_sequence"));
}

constexpr OpRow kRows[] = {
    {"flip", InferFlip, LowerFlip},
    {"repeat", InferRepeat, LowerRepeat},
    {"reverse_sequence", InferReverse, LowerReverse},
    {"tile", InferTile, LowerTile},
};

}  // namespace

absl::Span<const OpRow> RepeatOps() { return kRows; }

}  // namespace kiln
