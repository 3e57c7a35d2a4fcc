// Elements written to places that a tensor holds, over a copy of data:
//
//   R.scatter_elements(x, i, u, axis=0)   y[i[a, b], b] = u[a, b]
//   R.scatter_nd(x, i, u)                 y[i[a, 0], i[a, 1], b] = u[a, b]
//   R.index_put(x, (i, j), u)             y[i[a], j[a], b] = u[a, b]
//
// Updates are made one after the other, so that of two at one place the later
// one stays ("update"), or both count ("add", "mul", "min", "max"). Places
// count from the end where they are negative.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

absl::Status CheckSameType(const OpCall& call, size_t arg, DType a, DType b) {
  if (a.is_void() || b.is_void() || a == b) return absl::OkStatus();
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` is of ", b.ToString(),
                        " and data of ", a.ToString()));
}

// InvalidArgument where `extents` are not those that argument `arg` has to
// have, from dimension `begin` on; null: not known.
absl::Status CheckExtents(const OpCall& call, size_t arg,
                          const Extents* extents, const Extents* wanted) {
  if (!extents || !wanted) return absl::OkStatus();
  bool differ = extents->size() != wanted->size();
  for (size_t d = 0; !differ && d < wanted->size(); ++d) {
    differ = !call.AreEqual((*extents)[d], (*wanted)[d]);
  }
  if (!differ) return absl::OkStatus();
  return call.ErrorAt(arg, absl::StrCat("the shape of `", call.ArgName(arg),
                                        "` is not that of the places"));
}

// --- How an update meets what is there.

using Combine = Expr (*)(const Expr& old, const Expr& update);

absl::StatusOr<Combine> Reduction(const OpCall& call) {
  std::string name = "update";
  if (!call.IsNone("reduction")) {
    KILN_ASSIGN_OR_RETURN(name, call.String("reduction"));
  }
  if (name == "add")
    return Combine{[](const Expr& a, const Expr& b) { return Add(a, b); }};
  if (name == "mul")
    return Combine{[](const Expr& a, const Expr& b) { return Mul(a, b); }};
  if (name == "min")
    return Combine{[](const Expr& a, const Expr& b) { return Min(a, b); }};
  if (name == "max")
    return Combine{[](const Expr& a, const Expr& b) { return Max(a, b); }};
  if (name == "update") {
    return Combine{[](const Expr&, const Expr& b) { return b; }};
  }
  return absl::UnimplementedError(absl::StrCat("no reduction: ", name));
}

using PlaceFn = FunctionRef<Extents(const Extents&)>;
using ValueFn = FunctionRef<Expr(const Extents&)>;

// A copy of the first input, and for each index over `updates` in order: the
// element at place(index) combined with value(index).
Lowered Scattered(const Inputs& in, const Extents& updates, Combine combine,
                  PlaceFn place, ValueFn value) {
  NestBuilder builder(in);
  const te::Tensor& x = in[0];
  const Buffer out = builder.Output(x.shape(), x.dtype(), "out");
  builder.Fill(out, [&](const Extents& i) { return x(i); });
  builder.Nest("scatter", LoopsOver(updates, IterType::kOpaque),
               [&](const Extents& i) {
                 const Extents at = place(i);
                 return MakeStore(out, combine(Load(out, at), value(i)), at);
               });
  return Lowered(builder.Finish());
}

// --- scatter_elements.

absl::StatusOr<StructInfo> InferScatterElements(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* places, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* updates, call.Tensor(2));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *places));
  KILN_RETURN_IF_ERROR(CheckSameType(call, 2, x->dtype, updates->dtype));
  KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  int rank = x->rank;
  for (const TensorInfo* other : {places, updates}) {
    if (rank == graph::kUnknownRank) rank = other->rank;
    if (rank == graph::kUnknownRank) continue;
    KILN_RETURN_IF_ERROR(
        CheckRank(call, other == places ? 1 : 2, *other, rank));
  }
  KILN_RETURN_IF_ERROR(
      CheckExtents(call, 2, KnownExtents(*updates), KnownExtents(*places)));
  return call.info(0);
}

absl::StatusOr<Lowered> LowerScatterElements(const OpCall& call,
                                             const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", rank));
  KILN_ASSIGN_OR_RETURN(const Combine combine, Reduction(call));
  const auto place = [&](const Extents& i) {
    Extents at = i;
    at[axis] = FromFront(in[1](i), in[0].shape()[axis]);
    return at;
  };
  return Scattered(in, in[2].shape(), combine, place,
                   [&](const Extents& i) { return in[2](i); });
}

// --- scatter_nd.

