#include "kiln/tests/graph_fuzz/shape_calls.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

using Texts = std::vector<std::string>;

Texts ExtentTexts(const FuzzValue& x) {
  Texts texts;
  for (const Expr& extent : x.extents()) texts.push_back(ExtentText(extent));
  return texts;
}

FuzzCall Moved(std::string text, const FuzzValue& x) {
  return {std::move(text), {x}, x.bound, x.exact};
}

// Two neighbours become one, or an extent of 1 comes in.
std::optional<FuzzCall> Reshape(Scene& scene) {
  const std::optional<FuzzValue> x = scene.Some({});
  if (!x) return std::nullopt;
  Texts shape = ExtentTexts(*x);
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank >= 2 && !scene.OneIn(3)) {
    const int64_t at = scene.Below(rank - 1);
    shape[at] = absl::StrCat("(", shape[at], ") * (", shape[at + 1], ")");
    shape.erase(shape.begin() + at + 1);
  } else {
    shape.insert(shape.begin() + scene.Below(rank + 1), "1");
  }
  return Moved(absl::StrCat("R.reshape(", x->name, ", R.shape([",
                            absl::StrJoin(shape, ", "), "]))"),
               *x);
}

std::optional<FuzzCall> Broadcast(Scene& scene) {
  const std::optional<FuzzValue> x = scene.Some({});
  if (!x || x->rank() > 3) return std::nullopt;
  Texts shape = ExtentTexts(*x);
  for (std::string& extent : shape) {
    if (extent == "1" && scene.OneIn(2)) extent = "3";
  }
  if (scene.OneIn(2)) shape.insert(shape.begin(), "2");
  return Moved(absl::StrCat("R.broadcast_to(", x->name, ", R.shape([",
                            absl::StrJoin(shape, ", "), "]))"),
               *x);
}

std::string Quoted(const Expr& extent) {
  const std::string text = ExtentText(extent);
  return AsInt(extent) ? text : absl::StrCat("\"", text, "\"");
}

// Whether a parameter may have it: a dimension of the casts, k0, is known
// behind them only.
bool IsSimple(const Expr& extent) {
  const auto* var = extent.As<VarNode>();
  return AsInt(extent) || (var && var->name[0] != 'k');
}

std::string ParamOf(const Texts& extents, DType dtype) {
  return absl::StrCat("R.Tensor((", absl::StrJoin(extents, ", "),
                      ",), dtype=\"", dtype.ToString(), "\")");
}

// A row of weights for the last extent, or a matrix.
std::optional<FuzzCall> Dense(Scene& scene) {
  Wanted wanted;
  wanted.kind = Wanted::Kind::kFloat;
  wanted.min_rank = 1;
  const std::optional<FuzzValue> x = scene.Some(wanted);
  if (!x || !IsSimple(x->extents().back())) return std::nullopt;
  const Expr last = x->extents().back();
  const FuzzValue weight =
      scene.NewParam(ParamOf({Quoted(last), "3"}, x->dtype()));
  return FuzzCall{absl::StrCat("R.matmul(", x->name, ", ", weight.name, ")"),
                  {*x, weight},
                  2 * x->bound * MostOf(last),
                  false};
}

std::optional<FuzzCall> Convolution(Scene& scene) {
  Wanted wanted;
  wanted.kind = Wanted::Kind::kFloat;
  wanted.rank = 4;
  const std::optional<FuzzValue> x = scene.Some(wanted);
  if (!x || !IsSimple(x->extents()[1])) return std::nullopt;
  const FuzzValue weight = scene.NewParam(
      ParamOf({"2", Quoted(x->extents()[1]), "2", "1"}, x->dtype()));
  return FuzzCall{
      absl::StrCat("R.nn.conv2d(", x->name, ", ", weight.name, ", padding=[",
                   scene.Below(2), ", ", scene.Below(2), "], strides=[",
                   1 + scene.Below(2), ", 1])"),
      {*x, weight},
      x->bound * 4 * MostOf(x->extents()[1]),
      false};
}

// A vector along the last extent.
std::optional<FuzzCall> Bias(Scene& scene) {
  Wanted wanted;
  wanted.kind = Wanted::Kind::kNumber;
  wanted.min_rank = 1;
  const std::optional<FuzzValue> x = scene.Some(wanted);
  if (!x || !IsSimple(x->extents().back())) return std::nullopt;
  const FuzzValue bias =
      scene.NewParam(ParamOf({Quoted(x->extents().back())}, x->dtype()));
  return FuzzCall{absl::StrCat("R.add(", bias.name, ", ", x->name, ")"),
                  {*x, bias},
                  x->bound + 2,
                  !x->dtype().is_float() && x->exact};
}

std::optional<FuzzCall> Filled(Scene& scene) {
  const std::optional<FuzzValue> like = scene.Some({});
  if (!like) return std::nullopt;
  const std::string shape =
      absl::StrCat("R.shape([", absl::StrJoin(ExtentTexts(*like), ", "), "])");
  const std::string ones = scene.OneIn(2) ? "R.ones(" : "R.zeros(";
  return Moved(absl::StrCat(ones, shape, ", dtype=\"float32\")"), *like);
}

}  // namespace

std::optional<FuzzCall> DrawShapeCall(Scene& scene) {
  static const auto& kinds =
      *new std::vector<std::optional<FuzzCall> (*)(Scene&)>{
          Reshape, Broadcast, Dense, Convolution, Bias, Filled};
  return scene.One(kinds)(scene);
}

}  // namespace kiln
