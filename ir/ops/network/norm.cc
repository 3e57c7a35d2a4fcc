// Normalization by mean and variance of the element's neighbours:
//
//   layer_norm     over `axes`; gamma and beta have these dimensions
//   instance_norm  over `axes`; gamma and beta have a value for each channel
//   group_norm     over `axes` and the channels of a group
//   rms_norm       by the root of the mean of squares over `axes`
//
//   y = (x - mean) * rsqrt(variance + epsilon) * gamma + beta
//
// Elements of 16 bits are normalized as float32.
#include "kiln/ir/ops/network/norm.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/network/moments.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

absl::StatusOr<std::vector<int>> AxesOfNorm(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", rank));
  if (axes) return *axes;
  return call.Error("`axes` has to name dimensions");
}

Sample SampleOf(const te::Tensor& x, const std::vector<int>& axes) {
  Sample sample;
  sample.extents = x.shape();
  sample.is_reduced.resize(x.shape().size(), false);
  for (const int axis : axes) sample.is_reduced[axis] = true;
  sample.element = [x](const Extents& i) {
    return Cast(SumType(x.dtype()), x(i));
  };
  return sample;
}

Extents At(const Extents& i, const std::vector<int>& axes) {
  Extents at;
  for (const int axis : axes) at.push_back(i[axis]);
  return at;
}

// --- Layers and instances.

absl::StatusOr<StructInfo> InferLayerNorm(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, x->rank));
  return NormInfo(call, axes);
}

absl::StatusOr<Lowered> Normalize(const OpCall& call, const Inputs& in,
                                  const std::vector<int>& reduced,
                                  const std::vector<int>& affine_axes,
                                  const std::string& name) {
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  KILN_ASSIGN_OR_RETURN(const Affine affine, AffineOf(call, in));
  const Sample sample = SampleOf(in[0], reduced);
  const Moments moments = MomentsOf(sample);
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Extents kept = sample.Kept(i);
        const Expr distance = Sub(sample.element(i), moments.mean(kept));
        const Expr normal = Mul(
            distance, InverseDeviation(sample, moments.squares(kept), epsilon));
        return affine.Of(normal, At(i, affine_axes));
      },
      name));
}

absl::StatusOr<Lowered> LowerLayerNorm(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, rank));
  return Normalize(call, in, axes, axes, "T_layer_norm");
}

// The axis of the channels, which is none of those reduced over.
absl::StatusOr<int> ChannelAxis(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, rank));
  KILN_ASSIGN_OR_RETURN(const int channel, call.Axis("channel_axis", rank));
  if (std::count(axes.begin(), axes.end(), channel) == 0) return channel;
  return call.Error("`channel_axis` is one of `axes`, too");
}

absl::StatusOr<StructInfo> InferInstanceNorm(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int channel, ChannelAxis(call, x->rank));
  return NormInfo(call, {channel});
}

absl::StatusOr<Lowered> LowerInstanceNorm(const OpCall& call,
                                          const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, rank));
  KILN_ASSIGN_OR_RETURN(const int channel, ChannelAxis(call, rank));
  return Normalize(call, in, axes, {channel}, "T_instance_norm");
}

// --- Groups.

absl::StatusOr<int64_t> NumGroups(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int64_t groups, call.Int("num_groups"));
  if (groups >= 1) return groups;
  return call.Error(absl::StrCat("`num_groups` is ", groups,
                                 "; there is at least one group"));
}

absl::StatusOr<StructInfo> InferGroupNorm(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int channel, ChannelAxis(call, x->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t groups, NumGroups(call));
  const Expr channels = ExtentOf(call, 0, channel);
  if (channels && !call.IsMultiple(channels, groups)) {
    return call.ErrorAt(0, absl::StrCat("its channels are no multiple of the ",
                                        groups, " groups"));
  }
  return NormInfo(call, {channel});
}

// The dimension of channels as two: the group, and the channel in it.
struct Grouped {
  int channel;
  Expr per_group;
  Extents Split(Extents i) const {
    const Expr whole = i[channel];
    i[channel] = FloorDiv(whole, per_group);
    i.insert(i.begin() + channel + 1, FloorMod(whole, per_group));
    return i;
  }
  Extents Joined(Extents i) const {
    i[channel] = Add(Mul(i[channel], per_group), i[channel + 1]);
    i.erase(i.begin() + channel + 1);
    return i;
  }
};

Sample SampleOfGroups(const te::Tensor& x, const Grouped& grouped,
                      int64_t groups, const std::vector<int>& axes) {
  const Sample whole = SampleOf(x, axes);
  Sample sample = whole;
  sample.extents[grouped.channel] = Int(groups);
  sample.extents.insert(sample.extents.begin() + grouped.channel + 1,
                        grouped.per_group);
  sample.is_reduced.insert(sample.is_reduced.begin() + grouped.channel + 1,
                           true);
  sample.element = [whole, grouped](const Extents& i) {
    return whole.element(grouped.Joined(i));
  };
  return sample;
}

// The mean and the inverse deviation of each channel's group.
struct ChannelMoments {
  te::Tensor mean, scale;
};

