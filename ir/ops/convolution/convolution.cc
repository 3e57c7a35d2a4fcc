#include "kiln/ir/ops/convolution/convolution.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/broadcast.h"

namespace kiln {

absl::StatusOr<Convolution> ConvolutionOf(const OpCall& call, size_t spatial) {
  const std::string names = AxesOf("NC", spatial);
  KILN_ASSIGN_OR_RETURN(const Layout data,
                        LayoutOf(call, "data_layout", names));
  KILN_ASSIGN_OR_RETURN(const Layout kernel,
                        LayoutOf(call, "kernel_layout", AxesOf("OI", spatial)));
  KILN_ASSIGN_OR_RETURN(const Layout out,
                        LayoutOr(call, "out_layout", names, data));
  KILN_ASSIGN_OR_RETURN(const Windows windows, WindowsOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const int64_t groups, call.Int("groups"));
  if (groups < 1 || groups > INT32_MAX) {
    return call.Error(
        absl::StrCat("`groups` is ", groups, "; there is at least one group"));
  }
  return Convolution{spatial, data, kernel, out, windows, groups};
}

absl::StatusOr<DType> ConvolvedType(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  KILN_RETURN_IF_ERROR(call.Tensor(1).status());
  KILN_ASSIGN_OR_RETURN(const DType wanted, call.Type("out_dtype"));
  if (!wanted.is_void()) return wanted;
  return CommonType(call);
}

absl::StatusOr<graph::StructInfo> ConvolvedInfo(
    const OpCall& call, const Convolution& conv,
    const std::optional<Extents>& axes) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ConvolvedType(call));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* data, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* weight, call.Tensor(1));
  const std::string& device =
      data->device.empty() ? weight->device : data->device;
  if (!axes) return graph::TensorOfRank(conv.out.rank(), dtype, device);
  KILN_ASSIGN_OR_RETURN(
      Extents shape,
      SimplifiedExtents(call,
                        conv.out.Extents(AxesOf("NC", conv.spatial), *axes)));
  return graph::Tensor(std::move(shape), dtype, device);
}

absl::Status CheckGroups(const OpCall& call, size_t arg, const Expr& channels,
                         int64_t groups) {
  if (call.IsMultiple(channels, groups)) return absl::OkStatus();
  return call.ErrorAt(arg, absl::StrCat("its channels are no multiple of the ",
                                        groups, " groups"));
}

Expr PerGroup(const Expr& channels, int64_t groups) {
  return groups == 1 ? channels : FloorDiv(channels, Int(groups));
}

std::vector<te::IterVar> SumAxes(const Expr& channels, const Extents& kernel) {
  static constexpr const char* kTaps[] = {"rz", "ry", "rx"};
  std::vector<te::IterVar> axes = {te::ReduceAxis(Int(0), channels, "rc")};
  const size_t spatial = kernel.size() - 2;
  for (size_t d = 0; d < spatial; ++d) {
    axes.push_back(
        te::ReduceAxis(Int(0), kernel[2 + d], kTaps[spatial == 3 ? d : d + 1]));
  }
  return axes;
}

absl::Span<const OpRow> ConvolutionOps() {
  static const auto& rows = *new std::vector<OpRow>(
      JoinRows({PlainConvolutions(), TransposedConvolutions()}));
  return rows;
}

}  // namespace kiln
