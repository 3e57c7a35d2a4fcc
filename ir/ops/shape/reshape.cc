// The same elements in the same order under other extents:
//
//   R.reshape(x, (m, 6))       y[i, j] = x[f // 3, f % 3], f = i * 6 + j
//   R.reshape(x, (-1, 6))      -1: what the number of elements leaves
//   R.flatten(x)               y[f] = x[f // 3, f % 3]
//   R.expand_dims(x, [0])      y[0, i] = x[i]
//   R.squeeze(y)               x[i] = y[0, i]
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

// --- reshape, flatten, batch_flatten.

// The extent that stands for -1 among `extents`, of `count` elements in all.
absl::StatusOr<Extents> Completed(const OpCall& call, Extents extents,
                                  const Expr& count) {
  const auto open = std::find_if(extents.begin(), extents.end(),
                                 [](const Expr& e) { return IsConst(e, -1); });
  if (open == extents.end()) return extents;
  *open = Int(1);
  const Expr others = Product(extents);
  const auto is_open = [](const Expr& e) { return IsConst(e, -1); };
  if (std::any_of(extents.begin(), extents.end(), is_open) || IsZero(others)) {
    return call.ErrorAt(1, "the extent of -1 is not determined");
  }
  *open = call.analyzer().Simplify(FloorDiv(count, others));
  return extents;
}

bool HasOpenExtent(const Extents& extents) {
  return std::any_of(extents.begin(), extents.end(),
                     [](const Expr& e) { return IsConst(e, -1); });
}

absl::Status CheckExtents(const OpCall& call, const Extents& extents) {
  for (const Expr& extent : extents) {
    const int64_t* known = AsInt(extent);
    if (known && *known < 0) {
      return call.ErrorAt(1,
                          absl::StrCat("the extent ", *known, " is negative"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferReshape(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* wanted, call.Shape(1));
  if (!wanted->values) return TensorOfShapeArg(call, 1, x->dtype, x->device);
  Extents shape = *wanted->values;
  const Extents* extents = KnownExtents(*x);
  if (!extents) {
    if (HasOpenExtent(shape)) return Like(*x, wanted->rank);
    KILN_RETURN_IF_ERROR(CheckExtents(call, shape));
    return Like(*x, std::move(shape));
  }
  const Expr count = Product(*extents);
  KILN_ASSIGN_OR_RETURN(shape, Completed(call, std::move(shape), count));
  KILN_RETURN_IF_ERROR(CheckExtents(call, shape));
  if (call.AreEqual(count, Product(shape))) {
    return Like(*x, std::move(shape));
  }
  return call.ErrorAt(1, "the shape is one of another number of elements");
}

absl::StatusOr<StructInfo> InferFlatten(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->rank == 1) return call.info(0);
  if (x->rank == 0) return Like(*x, Extents{Int(1)});
  if (!x->extents()) return Like(*x, 1);
  return Like(*x, Extents{Product(*x->extents())});
}

absl::StatusOr<StructInfo> InferBatchFlatten(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->rank == 2) return call.info(0);
  if (x->rank == 0) return call.ErrorAt(0, "a scalar has no batch");
  if (!x->extents()) return Like(*x, 2);
  const Extents& shape = *x->extents();
  return Like(*x, Extents{shape[0], Product({shape.begin() + 1, shape.end()})});
}

// Extents that are not 1, by dimension.
std::vector<size_t> WideDims(const Extents& shape) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!IsOne(shape[d])) dims.push_back(d);
  }
  return dims;
}

// Where the shapes differ in extents of 1 only, the index of x that an index
// of the result is.
std::optional<Extents> Moved(const OpCall& call, const Extents& from,
                             const Extents& to, const Extents& index) {
  const std::vector<size_t> in = WideDims(from), out = WideDims(to);
  if (in.size() != out.size()) return std::nullopt;
  Extents moved(from.size(), Int(0));
  for (size_t k = 0; k < in.size(); ++k) {
    if (!call.analyzer().CanProveEqual(from[in[k]], to[out[k]])) {
      return std::nullopt;
    }
    moved[in[k]] = index[out[k]];
  }
  return moved;
}

template <InferFn infer>
absl::StatusOr<Lowered> LowerReshape(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, infer(call));
  const Extents* shape = info.As<graph::TensorInfo>()->extents();
  if (!shape) return absl::UnimplementedError("extents are not known");
  const Extents& from = in[0].shape();
  return Lowered(te::Compute(
      *shape,
      [&](const Extents& i) -> te::Value {
        if (auto moved = Moved(call, from, *shape, i)) return in[0](*moved);
        return in[0](IndexOfFlat(from, FlatIndex(*shape, i)));
      },
      "reshape"));
}

