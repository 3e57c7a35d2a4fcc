// Non-maximum suppression. Boxes are ranked by their score; from the best one
// on, each box that is left takes out those behind it that overlap it too much.
//
//   overlap = area of both / (area of one + area of the other - area of both)
//
// Ranks are counted, so that equal scores keep their order: the rank of a box
// is the number of boxes that are ahead of it. The scripts leave room for what
// the two ops do differently.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/script.h"
#include "kiln/ir/ops/vision/vision.h"

namespace kiln {
namespace {

using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

// The lower or the upper edge of box `box` along an axis of corners
// `first` and `second`, which stand in any order.
std::string Edge(const char* op, const std::string& box, int64_t first,
                 int64_t second) {
  return absl::StrCat("T.", op, "(", box, ", ", first, "], ", box, ", ", second,
                      "])");
}

// What scripts say of boxes `a` and `b`, "boxes[b, j": extents of each and of
// what they share, as lets at an indentation.
std::string Overlap(const std::string& a, const std::string& b, int64_t start,
                    const std::string& type, const std::string& indent) {
  std::string text;
  const auto let = [&](const std::string& name, const std::string& value) {
    absl::StrAppend(&text, indent, name, ": T.", type, " = ", value, "\n");
  };
  const std::string zero = absl::StrCat("T.Cast(\"", type, "\", 0)");
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t first = start + axis, second = first + 2;
    const std::string low_a = Edge("min", a, first, second);
    const std::string high_a = Edge("max", a, first, second);
    const std::string low_b = Edge("min", b, first, second);
    const std::string high_b = Edge("max", b, first, second);
    let(absl::StrCat("own", axis), absl::StrCat(high_a, " - ", low_a));
    let(absl::StrCat("other", axis), absl::StrCat(high_b, " - ", low_b));
    let(absl::StrCat("shared", axis),
        absl::StrCat("T.max(", zero, ", T.min(", high_a, ", ", high_b,
                     ") - T.max(", low_a, ", ", low_b, "))"));
  }
  let("both", "shared0 * shared1");
  let("either", "own0 * own1 + other0 * other1 - both");
  let("overlap", absl::StrCat("T.Select(either <= ", zero, ", ", zero,
                              ", both / either)"));
  return text;
}

constexpr char kSuppression[] = R"(
rank = T.alloc_buffer(($batch, $anchors), "int64")
order = T.alloc_buffer(($batch, $anchors), "int64")
chosen = T.alloc_buffer(($batch, $anchors), "int64")
left = T.alloc_buffer(($batch,), "int64")
used = T.alloc_buffer(($batch,), "int64")
$boxes_buffer
with T.block("order"):
    for b, j in T.grid($batch, $anchors):
        rank[b, j] = T.int64(0)
        order[b, j] = T.int64(0)
    for b, j in T.grid($batch, $anchors):
        if j < T.Cast("int64", valid_count[b]):
            for k in range($anchors):
                if k < T.Cast("int64", valid_count[b]) and (data[b, k, $score] > data[b, j, $score] or data[b, k, $score] == data[b, j, $score] and k < j):
                    rank[b, j] = rank[b, j] + T.int64(1)
            order[b, rank[b, j]] = j
with T.block("non_max_suppression"):
    for b in T.parallel($batch):
        left[b] = T.min(T.Cast("int64", valid_count[b]), $most)
        used[b] = T.int64(0)
        for j in range($anchors):
            chosen[b, j] = T.int64(-1)
            if j < left[b]:
                chosen[b, j] = order[b, j]
            for k in range($elements):
                boxes[b, j, k] = T.Cast("$type", -1)
                if j < left[b]:
                    boxes[b, j, k] = data[b, order[b, j], k]
        for j in range($anchors):
            if j < left[b]:
                if boxes[b, j, $score] > $threshold and used[b] < $limit:
                    used[b] = used[b] + T.int64(1)
                    for k in range($anchors):
                        if k > j and k < left[b] and boxes[b, k, $score] > $threshold$same_class:
$overlap
                            if overlap >= $most_overlap:
                                boxes[b, k, $score] = T.Cast("$type", -1)
                                chosen[b, k] = T.int64(-1)
                else:
                    for k in range($elements):
                        boxes[b, j, k] = T.Cast("$type", -1)
                    chosen[b, j] = T.int64(-1)
$results)";

// The indices of the boxes that are left, and how many there are.
constexpr char kIndexResults[] = R"(        used[b] = T.int64(0)
        for j in range($anchors):
            out_indices[b, j] = -1
        for j in range($anchors):
            if chosen[b, j] >= T.int64(0):
                out_indices[b, used[b]] = T.Cast("int32", indices[b, chosen[b, j]])
                used[b] = used[b] + T.int64(1)
        out_count[b, 0] = T.Cast("int32", used[b]))";

