// Elements in order:
//
//   R.sort(x, axis=1)              rows of x, smallest first
//   R.argsort(x, axis=1)           where these stand in x
//   R.topk(x, k=3, axis=1)         the largest three of each row, and where
//   R.median(x, axis=[1])          the middle one of each row, and where
//
// All of them sort places (ir/ops/order/sorted.h) and read x at these.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/ops/order/sorted.h"
#include "kiln/ir/ops/order/top.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

int RankOf(const te::Tensor& x) { return static_cast<int>(x.shape().size()); }

// The element of x at the place that `places` has at i.
Expr ElementAtPlace(const te::Tensor& x, const Buffer& places, Extents i,
                    int axis) {
  i[axis] = Load(places, i);
  return x(std::move(i));
}

// --- sort, argsort.

absl::StatusOr<StructInfo> InferSort(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  return call.info(0);
}

absl::StatusOr<StructInfo> InferArgsort(const OpCall& call) {
  KILN_RETURN_IF_ERROR(InferSort(call).status());
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return WithType(*x, dtype.is_void() ? DType::Int(32) : dtype);
}

template <bool wants_places>
absl::StatusOr<Lowered> LowerSort(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", RankOf(x)));
  KILN_ASSIGN_OR_RETURN(const bool is_descending, call.Bool("descending"));
  DType dtype = x.dtype();
  if (wants_places) {
    KILN_ASSIGN_OR_RETURN(const StructInfo info, InferArgsort(call));
    dtype = info.As<TensorInfo>()->dtype;
  }
  NestBuilder builder(in);
  const Buffer out = builder.Output(x.shape(), dtype, "out");
  const Buffer places = AddSortedPlaces(x, axis, is_descending, builder);
  builder.Fill(out, [&](const Extents& i) {
    return wants_places ? Cast(dtype, Load(places, i))
                        : ElementAtPlace(x, places, i, axis);
  });
  return Lowered(builder.Finish());
}

// --- topk.

struct TopK {
  int64_t k = 1;  // less than 1: all
  int axis = 0;
  bool has_values = true, has_places = true;
  bool largest = true;
  DType dtype = DType::Int(32);  // of the places
};

absl::StatusOr<TopK> TopKOf(const OpCall& call, int rank) {
  TopK top;
  KILN_ASSIGN_OR_RETURN(top.k, call.Int("k"));
  KILN_ASSIGN_OR_RETURN(top.axis, call.Axis("axis", rank));
  KILN_ASSIGN_OR_RETURN(top.largest, call.Bool("largest"));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  if (!dtype.is_void()) top.dtype = dtype;
  KILN_ASSIGN_OR_RETURN(const std::string which, call.String("ret_type"));
  if (which != "both" && which != "values" && which != "indices") {
    return call.Error("`ret_type` is both, values or indices");
  }
  top.has_values = which != "indices";
  top.has_places = which != "values";
  return top;
}

absl::StatusOr<Extents> TopShape(const OpCall& call, const TopK& top,
                                 Extents shape) {
  if (top.k < 1) return shape;
  const int64_t* known = AsInt(shape[top.axis]);
  if (known && *known < top.k) {
    return call.ErrorAt(
        0, absl::StrCat("of ", *known, " elements there are no ", top.k,
                        " largest"));
  }
  shape[top.axis] = Int(top.k);
  return shape;
}

absl::StatusOr<StructInfo> InferTopK(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TopK top, TopKOf(call, x->rank));
  StructInfo values = Like(*x, x->rank);
  if (x->extents()) {
    KILN_ASSIGN_OR_RETURN(Extents shape, TopShape(call, top, *x->extents()));
    values = Like(*x, std::move(shape));
  }
  const StructInfo places = WithType(*values.As<TensorInfo>(), top.dtype);
  if (top.has_values && top.has_places) return graph::Tuple({values, places});
  return top.has_values ? values : places;
}

absl::StatusOr<Lowered> LowerTopK(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  KILN_ASSIGN_OR_RETURN(const TopK top, TopKOf(call, RankOf(x)));
  KILN_ASSIGN_OR_RETURN(const Extents shape, TopShape(call, top, x.shape()));
  NestBuilder builder(in);
  Buffer values, of_places;
  if (top.has_values) values = builder.Output(shape, x.dtype(), "values");
  if (top.has_places) of_places = builder.Output(shape, top.dtype, "indices");
  const Buffer places =
      top.k > 0 && IsFewOf(top.k, x.shape()[top.axis])
          ? AddTopPlaces(x, top.axis, top.k, top.largest, builder)
          : AddSortedPlaces(x, top.axis, top.largest, builder);
  if (values) {
    const Expr& n = x.shape()[top.axis];
    builder.Fill(values, [&](const Extents& i) {
      const Expr element = ElementAtPlace(x, places, i, top.axis);
      if (AsInt(n)) return element;
      return IfThenElse(LT(Load(places, i), n), element,
                        LastInOrder(x.dtype(), top.largest));
    });
  }
  if (of_places) {
    builder.Fill(of_places, [&](const Extents& i) {
      return Cast(top.dtype, Load(places, i));
    });
  }
  return Lowered(builder.Finish());
}