// The shape of the updates: one for each place, and what a place leaves of x.
std::optional<Extents> UpdateShape(const Extents& x, const Extents& places) {
  const int64_t* named = AsInt(places.back());
  if (!named) return std::nullopt;
  Extents shape(places.begin(), places.end() - 1);
  shape.insert(shape.end(), x.begin() + *named, x.end());
  return shape;
}

absl::StatusOr<StructInfo> InferScatterNd(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* places, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* updates, call.Tensor(2));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *places));
  KILN_RETURN_IF_ERROR(CheckSameType(call, 2, x->dtype, updates->dtype));
  if (places->rank == 0) return call.ErrorAt(1, "a scalar is no place");
  const Extents* of_x = KnownExtents(*x);
  const Extents* of_places = KnownExtents(*places);
  if (!of_places) return call.info(0);
  const int64_t* named = AsInt(of_places->back());
  if (named && x->rank != graph::kUnknownRank &&
      (*named > x->rank || *named < 0)) {
    return call.ErrorAt(
        1, absl::StrCat("places of ", *named, " numbers do not fit the ",
                        x->rank, " dimensions of data"));
  }
  if (!of_x) return call.info(0);
  const std::optional<Extents> wanted = UpdateShape(*of_x, *of_places);
  KILN_RETURN_IF_ERROR(CheckExtents(call, 2, KnownExtents(*updates),
                                    wanted ? &*wanted : nullptr));
  return call.info(0);
}

absl::StatusOr<Lowered> LowerScatterNd(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Combine combine, Reduction(call));
  const int64_t* named = AsInt(in[1].shape().back());
  if (!named) return absl::UnimplementedError("places of unknown length");
  const auto outer = static_cast<int64_t>(in[1].shape().size()) - 1;
  const auto place = [&](const Extents& i) {
    Extents at;
    for (int64_t k = 0; k < *named; ++k) {
      Extents number(i.begin(), i.begin() + outer);
      number.push_back(Int(k));
      at.push_back(FromFront(in[1](number), in[0].shape()[k]));
    }
    at.insert(at.end(), i.begin() + outer, i.end());
    return at;
  };
  return Scattered(in, in[2].shape(), combine, place,
                   [&](const Extents& i) { return in[2](i); });
}

// --- index_put.

absl::StatusOr<StructInfo> InferIndexPut(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* values, call.Tensor(2));
  KILN_RETURN_IF_ERROR(CheckSameType(call, 2, x->dtype, values->dtype));
  std::vector<const TensorInfo*> places;
  if (const auto* one = call.info(1).As<TensorInfo>()) {
    places.push_back(one);
  } else {
    KILN_ASSIGN_OR_RETURN(places, call.Tensors(1));
  }
  if (places.empty()) return call.ErrorAt(1, "there are no indices");
  for (const TensorInfo* place : places) {
    KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, *place));
  }
  if (x->rank == graph::kUnknownRank ||
      static_cast<int>(places.size()) <= x->rank) {
    return call.info(0);
  }
  return call.ErrorAt(1, absl::StrCat(places.size(),
                                      " indices are more than "
                                      "the ",
                                      x->rank, " dimensions of data"));
}

absl::StatusOr<Lowered> LowerIndexPut(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const bool adds, call.Bool("accumulate"));
  const te::Tensor& x = in[0];
  const Inputs places(in.begin() + 1, in.end() - 1);
  const Extents common = BroadcastExtents(places);
  Extents updates = common;
  const auto outer = static_cast<int64_t>(updates.size());
  updates.insert(updates.end(),
                 x.shape().begin() + static_cast<int64_t>(places.size()),
                 x.shape().end());
  if (in.back().shape().size() > updates.size()) {
    return absl::UnimplementedError("values of more dimensions than places");
  }
  const auto place = [&](const Extents& i) {
    Extents at;
    const Extents own(i.begin(), i.begin() + outer);
    for (size_t k = 0; k < places.size(); ++k) {
      const Expr at_k = ElementAt(places[k], common, own);
      at.push_back(FromFront(at_k, x.shape()[k]));
    }
    at.insert(at.end(), i.begin() + outer, i.end());
    return at;
  };
  const Combine combine =
      adds ? Combine{[](const Expr& a, const Expr& b) { return Add(a, b); }}
           : Combine{[](const Expr&, const Expr& b) { return b; }};
  return Scattered(in, updates, combine, place, [&](const Extents& i) {
    return ElementAt(in.back(), updates, i);
  });
}

constexpr OpRow kRows[] = {
    {"index_put", InferIndexPut, LowerIndexPut},
    {"scatter_elements", InferScatterElements, LowerScatterElements},
    {"scatter_nd", InferScatterNd, LowerScatterNd},
};

}  // namespace

absl::Span<const OpRow> ScatterOps() { return kRows; }

}  // namespace kiln
