// Where the largest or the smallest element is, the first of equal ones:
//
//   R.argmax(x, axis=1)    y[i] = the k whose x[i, k] is largest
//   R.argmax(x)            the same of all elements, in row-major order
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

constexpr int kAllAxes = -1;

struct Search {
  int axis = kAllAxes;
  bool keeps = false;
};

absl::StatusOr<Search> SearchOf(const OpCall& call, int rank) {
  Search search;
  KILN_ASSIGN_OR_RETURN(search.keeps, call.Bool("keepdims"));
  if (call.IsNone("axis")) return search;
  KILN_ASSIGN_OR_RETURN(search.axis, call.Axis("axis", rank));
  return search;
}

// What stays of `extents`, or of an index: `one` stands where the search went.
Extents Kept(const Search& search, const Extents& extents, const Expr& one) {
  Extents shape;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool is_searched =
        search.axis == kAllAxes || search.axis == static_cast<int>(d);
    if (!is_searched) shape.push_back(extents[d]);
    if (is_searched && search.keeps) shape.push_back(one);
  }
  return shape;
}

absl::StatusOr<StructInfo> InferSearch(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  const DType dtype = DType::Int(64);
  KILN_ASSIGN_OR_RETURN(const Search search, SearchOf(call, x->rank));
  const bool is_ranked = x->rank != graph::kUnknownRank;
  if (!is_ranked && (!call.IsNone("axis") || search.keeps)) {
    return graph::TensorOfRank(x->rank, dtype, x->device);
  }
  const Extents unknown(is_ranked ? x->rank : 0);
  Extents shape = Kept(search, x->extents() ? *x->extents() : unknown, Int(1));
  for (const Expr& extent : shape) {
    if (extent) continue;
    return graph::TensorOfRank(static_cast<int>(shape.size()), dtype,
                               x->device);
  }
  return graph::Tensor(std::move(shape), dtype, x->device);
}

// Whether `a` at place i comes before `b` at place k.
Expr IsBetter(bool wants_largest, const Expr& a, const Expr& i, const Expr& b,
              const Expr& k) {
  const Expr wins = wants_largest ? LT(b, a) : LT(a, b);
  return Or(wins, And(EQ(a, b), LT(i, k)));
}

std::vector<NestLoop> LoopsOf(const Search& search, const Extents& extents) {
  std::vector<NestLoop> loops = LoopsOver(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (search.axis == kAllAxes || search.axis == static_cast<int>(d)) {
      loops[d].type = IterType::kReduce;
    }
  }
  return loops;
}

template <bool wants_largest>
absl::StatusOr<Lowered> LowerSearch(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  const Extents& extents = x.shape();
  KILN_ASSIGN_OR_RETURN(const Search search,
                        SearchOf(call, static_cast<int>(extents.size())));
  NestBuilder builder(in);
  const Buffer out =
      builder.Output(Kept(search, extents, Int(1)), DType::Int(64), "out");
  const auto place = [&](const Extents& i) { return Kept(search, i, Int(0)); };
  builder.Reduce(
      wants_largest ? "argmax" : "argmin", LoopsOf(search, extents),
      [&](const Extents& i) { return MakeStore(out, Int(0), place(i)); },
      [&](const Extents& i) {
        const Expr best = Load(out, place(i));
        Extents of_best = i;
        if (search.axis == kAllAxes) of_best = IndexOfFlat(extents, best);
        if (search.axis != kAllAxes) of_best[search.axis] = best;
        const Expr here =
            search.axis == kAllAxes ? FlatIndex(extents, i) : i[search.axis];
        const Expr wins = IsBetter(wants_largest, x(i), here, x(of_best), best);
        return MakeStore(out, Select(wins, here, best), place(i));
      });
  return Lowered(builder.Finish());
}

constexpr OpRow kRows[] = {
    {"argmax", InferSearch, LowerSearch<true>},
    {"argmin", InferSearch, LowerSearch<false>},
};

}  // namespace

absl::Span<const OpRow> SearchOps() { return kRows; }

}  // namespace kiln