// --- median: of an even number of elements the smaller of the middle two.

struct Median {
  std::vector<int> axes;
  bool is_flat = false;  // of all elements
  bool keeps = false;
  bool Goes(size_t d) const {
    return is_flat ||
           std::count(axes.begin(), axes.end(), static_cast<int>(d)) > 0;
  }
  // Places are those on one axis.
  bool has_places() const { return !is_flat && axes.size() == 1; }
};

absl::StatusOr<Median> MedianOf(const OpCall& call, int rank) {
  Median median;
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axis", rank));
  KILN_ASSIGN_OR_RETURN(median.keeps, call.Bool("keepdims"));
  median.is_flat = !axes;
  if (axes) median.axes = *axes;
  return median;
}

// `one` stands where an axis went.
Extents WithoutAxes(const Median& median, const Extents& all, const Expr& one) {
  Extents kept;
  for (size_t d = 0; d < all.size(); ++d) {
    if (!median.Goes(d)) kept.push_back(all[d]);
    if (median.Goes(d) && median.keeps) kept.push_back(one);
  }
  return kept;
}

absl::StatusOr<StructInfo> InferMedian(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const Median median, MedianOf(call, x->rank));
  const bool is_ranked = x->rank != graph::kUnknownRank;
  StructInfo values = Like(*x, graph::kUnknownRank);
  if (is_ranked || (median.is_flat && !median.keeps)) {
    const Extents unknown(is_ranked ? x->rank : 0);
    Extents shape =
        WithoutAxes(median, x->extents() ? *x->extents() : unknown, Int(1));
    const bool is_known = std::all_of(shape.begin(), shape.end(),
                                      [](const Expr& e) { return bool{e}; });
    values = is_known ? Like(*x, std::move(shape))
                      : Like(*x, static_cast<int>(shape.size()));
  }
  if (!median.has_places()) return values;
  return graph::Tuple(
      {values, WithType(*values.As<TensorInfo>(), DType::Int(64))});
}

Expr Middle(const Expr& count) { return FloorDiv(Plus(count, -1), Int(2)); }

// The medians over several axes: what each goes over is put in a row.
Lowered MedianOfRows(const te::Tensor& x, const Median& median,
                     const Extents& shape) {
  Extents rows, reduced;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    (median.Goes(d) ? reduced : rows).push_back(x.shape()[d]);
  }
  const int last = static_cast<int>(rows.size());
  const Expr count = Product(reduced);
  rows.push_back(count);
  NestBuilder builder({x});
  const Buffer out = builder.Output(shape, x.dtype(), "out");
  const Buffer row = builder.Temporary(rows, x.dtype(), "row");
  builder.Fill(row, [&](const Extents& i) {
    const Extents inner = IndexOfFlat(reduced, i.back());
    Extents at;
    size_t kept = 0, gone = 0;
    for (size_t d = 0; d < x.shape().size(); ++d) {
      at.push_back(median.Goes(d) ? inner[gone++] : i[kept++]);
    }
    return x(std::move(at));
  });
  const Buffer places = AddSortedPlaces(te::Tensor(row), last,
                                        /*is_descending=*/false, builder);
  builder.Fill(out, [&](const Extents& i) {
    Extents at;
    for (size_t d = 0; d < i.size(); ++d) {
      if (!median.keeps || !median.Goes(d)) at.push_back(i[d]);
    }
    at.push_back(Middle(count));
    at.back() = Load(places, at);
    return Load(row, at);
  });
  return Lowered(builder.Finish());
}

absl::StatusOr<Lowered> LowerMedian(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  KILN_ASSIGN_OR_RETURN(const Median median, MedianOf(call, RankOf(x)));
  const Extents shape = WithoutAxes(median, x.shape(), Int(1));
  if (!median.has_places()) return MedianOfRows(x, median, shape);
  const int axis = median.axes[0];
  NestBuilder builder(in);
  const Buffer values = builder.Output(shape, x.dtype(), "values");
  const Buffer of_places = builder.Output(shape, DType::Int(64), "indices");
  const Buffer places = AddSortedPlaces(x, axis, false, builder);
  const auto middle = [&](Extents i) {
    if (!median.keeps) i.insert(i.begin() + axis, Int(0));
    i[axis] = Middle(x.shape()[axis]);
    return i;
  };
  builder.Fill(values, [&](const Extents& i) {
    return ElementAtPlace(x, places, middle(i), axis);
  });
  builder.Fill(of_places,
               [&](const Extents& i) { return Load(places, middle(i)); });
  return Lowered(builder.Finish());
}

constexpr OpRow kRows[] = {
    {"argsort", InferArgsort, LowerSort<true>},
    {"median", InferMedian, LowerMedian},
    {"sort", InferSort, LowerSort<false>},
    {"topk", InferTopK, LowerTopK},
};

}  // namespace

absl::Span<const OpRow> OrderOps() { return kRows; }

}  // namespace kiln
