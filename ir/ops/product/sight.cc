#include "kiln/ir/ops/product/sight.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

absl::StatusOr<Mask> MaskOf(const OpCall& call) {
  if (call.IsNone("causal_mask")) return Mask::kNone;
  KILN_ASSIGN_OR_RETURN(const std::string mask, call.String("causal_mask"));
  if (mask == "TopLeft") return Mask::kTopLeft;
  if (mask == "BottomRight") return Mask::kBottomRight;
  return call.Error(absl::StrCat("`causal_mask` is \"", mask,
                                 "\"; it is None, TopLeft or BottomRight"));
}

}  // namespace

Sequences Sequences::Of(const te::Tensor& starts, const Expr& count) {
  const Expr behind = Sub(starts.shape()[0], Int(1));
  const te::IterVar s = te::ReduceAxis(Int(0), behind, "s");
  te::Tensor number = te::Compute(
      {count},
      [&](const std::vector<Expr>& i) {
        const Expr end = Cast(DType::Index(), starts(Add(s, Int(1))));
        return te::Sum(Cast(DType::Index(), LE(end, i[0])), {s});
      },
      "sequence");
  return {starts, std::move(number)};
}

Expr Sequences::Start(const Expr& sequence) const {
  const Expr last = Sub(starts.shape()[0], Int(1));
  return Cast(DType::Index(), starts(Min(sequence, last)));
}

Expr Sequences::Place(const Expr& element) const {
  return Sub(element, Start(number(element)));
}

absl::StatusOr<Sight> Sight::Of(const OpCall& call) {
  Sight sight;
  KILN_ASSIGN_OR_RETURN(sight.mask, MaskOf(call));
  if (call.IsNone("window_size")) return sight;
  KILN_ASSIGN_OR_RETURN(const int64_t window, call.Int("window_size"));
  if (window < 1 || window > INT32_MAX) {
    return call.Error(absl::StrCat("`window_size` is ", window,
                                   "; a window has at least one key"));
  }
  sight.window = window;
  return sight;
}

Expr Sight::Sees(const Expr& query, const Expr& key) const {
  Expr place = query, key_place = key, offset = Sub(keys, queries), sees;
  const auto require = [&](const Expr& condition) {
    sees = sees ? And(sees, condition) : condition;
  };
  if (query_sequences && key_sequences) {
    const Sequences &q = *query_sequences, &k = *key_sequences;
    const Expr own = q.number(query), next = Add(own, Int(1));
    place = q.Place(query);
    key_place = k.Place(key);
    offset =
        Sub(Sub(k.Start(next), k.Start(own)), Sub(q.Start(next), q.Start(own)));
    require(EQ(own, k.number(key)));
  }
  if (mask == Mask::kBottomRight) place = Add(place, offset);
  if (mask != Mask::kNone) require(LE(key_place, place));
  if (window) require(LT(Sub(place, Int(*window)), key_place));
  return sees;
}

}  // namespace kiln
