// Every step-th element from begin to end:
//
//   R.strided_slice(x, (0,), (1,), (n,), (2,))   y[i] = x[1 + 2 * i]
//   R.slice_scatter(x, y, 1, n, 2)               x with y in these places
//
// Places count from the end where they are negative, and those outside of the
// tensor count as its ends, unless `assume_inbound` says that there are none.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

enum class Sign : uint8_t { kForward, kBackward, kEither };

// The places of one axis, as they are given.
struct Slice {
  Expr begin, end, step;
  bool is_inbound = false;
  Sign sign = Sign::kForward;
};

struct Places {
  Expr begin, count;
};

// --- From places as given to those in [0, extent], going forward, or in
// [-1, extent - 1], going backward.
class Placer {
 public:
  Placer(Analyzer& analyzer, Expr extent, bool is_inbound)
      : analyzer_(analyzer),
        extent_(std::move(extent)),
        assumption_(analyzer.Assume(LE(Int(0), extent_))),
        is_inbound_(is_inbound) {}

  Places Forward(const Slice& slice);
  Places Backward(const Slice& slice);

 private:
  Expr FromFront(const Expr& place);
  Expr AtLeast(const Expr& place, int64_t least);
  Expr AtMost(const Expr& place, const Expr& most);
  Expr NotNegative(const Expr& count);

  Analyzer& analyzer_;
  Expr extent_;
  Analyzer::Assumption assumption_;
  bool is_inbound_;
};

Expr Placer::FromFront(const Expr& place) {
  if (const int64_t* known = AsInt(place)) {
    return *known < 0 ? Plus(extent_, *known) : place;
  }
  if (is_inbound_ || analyzer_.CanProveLessEqual(Int(0), place)) return place;
  return ::kiln::FromFront(place, extent_);
}

Expr Placer::AtLeast(const Expr& place, int64_t least) {
  if (is_inbound_ || analyzer_.CanProveLessEqual(Int(least), place)) {
    return place;
  }
  return Max(place, Int(least));
}

Expr Placer::AtMost(const Expr& place, const Expr& most) {
  if (is_inbound_ || analyzer_.CanProveLessEqual(place, most)) return place;
  const int64_t* known = AsInt(place);
  if (known && *known >= INT64_MAX / 2) return most;
  return Min(place, most);
}

Expr Placer::NotNegative(const Expr& count) {
  return is_inbound_ && !AsInt(count) ? count : AtLeast(count, 0);
}

// ceil((end - begin) / step) for a positive step.
Expr Count(const Expr& begin, const Expr& end, const Expr& step) {
  const int64_t* from = AsInt(begin);
  const int64_t* to = AsInt(end);
  const int64_t* by = AsInt(step);
  int64_t distance;
  if (from && to && FoldInt(ExprKind::kSub, *to, *from, &distance)) {
    if (by) return Int(distance / *by + (distance > 0 && distance % *by != 0));
    return FloorDiv(Plus(step, distance - 1), step);
  }
  const Expr last = by ? Plus(end, *by - 1) : Plus(Add(end, step), -1);
  const Expr span =
      from && *from > INT64_MIN ? Plus(last, -*from) : Sub(last, begin);
  return IsOne(step) ? span : FloorDiv(span, step);
}

Places Placer::Forward(const Slice& slice) {
  const Expr from = AtLeast(FromFront(slice.begin), 0);
  const Expr begin = AtMost(from, extent_);
  const Expr end = AtMost(AtLeast(FromFront(slice.end), 0), extent_);
  const int64_t* first = AsInt(slice.begin);
  const int64_t* last = AsInt(slice.end);
  // Clamping keeps the order.
  const bool is_ordered = IsZero(begin) || (first && last && *first <= *last &&
                                            (*first < 0) == (*last < 0));
  if (is_ordered) return {begin, Count(begin, end, slice.step)};
  // To the end: a begin behind it counts as it.
  const bool is_rest = analyzer_.CanProveEqual(end, extent_);
  return {begin, NotNegative(Count(is_rest ? from : begin, end, slice.step))};
}

