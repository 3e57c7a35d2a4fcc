// What ops on boxes give. A box is a row of `data` (batch, anchors, elements):
// a class at id_index, a score at score_index, and four coordinates from
// coord_start on.
//
//   get_valid_counts       (counts, boxes that score, their indices)
//   non_max_suppression    boxes, or (indices, counts), or all three where
//                          scores are lowered ("soft")
//   multibox_transform_loc (boxes, scores)
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/tensors.h"
#include "kiln/ir/ops/vision/vision.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;

const DType kInt32 = DType::Int(32);
const DType kInt64 = DType::Int(64);

// A tensor whose extents are known unless one is null.
StructInfo Known(const Extents& extents, DType dtype,
                 const std::string& device) {
  const bool is_known = std::all_of(extents.begin(), extents.end(),
                                    [](const Expr& e) { return bool(e); });
  if (is_known) return graph::Tensor(extents, dtype, device);
  return graph::TensorOfRank(static_cast<int>(extents.size()), dtype, device);
}

// An attribute that picks elements first to first + count - 1 of a box.
absl::Status CheckElement(const OpCall& call, std::string_view attr,
                          int64_t least, int64_t count) {
  KILN_ASSIGN_OR_RETURN(const int64_t first, call.Int(attr));
  const Expr elements = ExtentOf(call, 0, 2);
  const int64_t* size = elements ? AsInt(elements) : nullptr;
  const int64_t most = size ? *size - count : INT32_MAX;
  if (first >= least && first <= most) return absl::OkStatus();
  return call.Error(absl::StrCat("`", std::string(attr), "` is ", first,
                                 "; of these boxes it is ", least, " to ",
                                 most));
}

absl::Status CheckIntegers(const OpCall& call, size_t arg, int rank) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, RankedTensor(call, arg, rank));
  if (x->dtype.is_void() || x->dtype.is_integral()) return absl::OkStatus();
  return call.ErrorAt(arg, "it has to be of integers");
}

}  // namespace

absl::StatusOr<StructInfo> InferValidCounts(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, RankedTensor(call, 0, 3));
  KILN_RETURN_IF_ERROR(CheckElement(call, "score_index", 0, 1));
  KILN_RETURN_IF_ERROR(CheckElement(call, "id_index", -1, 1));
  const Expr batch = ExtentOf(call, 0, 0), anchors = ExtentOf(call, 0, 1);
  const StructInfo boxes = x->rank == graph::kUnknownRank
                               ? TensorLike(*x, 3, nullptr)
                               : call.info(0);
  return graph::Tuple({Known({batch}, kInt32, x->device), boxes,
                       Known({batch, anchors}, kInt32, x->device)});
}

absl::StatusOr<StructInfo> InferSuppression(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, RankedTensor(call, 0, 3));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 1, 1));
  KILN_RETURN_IF_ERROR(CheckIntegers(call, 2, 2));
  const Expr batch = ExtentOf(call, 0, 0), anchors = ExtentOf(call, 0, 1);
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 0, batch, "the batch is"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 2, 0, batch, "the batch is"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 2, 1, anchors, "the anchors are"));
  KILN_RETURN_IF_ERROR(CheckElement(call, "score_index", 0, 1));
  KILN_RETURN_IF_ERROR(CheckElement(call, "id_index", -1, 1));
  KILN_RETURN_IF_ERROR(CheckElement(call, "coord_start", 0, 4));
  const StructInfo boxes = x->rank == graph::kUnknownRank
                               ? TensorLike(*x, 3, nullptr)
                               : call.info(0);
  KILN_ASSIGN_OR_RETURN(const bool gives_indices, call.Bool("return_indices"));
  if (!gives_indices) return boxes;
  KILN_ASSIGN_OR_RETURN(const double sigma, call.Real("soft_nms_sigma"));
  std::vector<StructInfo> fields;
  if (sigma > 0) fields.push_back(boxes);
  fields.push_back(Known({batch, anchors}, kInt32, x->device));
  fields.push_back(Known({batch, batch ? Int(1) : Expr()}, kInt32, x->device));
  return graph::Tuple(std::move(fields));
}

absl::StatusOr<StructInfo> InferAllClassSuppression(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* boxes, RankedTensor(call, 0, 3));
  KILN_RETURN_IF_ERROR(RankedTensor(call, 1, 3).status());
  KILN_RETURN_IF_ERROR(CheckExtent(call, 0, 2, Int(4), "a box has"));
  const Expr batch = ExtentOf(call, 0, 0), anchors = ExtentOf(call, 0, 1);
  const Expr classes = ExtentOf(call, 1, 1);
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 0, batch, "the batch is"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 2, anchors, "the boxes are"));
  KILN_ASSIGN_OR_RETURN(const std::string format, call.String("output_format"));
  const std::string& device = boxes->device;
  const auto simple = [&](const Expr& e) {
    return call.analyzer().Simplify(e);
  };
  const bool is_known = batch && anchors && classes;
  const Expr each = is_known ? simple(Mul(classes, anchors)) : Expr();
  if (format == "onnx") {
    const Expr all = is_known ? simple(Mul(batch, each)) : Expr();
    return graph::Tuple({Known({all, Int(3)}, kInt64, device),
                         graph::Tensor({Int(1)}, kInt64, device)});
  }
  if (format == "tensorflow") {
    return graph::Tuple({Known({batch, each, Int(2)}, kInt64, device),
                         Known({batch, each}, DType::Float(32), device),
                         Known({batch}, kInt64, device)});
  }
  return call.Error(absl::StrCat("`output_format` is \"", format,
                                 "\"; it is onnx or tensorflow"));
}

absl::StatusOr<StructInfo> InferMultibox(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* scores, RankedTensor(call, 0, 3));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* moves, RankedTensor(call, 1, 2));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* anchor, RankedTensor(call, 2, 3));
  for (const TensorInfo* other : {moves, anchor}) {
    if (other->dtype == scores->dtype || other->dtype.is_void() ||
        scores->dtype.is_void()) {
      continue;
    }
    return call.ErrorAt(other == moves ? 1 : 2,
                        "its type is not that of the scores");
  }
  KILN_ASSIGN_OR_RETURN(const auto variances, call.Reals("variances"));
  if (variances.size() != 4) {
    return call.Error("`variances` has a number for each of 4 coordinates");
  }
  const Expr batch = ExtentOf(call, 0, 0), boxes = ExtentOf(call, 0, 2);
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 0, batch, "the batch is"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 1,
                                   boxes ? Mul(boxes, Int(4)) : Expr(),
                                   "the coordinates of all boxes are"));
  const Expr coordinates = ExtentOf(call, 1, 1);
  if (coordinates && !call.IsMultiple(coordinates, 4)) {
    return call.ErrorAt(1, "a box has 4 coordinates");
  }
  KILN_RETURN_IF_ERROR(CheckExtent(call, 2, 0, Int(1), "anchors are of"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 2, 1, boxes, "the boxes are"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 2, 2, Int(4), "a box has"));
  const Extents shape = {batch, boxes, boxes ? Int(4) : Expr()};
  const StructInfo all = scores->rank == graph::kUnknownRank
                             ? TensorLike(*scores, 3, nullptr)
                             : call.info(0);
  return graph::Tuple({Known(shape, scores->dtype, scores->device), all});
}

}  // namespace kiln
