// Ops that rearrange what goes into layers:
//
//   R.nn.pad(x, pad_width=[1, 0, 0, 2])   one row ahead, two columns behind
//   R.nn.pixel_shuffle(x, upscale_factor=2)
//       y[n, c, h, w] = x[n, c * 4 + h % 2 * 2 + w % 2, h // 2, w // 2]
//
// Padding repeats a value ("constant"), the border ("replicate"), what lies
// before it ("reflect"), or begins anew from the other side ("circular").
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

// --- pad.

struct Padding {
  std::vector<int64_t> before, after;
};

absl::StatusOr<Padding> PaddingOf(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> width,
                        call.Ints("pad_width"));
  Padding padding;
  for (size_t i = 0; i < width.size(); ++i) {
    if (width[i] < 0 || width[i] > INT32_MAX) {
      return call.Error(
          absl::StrCat("`pad_width` has ", width[i], "; it is at least 0"));
    }
    (i % 2 == 0 ? padding.before : padding.after).push_back(width[i]);
  }
  if (padding.before.size() == padding.after.size()) return padding;
  return call.Error("`pad_width` has two numbers for each dimension");
}

absl::Status CheckMode(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("pad_mode"));
  for (const char* known : {"constant", "replicate", "reflect", "circular"}) {
    if (mode == known) return absl::OkStatus();
  }
  return call.Error(absl::StrCat("`pad_mode` is \"", mode,
                                 "\"; it is constant, replicate, reflect or "
                                 "circular"));
}

absl::StatusOr<StructInfo> InferPad(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(call));
  KILN_RETURN_IF_ERROR(CheckMode(call));
  const int rank = static_cast<int>(padding.before.size());
  KILN_RETURN_IF_ERROR(RankedTensor(call, 0, rank).status());
  const auto* extents = x->extents();
  if (!extents) return TensorLike(*x, rank, nullptr);
  Extents shape;
  for (int d = 0; d < rank; ++d) {
    shape.push_back(call.analyzer().Simplify(
        Add((*extents)[d], Int(padding.before[d] + padding.after[d]))));
  }
  return TensorLike(*x, rank, &shape);
}

// Where the element of an axis comes from that stands at `i` of the result.
Expr Source(const std::string& mode, const Expr& i, const Expr& extent) {
  const Expr last = Sub(extent, Int(1));
  if (mode == "replicate") return Max(Min(i, last), Int(0));
  if (mode == "circular") return FloorMod(i, extent);
  const Expr folded = Max(i, Sub(Int(0), i));
  return Min(folded, Sub(Mul(last, Int(2)), folded));
}

absl::StatusOr<Lowered> LowerPad(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  KILN_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(call));
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("pad_mode"));
  KILN_ASSIGN_OR_RETURN(const double value, call.Real("pad_value"));
  Extents shape = x.shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = Add(shape[d], Int(padding.before[d] + padding.after[d]));
  }
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents at = i;
        Expr inside;
        const auto require = [&](const Expr& condition) {
          inside = inside ? And(inside, condition) : condition;
        };
        for (size_t d = 0; d < i.size(); ++d) {
          const Expr begin = Int(padding.before[d]);
          const bool is_padded = padding.before[d] || padding.after[d];
          if (padding.before[d]) at[d] = Sub(i[d], begin);
          if (mode != "constant") {
            if (is_padded) at[d] = Source(mode, at[d], x.shape()[d]);
            continue;
          }
          if (padding.before[d]) require(LE(begin, i[d]));
          if (padding.after[d]) require(LT(i[d], Add(x.shape()[d], begin)));
        }
        if (!inside) return x(at);
        return Call(x.dtype(), Intrinsic::kIfThenElse,
                    {inside, x(at), Constant(value, x.dtype())});
      },
      "PadInput"));
}

// --- pixel_shuffle.

absl::StatusOr<int64_t> Upscale(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int64_t factor, call.Int("upscale_factor"));
  if (factor >= 1 && factor < (1 << 15)) return factor;
  return call.Error(absl::StrCat("`upscale_factor` is ", factor,
                                 "; it is positive and below 2^15"));
}

absl::StatusOr<StructInfo> InferPixelShuffle(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t factor, Upscale(call));
  if (x->rank != graph::kUnknownRank && x->rank < 3) {
    return call.ErrorAt(0, "it has channels, rows and columns");
  }
  if (!x->extents()) return TensorLike(*x, x->rank, nullptr);
  Extents shape = *x->extents();
  Expr& channels = shape[x->rank - 3];
  const Expr block = Int(factor * factor);
  if (!call.IsMultiple(channels, factor * factor)) {
    return call.ErrorAt(0, absl::StrCat("its channels are no multiple of ",
                                        factor, " squared"));
  }
  channels = call.analyzer().Simplify(FloorDiv(channels, block));
  for (int d = x->rank - 2; d < x->rank; ++d) {
    shape[d] = call.analyzer().Simplify(Mul(shape[d], Int(factor)));
  }
  return TensorLike(*x, x->rank, &shape);
}

absl::StatusOr<Lowered> LowerPixelShuffle(const OpCall& call,
                                          const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferPixelShuffle(call));
  KILN_ASSIGN_OR_RETURN(const int64_t factor, Upscale(call));
  const Expr r = Int(factor);
  return Lowered(te::Compute(
      *info.As<graph::TensorInfo>()->extents(),
      [&](const Extents& i) -> te::Value {
        const size_t c = i.size() - 3, h = c + 1, w = c + 2;
        Extents at = i;
        const Expr pixel = Add(Mul(FloorMod(i[h], r), r), FloorMod(i[w], r));
        at[c] = Add(Mul(i[c], Int(factor * factor)), pixel);
        at[h] = FloorDiv(i[h], r);
        at[w] = FloorDiv(i[w], r);
        return in[0](at);
      },
      "pixel_shuffle"));
}

// --- batch_flatten.

constexpr OpRow kRows[] = {
    {"nn.pad", InferPad, LowerPad},
    {"nn.pixel_shuffle", InferPixelShuffle, LowerPixelShuffle},
};

}  // namespace

absl::Span<const OpRow> PadOps() { return kRows; }

}  // namespace kiln