// The boxes that are left, to the front.
constexpr char kFrontResults[] = R"(        used[b] = T.int64(0)
        for j, k in T.grid($anchors, $elements):
            out[b, j, k] = T.Cast("$type", -1)
        for j in range($anchors):
            if chosen[b, j] >= T.int64(0):
                for k in range($elements):
                    out[b, used[b], k] = boxes[b, j, k]
                used[b] = used[b] + T.int64(1))";

struct Suppression {
  bool gives_indices, to_front, is_forced;
  int64_t limit, top, start, score, id;
  double overlap, threshold;
};

absl::StatusOr<Suppression> SuppressionOf(const OpCall& call) {
  Suppression s;
  KILN_ASSIGN_OR_RETURN(s.gives_indices, call.Bool("return_indices"));
  KILN_ASSIGN_OR_RETURN(s.to_front, call.Bool("invalid_to_bottom"));
  KILN_ASSIGN_OR_RETURN(s.is_forced, call.Bool("force_suppress"));
  KILN_ASSIGN_OR_RETURN(s.limit, call.Int("max_output_size"));
  KILN_ASSIGN_OR_RETURN(s.top, call.Int("top_k"));
  KILN_ASSIGN_OR_RETURN(s.start, call.Int("coord_start"));
  KILN_ASSIGN_OR_RETURN(s.score, call.Int("score_index"));
  KILN_ASSIGN_OR_RETURN(s.id, call.Int("id_index"));
  KILN_ASSIGN_OR_RETURN(s.overlap, call.Real("iou_threshold"));
  KILN_ASSIGN_OR_RETURN(s.threshold, call.Real("score_threshold"));
  KILN_ASSIGN_OR_RETURN(const double sigma, call.Real("soft_nms_sigma"));
  if (sigma > 0) return absl::UnimplementedError("scores that are lowered");
  return s;
}

std::string Real(const std::string& type, double value) {
  return absl::StrCat("T.", type, "(", Script::RealText(value), ")");
}

// The parameters, and where the boxes are kept.
void SetBuffers(const Suppression& s, const Inputs& in, Script& script) {
  const Extents& shape = in[0].shape();
  const DType dtype = in[0].dtype(), whole = DType::Int(32);
  script.Param("data", shape, dtype);
  script.Param("valid_count", in[1].shape(), in[1].dtype());
  script.Param("indices", in[2].shape(), in[2].dtype());
  if (s.gives_indices) {
    script.Param("out_indices", {shape[0], shape[1]}, whole);
    script.Param("out_count", {shape[0], Int(1)}, whole);
  } else {
    script.Param(s.to_front ? "out" : "boxes", shape, dtype);
  }
  const std::string extents = absl::StrCat("(", script.Spelled(shape[0]), ", ",
                                           script.Spelled(shape[1]), ", ",
                                           script.Spelled(shape[2]), ")");
  const bool keeps = s.gives_indices || s.to_front;
  script.Set("boxes_buffer",
             keeps ? absl::StrCat("boxes = T.alloc_buffer(", extents, ", \"",
                                  dtype.ToString(), "\")")
                   : "");
}

std::string Results(const Suppression& s) {
  if (s.gives_indices) return kIndexResults;
  return s.to_front ? kFrontResults : "";
}

constexpr char kAllClasses[] = R"(
rank = T.alloc_buffer(($classes, $anchors), "int64")
order = T.alloc_buffer(($classes, $anchors), "int64")
is_out = T.alloc_buffer(($classes, $anchors), "bool")
used = T.alloc_buffer(($classes,), "int64")
with T.block("all_class_non_max_suppression"):
    total[0] = T.int64(0)
    for i, j in T.grid($batch * $classes * $anchors, 3):
        selected[i, j] = T.int64(0)
    for b, c in T.grid($batch, $classes):
        used[c] = T.int64(0)
        for j in range($anchors):
            rank[c, j] = T.int64(0)
            is_out[c, j] = scores[b, c, j] <= $threshold
        for j in range($anchors):
            order[c, j] = T.int64(0)
        for j, k in T.grid($anchors, $anchors):
            if scores[b, c, k] > scores[b, c, j] or scores[b, c, k] == scores[b, c, j] and k < j:
                rank[c, j] = rank[c, j] + T.int64(1)
        for j in range($anchors):
            order[c, rank[c, j]] = j
        for j in range($anchors):
            if not is_out[c, order[c, j]] and used[c] < $limit:
                selected[total[0], 0] = b
                selected[total[0], 1] = c
                selected[total[0], 2] = order[c, j]
                total[0] = total[0] + T.int64(1)
                used[c] = used[c] + T.int64(1)
                for k in range($anchors):
                    if k > j and not is_out[c, order[c, k]]:
