// Boxes of detectors:
//
//   get_valid_counts         rows whose score is high enough, to the front
//   multibox_transform_loc   anchors moved by what a network predicts
//   non_max_suppression      of boxes that overlap too much only the one with
//                            the highest score (suppression.cc)
//
// An anchor is (left, top, right, bottom), a move (x, y, width, height) in
// units of its extents, a box (top, left, bottom, right).
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/network/softmax.h"
#include "kiln/ir/ops/script.h"
#include "kiln/ir/ops/vision/vision.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

constexpr char kValidCounts[] = R"(
with T.block("get_valid_counts"):
    for b in T.parallel($batch):
        valid_count[b] = 0
        for j in range($anchors):
            if data[b, j, $score] > $threshold$has_class:
                for k in range($elements):
                    out_tensor[b, T.Cast("int64", valid_count[b]), k] = data[b, j, k]
                out_indices[b, T.Cast("int64", valid_count[b])] = T.Cast("int32", j)
                valid_count[b] = valid_count[b] + 1
        for j in range($anchors):
            if j >= T.Cast("int64", valid_count[b]):
                for k in range($elements):
                    out_tensor[b, j, k] = T.Cast("$type", -1)
                out_indices[b, j] = -1)";

absl::StatusOr<Lowered> LowerValidCounts(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const int64_t score, call.Int("score_index"));
  KILN_ASSIGN_OR_RETURN(const int64_t id, call.Int("id_index"));
  KILN_ASSIGN_OR_RETURN(const double threshold, call.Real("score_threshold"));
  const Extents& shape = in[0].shape();
  const DType dtype = in[0].dtype(), whole = DType::Int(32);
  if (!dtype.is_float()) return absl::UnimplementedError("integer scores");
  Script script;
  script.Param("data", shape, dtype);
  script.Param("valid_count", {shape[0]}, whole);
  script.Param("out_tensor", shape, dtype);
  script.Param("out_indices", {shape[0], shape[1]}, whole);
  script.Set("batch", shape[0]).Set("anchors", shape[1]);
  script.Set("elements", shape[2]).Set("score", score);
  script.Set("type", dtype.ToString());
  script.Set("threshold", absl::StrCat("T.", dtype.ToString(), "(",
                                       Script::RealText(threshold), ")"));
  script.Set("has_class",
             id < 0 ? ""
                    : absl::StrCat(" and data[b, j, ", id, "] >= T.Cast(\"",
                                   dtype.ToString(), "\", 0)"));
  KILN_ASSIGN_OR_RETURN(Function f, script.Read(kValidCounts));
  return Lowered(std::move(f));
}

// --- multibox_transform_loc.

struct Moves {
  te::Tensor moves, anchor;  // (N, A, 4), (1, A, 4)
  std::vector<double> variances;

  DType dtype() const { return anchor.dtype(); }
  Expr Move(const Extents& i, int k) const {
    return Mul(moves(i[0], i[1], Int(k)), Float(variances[k], dtype()));
  }
  Expr Anchor(const Extents& i, int k) const {
    return anchor(Int(0), i[1], Int(k));
  }
  // The edge of a box along an axis (0: x), the lower or the upper one.
  Expr Edge(const Extents& i, int axis, bool is_upper) const {
    const Expr low = Anchor(i, axis), high = Anchor(i, 2 + axis);
    const Expr extent = Sub(high, low), half = Float(0.5, dtype());
    const Expr center =
        Add(Mul(Move(i, axis), extent), Mul(Add(low, high), half));
    const Expr growth = Call(dtype(), Intrinsic::kExp, {Move(i, 2 + axis)});
    const Expr reach = Mul(Mul(half, growth), extent);
    return is_upper ? Add(center, reach) : Sub(center, reach);
  }
};

// (N, A * 4) as (N, A, 4).
te::Tensor PerAnchor(const te::Tensor& x, const Extents& shape) {
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        return x(IndexOfFlat(x.shape(), FlatIndex(shape, i)));
      },
      "T_reshape");
}

te::Tensor Boxes(const Moves& m, const Extents& shape, bool clips) {
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Expr value;
        for (int k = 3; k >= 0; --k) {
          Expr edge = m.Edge(i, k % 2 == 0 ? 1 : 0, k >= 2);
          if (clips) {
            edge = Max(Float(0, m.dtype()), Min(Float(1, m.dtype()), edge));
          }
          value = value ? Select(EQ(i[2], Int(k)), edge, value) : edge;
        }
        return value;
      },
      "multibox_boxes");
}

// x where it is at least the bound, else 0.
te::Tensor AtLeast(const te::Tensor& x, const Expr& bound) {
  const te::Tensor is_kept = te::Compute(
      x.shape(), [&](const Extents& i) -> te::Value { return LE(bound, x(i)); },
      "T_greater_equal");
  const te::Tensor mask = te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value {
        return Cast(x.dtype(), is_kept(i));
      },
      "compute");
  return te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value { return Mul(x(i), mask(i)); },
      "T_multiply");
}

absl::StatusOr<te::Tensor> ScoresOf(const OpCall& call, const te::Tensor& x) {
  KILN_ASSIGN_OR_RETURN(const bool applies, call.Bool("apply_softmax"));
  KILN_ASSIGN_OR_RETURN(const double threshold, call.Real("threshold"));
  KILN_ASSIGN_OR_RETURN(const bool keeps, call.Bool("keep_background"));
  const te::Tensor kept =
      AtLeast(applies ? Softmax(x, 1) : x, Float(threshold, x.dtype()));
  if (keeps) return kept;
  return te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value {
        return IfThenElse(EQ(i[1], Int(0)), Float(0, x.dtype()), kept(i));
      },
      "multibox_scores_bg");
}

absl::StatusOr<Lowered> LowerMultibox(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferMultibox(call));
  KILN_ASSIGN_OR_RETURN(const auto variances, call.Reals("variances"));
  KILN_ASSIGN_OR_RETURN(const bool clips, call.Bool("clip"));
  if (!in[0].dtype().is_float()) return absl::UnimplementedError("integers");
  const auto* boxes =
      info.As<graph::TupleInfo>()->fields[0].As<graph::TensorInfo>();
  KILN_ASSIGN_OR_RETURN(const te::Tensor scores, ScoresOf(call, in[0]));
  const Moves moves{PerAnchor(in[1], *boxes->extents()), in[2], variances};
  return Lowered(
      std::vector<te::Tensor>{Boxes(moves, *boxes->extents(), clips), scores});
}

constexpr OpRow kRows[] = {
    {"vision.all_class_non_max_suppression", InferAllClassSuppression,
     LowerAllClassSuppression},
    {"vision.get_valid_counts", InferValidCounts, LowerValidCounts},
    {"vision.multibox_transform_loc", InferMultibox, LowerMultibox},
    {"vision.non_max_suppression", InferSuppression, LowerSuppression},
};

}  // namespace

absl::Span<const OpRow> BoxOps() { return kRows; }

}  // namespace kiln
