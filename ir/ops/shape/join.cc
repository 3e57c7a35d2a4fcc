// Tensors put together and taken apart:
//
//   R.concat((x, y), axis=0)       z[i] = x[i] where i < n, else y[i - n]
//   R.stack((x, y), axis=0)        z[0, i] = x[i], z[1, i] = y[i]
//   R.split(z, [3, 7], axis=0)     z[0:3], z[3:7], z[7:]
//   R.meshgrid((x, y))             a[i, j] = x[i], b[i, j] = y[j]
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;
using Infos = std::vector<const TensorInfo*>;

// What tensors that stand beside each other have in common.
struct Common {
  DType dtype = DType::Void();
  int rank = graph::kUnknownRank;
  std::string device;
};

absl::StatusOr<Common> CommonOf(const OpCall& call, const Infos& tensors) {
  if (tensors.empty()) return call.ErrorAt(0, "there are no tensors");
  Common common;
  bool is_typed = true;
  for (const TensorInfo* x : tensors) {
    if (common.device.empty()) common.device = x->device;
    if (common.rank == graph::kUnknownRank) common.rank = x->rank;
    if (x->rank != graph::kUnknownRank && x->rank != common.rank) {
      return call.ErrorAt(0, absl::StrCat("tensors of ", common.rank, " and ",
                                          x->rank, " dimensions do not meet"));
    }
    is_typed = is_typed && !x->dtype.is_void();
    if (x->dtype.is_void()) continue;
    if (!common.dtype.is_void() && x->dtype != common.dtype) {
      return call.ErrorAt(
          0, absl::StrCat("the types differ, ", common.dtype.ToString(),
                          " and ", x->dtype.ToString()));
    }
    common.dtype = x->dtype;
  }
  if (!is_typed) common.dtype = DType::Void();
  return common;
}

StructInfo OfCommon(const Common& common, int rank) {
  return graph::TensorOfRank(rank, common.dtype, common.device);
}

// Whether all extents but that of `axis` (-1: all) are known to be equal, or
// are compared ahead of the call.
absl::StatusOr<bool> HaveEqualExtents(const OpCall& call, const Infos& tensors,
                                      int axis) {
  bool are_equal = true;
  const Extents* first = nullptr;
  for (const TensorInfo* x : tensors) {
    const Extents* extents = KnownExtents(*x);
    are_equal = are_equal && extents;
    if (!extents) continue;
    if (!first) first = extents;
    for (int d = 0; d < static_cast<int>(extents->size()); ++d) {
      if (d == axis) continue;
      if (!call.AreEqual((*first)[d], (*extents)[d])) {
        return call.ErrorAt(0, absl::StrCat("extents of dimension ", d,
                                            " differ, ", PrintExpr((*first)[d]),
                                            " and ", PrintExpr((*extents)[d])));
      }
      are_equal = are_equal &&
                  (call.has_checks() ||
                   call.analyzer().CanProveEqual((*first)[d], (*extents)[d]));
    }
  }
  return are_equal;
}

// --- concat.

// Without an axis only vectors are put together.
absl::StatusOr<int> ConcatAxis(const OpCall& call, int rank) {
  if (!call.IsNone("axis")) return call.Axis("axis", rank);
  if (rank == 1 || rank == graph::kUnknownRank) return 0;
  return call.ErrorAt(
      0, absl::StrCat("tensors of ", rank, " dimensions need an axis"));
}

absl::StatusOr<StructInfo> InferConcat(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Infos tensors, call.Tensors(0));
  KILN_ASSIGN_OR_RETURN(const Common common, CommonOf(call, tensors));
  KILN_ASSIGN_OR_RETURN(const int axis, ConcatAxis(call, common.rank));
  if (tensors.size() == 1) return StructInfo(tensors[0]);
  KILN_ASSIGN_OR_RETURN(const bool are_equal,
                        HaveEqualExtents(call, tensors, axis));
  if (!are_equal) return OfCommon(common, common.rank);
  Extents shape = *KnownExtents(*tensors[0]);
  for (size_t k = 1; k < tensors.size(); ++k) {
    shape[axis] = Add(shape[axis], (*KnownExtents(*tensors[k]))[axis]);
  }
  return graph::Tensor(std::move(shape), common.dtype, common.device);
}