// --- expand_dims, squeeze.

absl::StatusOr<StructInfo> InferExpand(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, call.Ints("axis"));
  if (axes.empty()) return call.info(0);
  if (x->rank == graph::kUnknownRank) return Like(*x, x->rank);
  const int rank = x->rank + static_cast<int>(axes.size());
  KILN_ASSIGN_OR_RETURN(const auto added, call.Axes("axis", rank));
  if (!x->extents()) return Like(*x, rank);
  Extents shape(rank);
  for (const int axis : *added) shape[axis] = Int(1);
  size_t next = 0;
  for (Expr& extent : shape) {
    if (!extent) extent = (*x->extents())[next++];
  }
  return Like(*x, std::move(shape));
}

absl::StatusOr<Lowered> LowerExpand(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferExpand(call));
  const int rank = info.As<graph::TensorInfo>()->rank;
  KILN_ASSIGN_OR_RETURN(const auto added, call.Axes("axis", rank));
  return Lowered(te::Compute(
      *info.As<graph::TensorInfo>()->extents(),
      [&](const Extents& i) -> te::Value {
        Extents index;
        for (int d = 0; d < rank; ++d) {
          if (!std::count(added->begin(), added->end(), d)) {
            index.push_back(i[d]);
          }
        }
        return in[0](std::move(index));
      },
      "expand_dims"));
}

// Which dimensions go: of those that `axis` names all but known extents other
// than 1, else the known extents of 1. nullopt: it is not known which.
absl::StatusOr<std::optional<std::vector<bool>>> Squeezed(
    const OpCall& call, const graph::TensorInfo& x) {
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axis", x.rank));
  if (x.rank == graph::kUnknownRank) return std::optional<std::vector<bool>>();
  const Extents* extents = KnownExtents(x);
  std::vector<bool> goes(x.rank, !axes);
  if (axes) {
    for (const int axis : *axes) goes[axis] = true;
  } else if (!extents) {
    return std::optional<std::vector<bool>>();
  }
  for (int d = 0; extents && d < x.rank; ++d) {
    const bool is_known = AsInt((*extents)[d]) != nullptr;
    if (!axes && !is_known) return std::optional<std::vector<bool>>();
    goes[d] = goes[d] && (!is_known || IsOne((*extents)[d]));
  }
  return std::optional<std::vector<bool>>(std::move(goes));
}

absl::StatusOr<StructInfo> InferSqueeze(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto goes, Squeezed(call, *x));
  if (!goes) return Like(*x, graph::kUnknownRank);
  if (!std::count(goes->begin(), goes->end(), true)) return call.info(0);
  const auto rank =
      static_cast<int>(std::count(goes->begin(), goes->end(), false));
  if (!x->extents()) return Like(*x, rank);
  Extents shape;
  for (int d = 0; d < x->rank; ++d) {
    if (!(*goes)[d]) shape.push_back((*x->extents())[d]);
  }
  return Like(*x, std::move(shape));
}

absl::StatusOr<Lowered> LowerSqueeze(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto goes, Squeezed(call, *x));
  if (!goes)
    return absl::UnimplementedError("it is not known which extents go");
  Extents shape;
  for (int d = 0; d < x->rank; ++d) {
    if (!(*goes)[d]) shape.push_back(in[0].shape()[d]);
  }
  return Lowered(te::Compute(
      std::move(shape),
      [&](const Extents& i) -> te::Value {
        Extents index;
        size_t next = 0;
        for (const bool is_gone : *goes) {
          index.push_back(is_gone ? Int(0) : i[next++]);
        }
        return in[0](std::move(index));
      },
      "squeeze"));
}

constexpr OpRow kRows[] = {
    {"expand_dims", InferExpand, LowerExpand},
    {"flatten", InferFlatten, LowerReshape<InferFlatten>},
    {"nn.batch_flatten", InferBatchFlatten, LowerReshape<InferBatchFlatten>},
    {"reshape", InferReshape, LowerReshape<InferReshape>},
    {"squeeze", InferSqueeze, LowerSqueeze},
};

}  // namespace

absl::Span<const OpRow> ReshapeOps() { return kRows; }

}  // namespace kiln