Places Placer::Backward(const Slice& slice) {
  const Expr top = Plus(extent_, -1);
  const Expr begin = AtMost(AtLeast(FromFront(slice.begin), -1), top);
  const Expr end = AtMost(AtLeast(FromFront(slice.end), -1), top);
  const int64_t* step = AsInt(slice.step);
  if (step) return {begin, NotNegative(Count(end, begin, Int(-*step)))};
  const Expr back = Sub(Int(0), slice.step);
  const Expr span = Plus(Sub(begin, end), -1);
  return {begin, Plus(FloorDiv(span, back), 1)};
}

Places PlacesOf(Analyzer& analyzer, const Slice& slice, const Expr& extent) {
  Placer placer(analyzer, extent, slice.is_inbound);
  if (slice.sign == Sign::kForward) return placer.Forward(slice);
  if (slice.sign == Sign::kBackward) return placer.Backward(slice);
  const Places forward = placer.Forward(slice);
  const Places backward = placer.Backward(slice);
  const Expr is_back = LT(slice.step, Int(0));
  const bool is_same = analyzer.CanProveEqual(forward.begin, backward.begin);
  return {is_same ? forward.begin
                  : IfThenElse(is_back, backward.begin, forward.begin),
          IfThenElse(is_back, backward.count, forward.count)};
}

// --- strided_slice.

// The numbers of a tuple or shape.
absl::StatusOr<Extents> Numbers(const OpCall& call, size_t arg) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(arg));
  if (shape->values) return *shape->values;
  return call.ErrorAt(arg, absl::StrCat("the numbers of `", call.ArgName(arg),
                                        "` are not known"));
}

absl::StatusOr<Slice> SliceOf(const OpCall& call, Expr begin, Expr end,
                              Expr step, bool is_inbound) {
  Slice slice{std::move(begin), std::move(end), std::move(step), is_inbound};
  const int64_t* by = AsInt(slice.step);
  if (by && (*by == 0 || *by == INT64_MIN)) {
    return call.Error(absl::StrCat("a step of ", *by, " leads nowhere"));
  }
  if (by && *by < 0) slice.sign = Sign::kBackward;
  if (!by && !is_inbound &&
      !call.analyzer().CanProveLessEqual(Int(0), slice.step)) {
    slice.sign = Sign::kEither;
  }
  return slice;
}

// The slice of each axis of x; null begin where all of it stays.
absl::StatusOr<std::vector<Slice>> Slices(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const Extents axes, Numbers(call, 1));
  KILN_ASSIGN_OR_RETURN(const Extents begins, Numbers(call, 2));
  KILN_ASSIGN_OR_RETURN(const Extents ends, Numbers(call, 3));
  Extents steps(axes.size(), Int(1));
  if (call.Has(4)) {
    KILN_ASSIGN_OR_RETURN(steps, Numbers(call, 4));
  }
  if (begins.size() != axes.size() || ends.size() != axes.size() ||
      steps.size() != axes.size()) {
    return call.Error("there is not one begin, end and step for each axis");
  }
  KILN_ASSIGN_OR_RETURN(const bool is_inbound, call.Bool("assume_inbound"));
  std::vector<Slice> slices(rank);
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t* axis = AsInt(axes[k]);
    if (!axis) return call.ErrorAt(1, "an axis has to be a constant");
    KILN_ASSIGN_OR_RETURN(const int d, call.NormalAxis(*axis, rank));
    if (slices[d].begin) {
      return call.ErrorAt(1, absl::StrCat("axis ", d, " stands twice"));
    }
    KILN_ASSIGN_OR_RETURN(
        slices[d], SliceOf(call, begins[k], ends[k], steps[k], is_inbound));
  }
  return slices;
}

absl::StatusOr<StructInfo> InferStridedSlice(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  for (size_t arg = 1; arg < std::min<size_t>(call.size(), 5); ++arg) {
    KILN_RETURN_IF_ERROR(Numbers(call, arg).status());
  }
  if (x->rank == graph::kUnknownRank) return Like(*x, x->rank);
  KILN_ASSIGN_OR_RETURN(const std::vector<Slice> slices, Slices(call, x->rank));
  if (!x->extents()) return Like(*x, x->rank);
  Extents shape = *x->extents();
  for (int d = 0; d < x->rank; ++d) {
    if (!slices[d].begin) continue;
    shape[d] = PlacesOf(call.analyzer(), slices[d], shape[d]).count;
  }
  return Like(*x, std::move(shape));
}

