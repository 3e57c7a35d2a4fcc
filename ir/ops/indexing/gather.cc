// Elements at places that a tensor holds:
//
//   R.take(x, i, axis=1)              y[a, b, c] = x[a, i[b, c]]
//   R.gather_elements(x, i, axis=0)   y[a, b] = x[i[a, b], b]
//   R.gather_nd(x, i)                 y[a, b] = x[i[a, 0], i[a, 1], b]
//   R.index_tensor(x, (i, j))         y[a, b] = x[i[a], j[a], b]
//
// Places count from the end where they are negative, in gather_elements and
// index_tensor; those of `take` outside of x are nearest ends ("clip"), wrap
// round, or are NaN or 0.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

Expr AsIndex(const Expr& place) { return Cast(DType::Index(), place); }

// --- take.

// The places: a tensor, or one number, which counts as one without dimensions.
absl::StatusOr<StructInfo> PlacesInfo(const OpCall& call) {
  const auto* number =
      call.Has(1) ? call.info(1).As<graph::PrimInfo>() : nullptr;
  if (number) return graph::Tensor({}, number->dtype);
  KILN_RETURN_IF_ERROR(call.Tensor(1).status());
  return call.info(1);
}

// Without an axis x is a vector.
absl::StatusOr<int> TakenAxis(const OpCall& call, const TensorInfo& x) {
  if (!call.IsNone("axis")) return call.Axis("axis", x.rank);
  KILN_RETURN_IF_ERROR(CheckRank(call, 0, x, 1));
  return 0;
}

absl::StatusOr<StructInfo> InferTake(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const StructInfo of_places, PlacesInfo(call));
  const auto* places = of_places.As<TensorInfo>();
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *places));
  KILN_ASSIGN_OR_RETURN(const int axis, TakenAxis(call, *x));
  if (x->rank == graph::kUnknownRank || places->rank == graph::kUnknownRank) {
    return Like(*x, graph::kUnknownRank);
  }
  if (!x->extents() || !places->extents()) {
    return Like(*x, x->rank + places->rank - 1);
  }
  Extents shape = *x->extents();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, places->extents()->begin(),
               places->extents()->end());
  return Like(*x, std::move(shape));
}

absl::StatusOr<std::string> TakeMode(const OpCall& call) {
  if (call.IsNone("mode")) return std::string("fast");
  KILN_ASSIGN_OR_RETURN(std::string mode, call.String("mode"));
  if (mode == "fast" || mode == "wrap" || mode == "clip" || mode == "nan") {
    return mode;
  }
  return call.Error("`mode` is fast, clip, wrap or nan");
}

// The element of x at `index`, whose place on `axis` may be outside.
Expr Taken(const te::Tensor& x, Extents index, int axis,
           const std::string& mode) {
  const Expr extent = x.shape()[axis];
  const Expr place = index[axis];
  if (mode == "wrap") index[axis] = FloorMod(place, extent);
  if (mode == "clip") {
    index[axis] = Max(Min(place, Plus(extent, -1)), Int(0));
  }
  if (mode != "nan") return x(std::move(index));
  const DType dtype = x.dtype();
  const Expr zero = Constant(0, dtype);
  const Expr outside =
      dtype.is_float() ? Binary(ExprKind::kDiv, zero, zero) : zero;
  return IfThenElse(And(LE(Int(0), place), LT(place, extent)),
                    x(std::move(index)), outside);
}

absl::StatusOr<Lowered> LowerTake(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferTake(call));
  KILN_ASSIGN_OR_RETURN(const StructInfo of_places, PlacesInfo(call));
  KILN_ASSIGN_OR_RETURN(const int axis,
                        TakenAxis(call, *call.info(0).As<TensorInfo>()));
  KILN_ASSIGN_OR_RETURN(const std::string mode, TakeMode(call));
  Expr number;
  if (call.info(1).As<graph::PrimInfo>()) {
    KILN_ASSIGN_OR_RETURN(number, call.Number(1));
    if (!number) return absl::UnimplementedError("the place is not known");
  }
  const int count = of_places.As<TensorInfo>()->rank;
  return Lowered(te::Compute(
      *info.As<TensorInfo>()->extents(),
      [&](Extents i) -> te::Value {
        const auto begin = i.begin() + axis;
        const Expr place =
            number ? number : in[1](Extents(begin, begin + count));
        i.erase(begin, begin + count);
        i.insert(i.begin() + axis, AsIndex(place));
        return Taken(in[0], std::move(i), axis, mode);
      },
      "take"));
}