// `whole` has the channels that `sample` has in groups. Elements read what is
// their own channel's: to find that of the group takes longer than to normalize
// them.
ChannelMoments MomentsOfChannels(const Sample& sample, const Sample& whole,
                                 const Grouped& grouped, const Moments& moments,
                                 double epsilon) {
  const int channel = static_cast<int>(
      std::count(whole.is_reduced.begin(),
                 whole.is_reduced.begin() + grouped.channel, false));
  const auto of_group = [&](Extents at) {
    at[channel] = FloorDiv(at[channel], grouped.per_group);
    return at;
  };
  const Extents channels = whole.Kept(whole.extents);
  const auto mean = [&](const Extents& at) -> te::Value {
    return moments.mean(of_group(at));
  };
  const auto scale = [&](const Extents& at) -> te::Value {
    return InverseDeviation(sample, moments.squares(of_group(at)), epsilon);
  };
  return {te::Compute(channels, mean, "x_channel_mean"),
          te::Compute(channels, scale, "x_channel_scale")};
}

absl::StatusOr<Lowered> LowerGroupNorm(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, rank));
  KILN_ASSIGN_OR_RETURN(const int channel, ChannelAxis(call, rank));
  KILN_ASSIGN_OR_RETURN(const int64_t groups, NumGroups(call));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  KILN_ASSIGN_OR_RETURN(const Affine affine, AffineOf(call, in));
  const Grouped grouped{channel, FloorDiv(in[0].shape()[channel], Int(groups))};
  const Sample sample = SampleOfGroups(in[0], grouped, groups, axes);
  const Sample whole = SampleOf(in[0], axes);
  const ChannelMoments moments =
      MomentsOfChannels(sample, whole, grouped, MomentsOf(sample), epsilon);
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Extents at = whole.Kept(i);
        const Expr normal =
            Mul(Sub(whole.element(i), moments.mean(at)), moments.scale(at));
        return affine.Of(normal, {i[channel]});
      },
      "T_group_norm"));
}

// --- Roots of mean squares.

absl::StatusOr<Lowered> LowerRmsNorm(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOfNorm(call, rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  const Sample sample = SampleOf(in[0], axes);
  const te::Tensor squares = SumOver(
      sample,
      [&](const Extents& i) {
        return Mul(sample.element(i), sample.element(i));
      },
      "T_multiply_red");
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Expr scale =
            InverseDeviation(sample, squares(sample.Kept(i)), epsilon);
        const Expr weight = Cast(scale.dtype(), in[1](At(i, axes)));
        return Cast(in[0].dtype(), Mul(Mul(sample.element(i), weight), scale));
      },
      "T_rms_norm"));
}

constexpr OpRow kRows[] = {
    {"nn.group_norm", InferGroupNorm, LowerGroupNorm},
    {"nn.instance_norm", InferInstanceNorm, LowerInstanceNorm},
    {"nn.layer_norm", InferLayerNorm, LowerLayerNorm},
    {"nn.rms_norm", InferLayerNorm, LowerRmsNorm},
};

// --- What all have in common.

absl::Status CheckFactor(const OpCall& call, size_t arg, size_t rank,
                         DType dtype) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* factor, call.Tensor(arg));
  KILN_RETURN_IF_ERROR(
      CheckKnownRank(call, arg, *factor, static_cast<int>(rank)));
  if (factor->dtype == dtype) return absl::OkStatus();
  return call.ErrorAt(arg, absl::StrCat("`", call.ArgName(arg),
                                        "` has another type than the data; "
                                        "convert it by R.astype"));
}

}  // namespace

absl::StatusOr<bool> CheckNorm(const OpCall& call,
                               const std::vector<int>& axes) {
  KILN_RETURN_IF_ERROR(CheckCount(call, call.name() == "nn.rms_norm" ? 2 : 3));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, FloatTensor(call, 0));
  for (size_t arg = 1; arg < call.size(); ++arg) {
    KILN_RETURN_IF_ERROR(CheckFactor(call, arg, axes.size(), x->dtype));
  }
  bool is_certain = true;
  for (size_t d = 0; d < axes.size(); ++d) {
    const bool is_ranked = x->rank != graph::kUnknownRank;
    Expr first = is_ranked ? ExtentOf(call, 0, axes[d]) : Expr();
    for (size_t arg = 1; arg < call.size(); ++arg) {
      const Expr extent = ExtentOf(call, arg, static_cast<int>(d));
      KILN_RETURN_IF_ERROR(CheckExtent(call, arg, static_cast<int>(d), first,
                                       "what it meets has"));
      if (extent && !first) first = extent;
      is_certain = is_certain &&
                   (!extent || call.analyzer().CanProveEqual(extent, first));
    }
  }
  return is_certain;
}

absl::StatusOr<StructInfo> NormInfo(const OpCall& call,
                                    const std::vector<int>& axes) {
  KILN_ASSIGN_OR_RETURN(const bool is_certain, CheckNorm(call, axes));
  if (is_certain) return call.info(0);
  const auto* x = call.info(0).As<graph::TensorInfo>();
  return graph::TensorOfRank(x->rank, x->dtype, x->device);
}

absl::StatusOr<Affine> AffineOf(const OpCall& call, const Inputs& inputs) {
  KILN_ASSIGN_OR_RETURN(const bool scales, call.Bool("scale"));
  KILN_ASSIGN_OR_RETURN(const bool centers, call.Bool("center"));
  return Affine{inputs[1], inputs[2], scales, centers};
}

Expr Affine::Of(const Expr& normal, const Extents& at) const {
  Expr value = Cast(gamma.dtype(), normal);
  if (scales) value = Mul(value, gamma(at));
  if (centers) value = Add(value, beta(at));
  return value;
}

absl::Span<const OpRow> NormOps() { return kRows; }

}  // namespace kiln