absl::StatusOr<Lowered> LowerConcat(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, ConcatAxis(call, rank));
  Extents shape = in[0].shape();
  Extents begins = {Int(0)};
  for (size_t k = 1; k < in.size(); ++k) {
    begins.push_back(shape[axis]);
    shape[axis] = Add(shape[axis], in[k].shape()[axis]);
  }
  return Lowered(te::Compute(
      std::move(shape),
      [&](const Extents& i) -> te::Value {
        Expr value = in[0](i);
        for (size_t k = 1; k < in.size(); ++k) {
          Extents index = i;
          index[axis] = Sub(i[axis], begins[k]);
          value = IfThenElse(LE(begins[k], i[axis]), in[k](index), value);
        }
        return value;
      },
      "concat"));
}

// --- stack.

absl::StatusOr<int> StackAxis(const OpCall& call, int rank) {
  int64_t axis = 0;
  if (!call.IsNone("axis")) {
    KILN_ASSIGN_OR_RETURN(axis, call.Int("axis"));
  }
  if (rank == graph::kUnknownRank) return 0;
  return call.NormalAxis(axis, rank + 1);
}

absl::StatusOr<StructInfo> InferStack(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Infos tensors, call.Tensors(0));
  KILN_ASSIGN_OR_RETURN(const Common common, CommonOf(call, tensors));
  KILN_ASSIGN_OR_RETURN(const int axis, StackAxis(call, common.rank));
  if (common.rank == graph::kUnknownRank) return OfCommon(common, common.rank);
  KILN_ASSIGN_OR_RETURN(const bool are_equal,
                        HaveEqualExtents(call, tensors, -1));
  if (!are_equal) return OfCommon(common, common.rank + 1);
  Extents shape = *KnownExtents(*tensors[0]);
  shape.insert(shape.begin() + axis, Int(static_cast<int64_t>(tensors.size())));
  return graph::Tensor(std::move(shape), common.dtype, common.device);
}

absl::StatusOr<Lowered> LowerStack(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, StackAxis(call, rank));
  Extents shape = in[0].shape();
  shape.insert(shape.begin() + axis, Int(static_cast<int64_t>(in.size())));
  return Lowered(te::Compute(
      std::move(shape),
      [&](Extents i) -> te::Value {
        const Expr which = i[axis];
        i.erase(i.begin() + axis);
        Expr value = in[0](i);
        for (size_t k = 1; k < in.size(); ++k) {
          value = IfThenElse(EQ(which, Int(static_cast<int64_t>(k))), in[k](i),
                             value);
        }
        return value;
      },
      "stack"));
}

// --- split.

struct Part {
  Expr begin, extent;
};

// More parts than this are a mistake.
constexpr int64_t kMostParts = 1 << 16;

// The places at which a list cuts; those outside of the extent count as its
// ends, and a part that would end before it begins has no elements.
std::vector<Part> PartsAt(const std::vector<int64_t>& cuts,
                          const Expr& extent) {
  std::vector<Part> parts;
  const int64_t* size = AsInt(extent);
  const int64_t most = size ? *size : INT64_MAX;
  int64_t begin = 0;
  for (const int64_t cut : cuts) {
    const int64_t end = std::clamp<int64_t>(cut, 0, most);
    parts.push_back({Int(begin), Int(std::max<int64_t>(end - begin, 0))});
    begin = end;
  }
  parts.push_back(
      {Int(begin), size ? Int(*size - begin) : Plus(extent, -begin)});
  return parts;
}

// `count` parts of one size, the last of what is left.
std::vector<Part> EqualParts(int64_t count, int64_t extent) {
  const int64_t size = extent / count + (extent % count > 0);
  std::vector<Part> parts;
  int64_t begin = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t own = std::min(size, extent - begin);
    parts.push_back({Int(begin), Int(own)});
    begin += own;
  }
  return parts;
}

std::vector<Part> EqualParts(int64_t count, const Expr& extent) {
  if (count == 1) return {{Int(0), extent}};
  if (const int64_t* known = AsInt(extent)) return EqualParts(count, *known);
  const Expr size = FloorDiv(Plus(extent, count - 1), Int(count));
  std::vector<Part> parts = {{Int(0), size}};
  for (int64_t k = 1; k < count; ++k) {
    const Expr begin = k == 1 ? size : Mul(size, Int(k));
    parts.push_back({begin, k + 1 < count ? size : Sub(extent, begin)});
  }
  return parts;
}

struct Split {
  std::vector<int64_t> cuts;
  int64_t count;  // of parts
  bool is_even;   // into parts of one size
};