// --- gather_elements.

absl::StatusOr<StructInfo> InferGatherElements(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* places, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *places));
  KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  if (x->rank == graph::kUnknownRank || places->rank == graph::kUnknownRank) {
    return Like(*x, graph::kUnknownRank);
  }
  KILN_RETURN_IF_ERROR(CheckRank(call, 1, *places, x->rank));
  return StructInfo(
      new TensorInfo(places->shape, places->rank, x->dtype, x->device));
}

absl::StatusOr<Lowered> LowerGatherElements(const OpCall& call,
                                            const Inputs& in) {
  const Extents& shape = in[1].shape();
  KILN_ASSIGN_OR_RETURN(const int axis,
                        call.Axis("axis", static_cast<int>(shape.size())));
  return Lowered(te::Compute(
      shape,
      [&](Extents i) -> te::Value {
        i[axis] = FromFront(in[1](i), in[0].shape()[axis]);
        return in[0](std::move(i));
      },
      "gather_elements"));
}

// --- gather_nd.

// The last extent of the places says how many dimensions of x each names; -1
// where it is not known.
absl::StatusOr<int> NamedDims(const OpCall& call, const TensorInfo& x,
                              const TensorInfo& places, int64_t batch) {
  if (batch < 0 || (x.rank != graph::kUnknownRank && batch >= x.rank) ||
      (places.rank != graph::kUnknownRank && batch >= places.rank)) {
    return call.Error("`batch_dims` has to be less than both ranks");
  }
  const Extents* extents = KnownExtents(places);
  const int64_t* count = extents ? AsInt(extents->back()) : nullptr;
  if (!count) return -1;
  if (*count < 0) return call.ErrorAt(1, "an extent is negative");
  if (x.rank != graph::kUnknownRank && *count > x.rank - batch) {
    return call.ErrorAt(
        1, absl::StrCat("places of ", *count, " numbers do not fit the ",
                        x.rank - batch, " dimensions of data"));
  }
  return static_cast<int>(std::min<int64_t>(*count, INT32_MAX / 2));
}

absl::StatusOr<StructInfo> InferGatherNd(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* places, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *places));
  KILN_ASSIGN_OR_RETURN(const int64_t batch, call.Int("batch_dims"));
  KILN_ASSIGN_OR_RETURN(const int named, NamedDims(call, *x, *places, batch));
  if (x->rank == graph::kUnknownRank || places->rank == graph::kUnknownRank ||
      named < 0) {
    return Like(*x, graph::kUnknownRank);
  }
  const Extents* of_x = x->extents();
  const Extents* of_places = places->extents();
  const int begin = static_cast<int>(batch) + named;
  if (!of_x || !of_places) return Like(*x, places->rank - 1 + x->rank - begin);
  Extents shape(of_places->begin(), of_places->end() - 1);
  shape.insert(shape.end(), of_x->begin() + begin, of_x->end());
  return Like(*x, std::move(shape));
}

absl::StatusOr<Lowered> LowerGatherNd(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferGatherNd(call));
  KILN_ASSIGN_OR_RETURN(const int64_t batch, call.Int("batch_dims"));
  const Extents* shape = info.As<TensorInfo>()->extents();
  if (!shape) return absl::UnimplementedError("extents are not known");
  const int64_t named = *AsInt(in[1].shape().back());
  const size_t outer = in[1].shape().size() - 1;
  return Lowered(te::Compute(
      *shape,
      [&](const Extents& i) -> te::Value {
        Extents index(i.begin(), i.begin() + batch);
        for (int64_t k = 0; k < named; ++k) {
          Extents at(i.begin(), i.begin() + static_cast<int64_t>(outer));
          at.push_back(Int(k));
          index.push_back(AsIndex(in[1](std::move(at))));
        }
        index.insert(index.end(), i.begin() + static_cast<int64_t>(outer),
                     i.end());
        return in[0](std::move(index));
      },
      "gather_nd"));
}

