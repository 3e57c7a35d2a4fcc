// What a tensor is like, as numbers:
//
//   x: R.Tensor((n, 4, 3), "float16")
//   R.inspect.tensor_shape_i(x, 0)      n, an int64
//   R.inspect.tensor_stride_i(x, 0)     12, an int64, in elements
//   R.inspect.tensor_ndim(x)            3, an int32
//   R.inspect.tensor_dtype_code(x)      2, as DLPack counts
//
// Tensors lie dense and from their first byte on (a view is a tensor of its
// own), so that strides follow from extents and offsets are 0: a call becomes a
// number. Where only the rank is known the extents are read off first:
//
//   s = R.shape_of(x)
//   _ = R.match_cast(s, R.Shape([d0, d1]))      the stride of 0 is d1
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/program/program.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;

// Of the struct that describes a tensor to other libraries.
struct Fields {
  static constexpr DType kExtent = DType::Index();
  static constexpr DType kOffset = DType::UInt(64);
  static constexpr DType kRank = DType::Int(32);
  static constexpr DType kCode = DType::UInt(8);
  static constexpr DType kBits = DType::UInt(8);
  static constexpr DType kLanes = DType::UInt(16);
};

template <const DType& dtype>
absl::StatusOr<StructInfo> InferField(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return graph::Prim(dtype);
}

// The dimension that is asked about; -1 where it is not known yet.
absl::StatusOr<int> DimensionOf(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::Scalar number, call.Number(1));
  const auto* prim = call.info(1).As<graph::PrimInfo>();
  if (prim && !prim->dtype.is_int()) {
    return call.ErrorAt(1, "an axis is an integer");
  }
  const int64_t* axis = number ? AsInt(number) : nullptr;
  if (!axis) return -1;
  if (*axis < 0) return call.ErrorAt(1, "an axis is not negative here");
  const bool is_open = x->rank == graph::kUnknownRank;
  if (is_open ? *axis > INT32_MAX : *axis >= x->rank) {
    return call.ErrorAt(1,
                        absl::StrCat("axis ", *axis, " is outside of the ",
                                     is_open ? "" : absl::StrCat(x->rank, " "),
                                     "dimensions of `tensor`"));
  }
  return static_cast<int>(*axis);
}

absl::StatusOr<StructInfo> InferOfAxis(const OpCall& call) {
  KILN_RETURN_IF_ERROR(DimensionOf(call).status());
  return graph::Prim(Fields::kExtent);
}

// `read` of the extents of the tensor, which are read off it if need be.
template <typename Read>
absl::StatusOr<graph::Expr> FromExtents(const OpCall& call, const Read& read) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (const Extents* extents = x->extents()) {
    return graph::Number(read(*extents));
  }
  if (x->rank == graph::kUnknownRank) {
    return absl::UnimplementedError("an unknown rank");
  }
  Extents extents;
  for (int d = 0; d < x->rank; ++d) {
    extents.push_back(Var(absl::StrCat("d", d)));
  }
  const graph::Expr result = graph::Number(read(extents));
  const graph::Var shape("shape"), known("extents");
  std::vector<graph::Binding> bindings = {
      {shape, graph::CallOp("shape_of", {call.arg(0)})},
      {known, graph::Expr(new graph::MatchCastNode(
                  shape, graph::Shape(std::move(extents))))}};
  return graph::Seq({{false, std::move(bindings)}}, result);
}

absl::StatusOr<graph::Expr> ExpandExtent(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int axis, DimensionOf(call));
  if (axis < 0) return absl::UnimplementedError("an unknown axis");
  return FromExtents(call,
                     [&](const Extents& extents) { return extents[axis]; });
}

absl::StatusOr<graph::Expr> ExpandStride(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int axis, DimensionOf(call));
  if (axis < 0) return absl::UnimplementedError("an unknown axis");
  return FromExtents(call, [&](const Extents& extents) {
    Expr stride = Int(1);
    for (size_t d = axis + 1; d < extents.size(); ++d) {
      stride = Mul(stride, extents[d]);
    }
    return call.analyzer().Simplify(stride);
  });
}

absl::StatusOr<graph::Expr> ExpandOffset(const OpCall&) {
  return graph::Number(Int(0, Fields::kOffset));
}

absl::StatusOr<graph::Expr> ExpandRank(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->rank == graph::kUnknownRank) {
    return absl::UnimplementedError("an unknown rank");
  }
  return graph::Number(Int(x->rank, Fields::kRank));
}

// DLPack's number for the kind of a type.
int64_t CodeOf(DType dtype) {
  switch (dtype.code()) {
    case TypeCode::kInt:
      return 0;
    case TypeCode::kUInt:
      return 1;
    case TypeCode::kFloat:
      return 2;
    case TypeCode::kHandle:
    case TypeCode::kVoid:
      return 3;
    case TypeCode::kBFloat:
      return 4;
    case TypeCode::kBool:
      return 6;
  }
}

// A bool fills a byte.
int64_t BitsOf(DType dtype) { return dtype.is_bool() ? 8 : dtype.bits(); }
int64_t LanesOf(DType dtype) { return dtype.lanes(); }

template <int64_t (*read)(DType), const DType& dtype>
absl::StatusOr<graph::Expr> ExpandType(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->dtype.is_void()) return absl::UnimplementedError("an unknown type");
  return graph::Number(Int(read(x->dtype), dtype));
}

constexpr OpRow kRows[] = {
    {"inspect.tensor_byte_offset", InferField<Fields::kOffset>, nullptr,
     ExpandOffset},
    {"inspect.tensor_dtype_bits", InferField<Fields::kBits>, nullptr,
     ExpandType<BitsOf, Fields::kBits>},
    {"inspect.tensor_dtype_code", InferField<Fields::kCode>, nullptr,
     ExpandType<CodeOf, Fields::kCode>},
    {"inspect.tensor_dtype_lanes", InferField<Fields::kLanes>, nullptr,
     ExpandType<LanesOf, Fields::kLanes>},
    {"inspect.tensor_elem_offset", InferField<Fields::kOffset>, nullptr,
     ExpandOffset},
    {"inspect.tensor_ndim", InferField<Fields::kRank>, nullptr, ExpandRank},
    {"inspect.tensor_shape_i", InferOfAxis, nullptr, ExpandExtent},
    {"inspect.tensor_stride_i", InferOfAxis, nullptr, ExpandStride},
};

}  // namespace

absl::Span<const OpRow> InspectOps() { return kRows; }

}  // namespace kiln