absl::StatusOr<Split> SplitOf(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> cuts,
                        call.Ints("indices_or_sections"));
  if (call.attr("indices_or_sections").list()) {
    const auto count = static_cast<int64_t>(cuts.size()) + 1;
    return Split{std::move(cuts), count, false};
  }
  const int64_t count = cuts[0];
  if (count > 0 && count <= kMostParts) return Split{{}, count, true};
  return call.Error(absl::StrCat("into ", count, " parts nothing is split"));
}

std::vector<Part> PartsOf(const Split& split, const Expr& extent) {
  return split.is_even ? EqualParts(split.count, extent)
                       : PartsAt(split.cuts, extent);
}

absl::StatusOr<StructInfo> InferSplit(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const Split split, SplitOf(call));
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  std::vector<StructInfo> parts(split.count, Like(*x, x->rank));
  if (x->extents()) {
    Extents shape = *x->extents();
    const std::vector<Part> cut = PartsOf(split, shape[axis]);
    for (size_t k = 0; k < parts.size(); ++k) {
      shape[axis] = cut[k].extent;
      parts[k] = Like(*x, shape);
    }
  }
  return parts.size() == 1 ? parts[0] : graph::Tuple(std::move(parts));
}

absl::StatusOr<Lowered> LowerSplit(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Split split, SplitOf(call));
  Extents shape = in[0].shape();
  KILN_ASSIGN_OR_RETURN(const int axis,
                        call.Axis("axis", static_cast<int>(shape.size())));
  std::vector<te::Tensor> outputs;
  for (const Part& part : PartsOf(split, in[0].shape()[axis])) {
    shape[axis] = part.extent;
    outputs.push_back(te::Compute(
        shape,
        [&](Extents i) -> te::Value {
          if (!IsZero(part.begin)) i[axis] = Add(i[axis], part.begin);
          return in[0](std::move(i));
        },
        "split"));
  }
  return Lowered(std::move(outputs));
}

// --- meshgrid.

// The dimension of the results that counts along argument k: with "xy" the
// first two change places.
absl::StatusOr<std::vector<int>> GridDims(const OpCall& call, size_t count) {
  std::vector<int> dims(count);
  for (size_t k = 0; k < count; ++k) dims[k] = static_cast<int>(k);
  std::string indexing = "ij";
  if (!call.IsNone("indexing")) {
    KILN_ASSIGN_OR_RETURN(indexing, call.String("indexing"));
  }
  if (indexing != "ij" && indexing != "xy") {
    return call.Error("`indexing` is \"ij\" or \"xy\"");
  }
  if (indexing == "xy" && count > 1) std::swap(dims[0], dims[1]);
  return dims;
}

absl::StatusOr<StructInfo> InferMeshgrid(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Infos tensors, call.Tensors(0));
  KILN_ASSIGN_OR_RETURN(const Common common, CommonOf(call, tensors));
  KILN_ASSIGN_OR_RETURN(const std::vector<int> dims,
                        GridDims(call, tensors.size()));
  Extents shape(tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    KILN_RETURN_IF_ERROR(CheckKnownRank(call, 0, *tensors[k], 1));
    const Extents* extents = tensors[k]->extents();
    if (extents) shape[dims[k]] = extents->front();
  }
  const bool is_known = std::all_of(shape.begin(), shape.end(),
                                    [](const Expr& e) { return bool{e}; });
  const StructInfo grid =
      is_known ? graph::Tensor(shape, common.dtype, common.device)
               : OfCommon(common, static_cast<int>(shape.size()));
  return graph::Tuple(std::vector<StructInfo>(tensors.size(), grid));
}

absl::StatusOr<Lowered> LowerMeshgrid(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int> dims, GridDims(call, in.size()));
  Extents shape(in.size());
  for (size_t k = 0; k < in.size(); ++k) shape[dims[k]] = in[k].shape()[0];
  std::vector<te::Tensor> outputs;
  for (size_t k = 0; k < in.size(); ++k) {
    outputs.push_back(te::Compute(
        shape, [&](const Extents& i) -> te::Value { return in[k](i[dims[k]]); },
        "meshgrid"));
  }
  return Lowered(std::move(outputs));
}

constexpr OpRow kRows[] = {
    {"concat", InferConcat, LowerConcat},
    {"meshgrid", InferMeshgrid, LowerMeshgrid},
    {"split", InferSplit, LowerSplit},
    {"stack", InferStack, LowerStack},
};

}  // namespace

absl::Span<const OpRow> JoinOps() { return kRows; }

}  // namespace kiln