absl::StatusOr<Lowered> LowerStridedSlice(const OpCall& call,
                                          const Inputs& in) {
  Extents shape = in[0].shape();
  KILN_ASSIGN_OR_RETURN(const std::vector<Slice> slices,
                        Slices(call, static_cast<int>(shape.size())));
  Extents begins(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!slices[d].begin) continue;
    const Places places = PlacesOf(call.analyzer(), slices[d], shape[d]);
    begins[d] = places.begin;
    shape[d] = places.count;
  }
  return Lowered(te::Compute(
      std::move(shape),
      [&](Extents i) -> te::Value {
        for (size_t d = 0; d < i.size(); ++d) {
          if (!begins[d]) continue;
          const Expr& step = slices[d].step;
          if (!IsOne(step)) i[d] = Mul(i[d], step);
          if (!IsZero(begins[d])) i[d] = Add(i[d], begins[d]);
        }
        return in[0](std::move(i));
      },
      "strided_slice"));
}

// --- slice_scatter.

absl::StatusOr<Slice> ScatteredSlice(const OpCall& call) {
  Expr places[3];
  for (size_t k = 0; k < 3; ++k) {
    KILN_ASSIGN_OR_RETURN(places[k], call.Number(2 + k));
    if (!places[k] || !places[k].dtype().is_integral()) {
      return call.ErrorAt(2 + k, "a place has to be a known integer");
    }
    places[k] = Cast(DType::Index(), places[k]);
  }
  const int64_t* step = AsInt(places[2]);
  if (step && *step < 1) return call.ErrorAt(4, "the step has to be positive");
  return Slice{places[0], places[1], places[2]};
}

absl::Status CheckSource(const OpCall& call, const graph::TensorInfo& x,
                         const graph::TensorInfo& source, int axis) {
  const Extents* into = KnownExtents(x);
  const Extents* from = KnownExtents(source);
  if (!into || !from) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const Slice slice, ScatteredSlice(call));
  for (int d = 0; d < x.rank; ++d) {
    Expr wanted = (*into)[d];
    if (d == axis) wanted = PlacesOf(call.analyzer(), slice, wanted).count;
    if (call.AreEqual((*from)[d], wanted)) continue;
    return call.ErrorAt(1, absl::StrCat("extent ", d,
                                        " is not that of the places that it "
                                        "is written to"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferSliceScatter(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* source, call.Tensor(1));
  KILN_RETURN_IF_ERROR(ScatteredSlice(call).status());
  if (!x->dtype.is_void() && !source->dtype.is_void() &&
      x->dtype != source->dtype) {
    return call.ErrorAt(1, "the types of `input` and `src` differ");
  }
  if (x->rank == graph::kUnknownRank) return call.info(0);
  KILN_RETURN_IF_ERROR(CheckRank(call, 1, *source, x->rank));
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  KILN_RETURN_IF_ERROR(CheckSource(call, *x, *source, axis));
  return call.info(0);
}

absl::StatusOr<Lowered> LowerSliceScatter(const OpCall& call,
                                          const Inputs& in) {
  const Extents& shape = in[0].shape();
  KILN_ASSIGN_OR_RETURN(const int axis,
                        call.Axis("axis", static_cast<int>(shape.size())));
  KILN_ASSIGN_OR_RETURN(const Slice slice, ScatteredSlice(call));
  const Places places = PlacesOf(call.analyzer(), slice, shape[axis]);
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents from = i;
        const Expr distance = Sub(i[axis], places.begin);
        from[axis] = FloorDiv(distance, slice.step);
        const Expr is_inside =
            And(LE(Int(0), distance), LT(from[axis], places.count));
        const Expr is_hit = EQ(FloorMod(distance, slice.step), Int(0));
        return IfThenElse(
            IsOne(slice.step) ? is_inside : And(is_inside, is_hit), in[1](from),
            in[0](i));
      },
      "slice_scatter"));
}

constexpr OpRow kRows[] = {
    {"slice_scatter", InferSliceScatter, LowerSliceScatter},
    {"strided_slice", InferStridedSlice, LowerStridedSlice},
};

}  // namespace

absl::Span<const OpRow> SliceOps() { return kRows; }

}  // namespace kiln