$overlap
                        if overlap > $most_overlap:
                            is_out[c, order[c, k]] = True)";

// A number that the call knows, or an input of one element, as text.
absl::StatusOr<std::string> NumberText(const OpCall& call, size_t arg,
                                       const std::string& name,
                                       const Inputs& in, size_t& next,
                                       Script& script) {
  if (call.info(arg).As<graph::TensorInfo>()) {
    const te::Tensor& x = in[next++];
    script.Param(name, x.shape(), x.dtype());
    std::string at;
    for (const Expr& extent : x.shape()) {
      if (!IsOne(extent)) return absl::UnimplementedError("several numbers");
      absl::StrAppend(&at, at.empty() ? "0" : ", 0");
    }
    return absl::StrCat(name, "[", at.empty() ? "()" : at, "]");
  }
  KILN_ASSIGN_OR_RETURN(const double value, call.RealArg(arg));
  return Script::RealText(value);
}

std::string CastText(const std::string& type, const std::string& value) {
  return absl::StrCat("T.Cast(\"", type, "\", ", value, ")");
}

}  // namespace

absl::StatusOr<Lowered> LowerSuppression(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Suppression s, SuppressionOf(call));
  const Extents& shape = in[0].shape();
  const std::string type = in[0].dtype().ToString();
  if (!in[0].dtype().is_float()) return absl::UnimplementedError("integers");
  Script script;
  SetBuffers(s, in, script);
  const std::string anchors = script.Spelled(shape[1]);
  const std::string overlap =
      Overlap("boxes[b, j", "boxes[b, k", s.start, type, std::string(28, ' '));
  std::string same;
  if (!s.is_forced && s.id >= 0) {
    same =
        absl::StrCat(" and boxes[b, j, ", s.id, "] == boxes[b, k, ", s.id, "]");
  }
  script.Set("batch", shape[0]).Set("anchors", anchors);
  script.Set("elements", shape[2]).Set("score", s.score).Set("type", type);
  script.Set("most", s.top > 0 ? absl::StrCat("T.min(", anchors, ", T.int64(",
                                              s.top, "))")
                               : absl::StrCat("T.int64(1) * ", anchors));
  script.Set("limit", s.limit > 0 ? absl::StrCat("T.int64(", s.limit, ")")
                                  : absl::StrCat("T.int64(1) * ", anchors));
  script.Set("threshold", Real(type, s.threshold));
  script.Set("most_overlap", Real(type, s.overlap));
  script.Set("same_class", same).Set("overlap", overlap);
  const std::string body =
      absl::StrReplaceAll(kSuppression, {{"$results", Results(s)}});
  KILN_ASSIGN_OR_RETURN(Function f, script.Read(body));
  return Lowered(std::move(f));
}

absl::StatusOr<Lowered> LowerAllClassSuppression(const OpCall& call,
                                                 const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const std::string format, call.String("output_format"));
  if (format != "onnx" || call.size() < 5) {
    return absl::UnimplementedError("another format than that of ONNX");
  }
  const Extents &boxes = in[0].shape(), &scores = in[1].shape();
  const std::string type = in[0].dtype().ToString();
  const bool is_constant =
      AsInt(scores[0]) && AsInt(scores[1]) && AsInt(scores[2]);
  if (!is_constant || !in[0].dtype().is_float()) {
    return absl::UnimplementedError("results whose extent is a product");
  }
  Script script;
  script.Param("boxes", boxes, in[0].dtype());
  script.Param("scores", scores, in[1].dtype());
  size_t next = 2;
  KILN_ASSIGN_OR_RETURN(const std::string limit,
                        NumberText(call, 2, "limit", in, next, script));
  KILN_ASSIGN_OR_RETURN(const std::string overlap,
                        NumberText(call, 3, "iou", in, next, script));
  KILN_ASSIGN_OR_RETURN(const std::string threshold,
                        NumberText(call, 4, "least", in, next, script));
  const Expr rows = Mul(Mul(scores[0], scores[1]), scores[2]);
  script.Param("selected", {rows, Int(3)}, DType::Int(64));
  script.Param("total", {Int(1)}, DType::Int(64));
  script.Set("batch", scores[0]).Set("classes", scores[1]);
  script.Set("anchors", scores[2]).Set("limit", CastText("int64", limit));
  script.Set("threshold", CastText(in[1].dtype().ToString(), threshold));
  script.Set("most_overlap", CastText(type, overlap));
  script.Set("overlap", Overlap("boxes[b, order[c, j]", "boxes[b, order[c, k]",
                                0, type, std::string(24, ' ')));
  KILN_ASSIGN_OR_RETURN(Function f, script.Read(kAllClasses));
  return Lowered(std::move(f));
}

}  // namespace kiln