// --- index_tensor.

// The places' common shape; nullopt where it is not known.
absl::StatusOr<std::optional<Extents>> Met(
    const OpCall& call, const std::vector<const TensorInfo*>& places) {
  Extents shape;
  bool is_known = true;
  for (const TensorInfo* place : places) {
    const Extents* extents = place->extents();
    is_known = is_known && extents;
    if (!extents) continue;
    if (extents->size() > shape.size()) {
      shape.insert(shape.begin(), extents->size() - shape.size(), Int(1));
    }
    for (size_t back = 1; back <= extents->size(); ++back) {
      Expr& a = shape[shape.size() - back];
      const Expr& b = (*extents)[extents->size() - back];
      if (IsOne(b) || call.analyzer().CanProveEqual(a, b)) continue;
      if (!IsOne(a) && AsInt(a) && AsInt(b)) {
        return call.ErrorAt(1, "the extents of the indices do not meet");
      }
      is_known = is_known && IsOne(a);
      a = b;
    }
  }
  if (!is_known) return std::optional<Extents>();
  return std::optional<Extents>(std::move(shape));
}

absl::StatusOr<StructInfo> InferIndexTensor(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto places, call.Tensors(1));
  if (places.empty()) return call.ErrorAt(1, "there are no indices");
  int rank = 0;
  for (const TensorInfo* place : places) {
    KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *place));
    const bool is_known =
        rank != graph::kUnknownRank && place->rank != graph::kUnknownRank;
    rank = is_known ? std::max(rank, place->rank) : graph::kUnknownRank;
  }
  const int named = static_cast<int>(places.size());
  if (x->rank != graph::kUnknownRank && named > x->rank) {
    return call.ErrorAt(1, absl::StrCat(named, " indices are more than the ",
                                        x->rank, " dimensions of data"));
  }
  KILN_ASSIGN_OR_RETURN(std::optional<Extents> shape, Met(call, places));
  if (rank == graph::kUnknownRank || x->rank == graph::kUnknownRank) {
    return Like(*x, graph::kUnknownRank);
  }
  if (!shape || !x->extents()) return Like(*x, rank + x->rank - named);
  shape->insert(shape->end(), x->extents()->begin() + named,
                x->extents()->end());
  return Like(*x, *std::move(shape));
}

absl::StatusOr<Lowered> LowerIndexTensor(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferIndexTensor(call));
  const Extents& shape = *info.As<TensorInfo>()->extents();
  const te::Tensor& x = in[0];
  const size_t named = in.size() - 1;
  const size_t outer = shape.size() - (x.shape().size() - named);
  const Extents places(shape.begin(),
                       shape.begin() + static_cast<int64_t>(outer));
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const auto split = i.begin() + static_cast<int64_t>(outer);
        const Extents own(i.begin(), split);
        Extents index;
        for (size_t k = 0; k < named; ++k) {
          const Expr place = ElementAt(in[k + 1], places, own);
          index.push_back(FromFront(place, x.shape()[k]));
        }
        index.insert(index.end(), split, i.end());
        return x(std::move(index));
      },
      "index_tensor"));
}

constexpr OpRow kRows[] = {
    {"gather_elements", InferGatherElements, LowerGatherElements},
    {"gather_nd", InferGatherNd, LowerGatherNd},
    {"index_tensor", InferIndexTensor, LowerIndexTensor},
    {"take", InferTake, LowerTake},
};

}  // namespace

absl::Span<const OpRow> GatherOps() { return kRows; }

}  // namespace kiln
