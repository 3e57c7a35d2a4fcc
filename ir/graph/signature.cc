// A row for each op: its name, its arguments, its attributes with the values
// that a script may leave out. To add an op, add a row here, in the order of
// names within its family, and what it means in ir/ops.
//
//   {"nn.softmax", "data", "axis=-1"}
//
// An attribute without a value has to be given. An attribute whose default
// depends on others (out_layout) has None.
#include "kiln/ir/graph/signature.h"

#include <algorithm>

namespace kiln::graph {
namespace {

struct Row {
  std::string_view name, args, attrs;
};

constexpr std::string_view kPool1 =
    "pool_size=1, strides=1, dilation=1, padding=0, ceil_mode=False, "
    "count_include_pad=False, layout=\"NCW\", out_layout=None";
constexpr std::string_view kPool2 =
    "pool_size=[1, 1], strides=[1, 1], dilation=[1, 1], padding=[0, 0], "
    "ceil_mode=False, count_include_pad=False, layout=\"NCHW\", "
    "out_layout=None";
constexpr std::string_view kPool3 =
    "pool_size=[1, 1, 1], strides=[1, 1, 1], dilation=[1, 1, 1], "
    "padding=[0, 0, 0], ceil_mode=False, count_include_pad=False, "
    "layout=\"NCDHW\", out_layout=None";
constexpr std::string_view kReduced = "axis=None, keepdims=False";

constexpr Row kOneByOne[] = {
    {"abs", "x", ""},
    {"acos", "x", ""},
    {"acosh", "x", ""},
    {"asin", "x", ""},
    {"asinh", "x", ""},
    {"astype", "x", "dtype="},
    {"atan", "x", ""},
    {"atanh", "x", ""},
    {"bitwise_not", "x", ""},
    {"ceil", "x", ""},
    {"clip", "x, min, max", ""},
    {"cos", "x", ""},
    {"cosh", "x", ""},
    {"erf", "x", ""},
    {"exp", "x", ""},
    {"floor", "x", ""},
    {"isfinite", "x", ""},
    {"isinf", "x", ""},
    {"isnan", "x", ""},
    {"log", "x", ""},
    {"logical_not", "x", ""},
    {"negative", "x", ""},
    {"nn.gelu", "data", ""},
    {"nn.gelu_tanh", "data", ""},
    {"nn.leakyrelu", "data", "alpha=0.01"},
    {"nn.prelu", "data, alpha", "axis=1"},
    {"nn.relu", "data", ""},
    {"nn.relu6", "data", ""},
    {"nn.selu", "data", ""},
    {"nn.silu", "data", ""},
    {"nn.softplus", "data", "beta=1.0, threshold=20.0"},
    {"round", "x", ""},
    {"rsqrt", "x", ""},
    {"sigmoid", "x", ""},
    {"sign", "x", ""},
    {"sin", "x", ""},
    {"sinh", "x", ""},
    {"sqrt", "x", ""},
    {"square", "x", ""},
    {"tan", "x", ""},
    {"tanh", "x", ""},
    {"trunc", "x", ""},
};

constexpr Row kOfTwo[] = {
    {"add", "x1, x2", ""},           {"atan2", "x1, x2", ""},
    {"bitwise_and", "x1, x2", ""},   {"bitwise_or", "x1, x2", ""},
    {"bitwise_xor", "x1, x2", ""},   {"divide", "x1, x2", ""},
    {"equal", "x1, x2", ""},         {"floor_divide", "x1, x2", ""},
    {"floor_mod", "x1, x2", ""},     {"greater", "x1, x2", ""},
    {"greater_equal", "x1, x2", ""}, {"left_shift", "x1, x2", ""},
    {"less", "x1, x2", ""},          {"less_equal", "x1, x2", ""},
    {"log_add_exp", "x1, x2", ""},   {"logical_and", "x1, x2", ""},
    {"logical_or", "x1, x2", ""},    {"logical_xor", "x1, x2", ""},
    {"maximum", "x1, x2", ""},       {"minimum", "x1, x2", ""},
    {"mod", "x1, x2", ""},           {"multiply", "x1, x2", ""},
    {"not_equal", "x1, x2", ""},     {"power", "x1, x2", ""},
    {"right_shift", "x1, x2", ""},   {"subtract", "x1, x2", ""},
    {"ewise_fma", "x1, x2, x3", ""}, {"where", "condition, x1, x2", ""},
};

constexpr Row kReductions[] = {
    {"argmax", "x", kReduced},
    {"argmin", "x", kReduced},
    {"cumprod", "data", "axis=None, dtype=None, exclusive=False"},
    {"cumsum", "data", "axis=None, dtype=None, exclusive=False"},
    {"max", "x", kReduced},
    {"mean", "x", kReduced},
    {"median", "x", kReduced},
    {"min", "x", kReduced},
    {"prod", "x", kReduced},
    {"std", "x", kReduced},
    {"sum", "x", kReduced},
    {"variance", "x", kReduced},
    {"collapse_sum_like", "data, collapse_target", ""},
    {"collapse_sum_to", "data, shape", ""},
};

constexpr Row kShapes[] = {
    {"broadcast_to", "x, shape", ""},
    {"concat", "tensors", "axis=0"},
    {"dynamic_strided_slice", "x, begin, end, strides", ""},
    {"expand_dims", "x", "axis="},
    {"flatten", "x", ""},
    {"flip", "data", "axis="},
    {"gather_elements", "data, indices", "axis=0"},
    {"gather_nd", "data, indices", "batch_dims=0"},
    {"index_put", "data, indices, values", "accumulate=False"},
    {"index_tensor", "data, indices", ""},
    {"layout_transform", "x",
     "index_map=, pad_value=None, axis_separators=[], "
     "input_axis_separators=[]"},
    {"meshgrid", "tensors", "indexing=\"ij\""},
    {"nonzero", "x", ""},
    {"one_hot", "indices, on_value, off_value", "depth=, axis=-1"},
    {"permute_dims", "x", "axes=None"},
    {"repeat", "data", "repeats=, axis=None"},
    {"reshape", "x, shape", ""},
    {"reverse_sequence", "data, seq_lengths", "seq_axis=1, batch_axis=0"},
    {"scatter_elements", "data, indices, updates",
     "axis=0, reduction=\"update\""},
    {"scatter_nd", "data, indices, updates", "reduction=\"update\""},
    {"slice_scatter", "input, src, start, end, step", "axis=0"},
    {"split", "x", "indices_or_sections=, axis=0"},
    {"squeeze", "x", "axis=None"},
    {"stack", "tensors", "axis=0"},
    {"strided_slice", "x, axes, begin, end, strides", "assume_inbound=False"},
    {"take", "x, indices", "axis=None, mode=\"fast\""},
    {"tile", "data", "repeats="},
    {"unique", "x, sorted, return_index, return_inverse, return_counts, axis",
     ""},
};

constexpr Row kMakers[] = {
    {"arange", "start, end, step", "dtype="},
    {"bucketize", "input_tensor, boundaries", "out_int32=False, right=False"},
    {"eye", "n, m, k", "dtype="},
    {"eye_like", "x, k", "dtype=None"},
    {"full", "shape, fill_value", "dtype=None"},
    {"full_like", "x, fill_value", "dtype=None"},
    {"hamming_window", "window_size, periodic, alpha, beta",
     "dtype=\"float32\""},
    {"multinomial_from_uniform", "prob, uniform_sample, sample_indices",
     "dtype=\"int64\""},
    {"ones", "shape", "dtype="},
    {"ones_like", "x", "dtype=None"},
    {"tril", "x, k", ""},
    {"triu", "x, k", ""},
    {"zeros", "shape", "dtype="},
    {"zeros_like", "x", "dtype=None"},
};

constexpr Row kOrder[] = {
    {"argsort", "data", "axis=-1, descending=False, dtype=\"int32\""},
    {"sort", "x", "axis=-1, descending=False"},
    {"topk", "data",
     "k=1, axis=-1, ret_type=\"both\", largest=True, dtype=\"int32\""},
};

constexpr Row kProducts[] = {
    {"einsum", "operands", "subscripts="},
    {"matmul", "x1, x2", "out_dtype=None"},
    {"outer", "x1, x2", ""},
    {"nn.attention", "query, key, value",
     "scale=None, causal_mask=None, window_size=None"},
    {"nn.attention_bias", "query, key, value, bias",
     "scale=None, causal_mask=None, window_size=None"},
    {"nn.attention_var_len",
     "queries, keys, values, seqstart_q, seqstart_k, max_seqlen_q, "
     "max_seqlen_k",
     "scale=None, causal_mask=None, window_size=None"},
    {"nn.conv1d", "data, weight",
     "strides=1, padding=0, dilation=1, groups=1, data_layout=\"NCW\", "
     "kernel_layout=\"OIW\", out_layout=None, out_dtype=None"},
    {"nn.conv1d_transpose", "data, weight",
     "strides=1, padding=0, output_padding=0, dilation=1, groups=1, "
     "data_layout=\"NCW\", kernel_layout=\"IOW\", out_layout=None, "
     "out_dtype=None"},
    {"nn.conv2d", "data, weight",
     "strides=1, padding=0, dilation=1, groups=1, data_layout=\"NCHW\", "
     "kernel_layout=\"OIHW\", out_layout=None, out_dtype=None"},
    {"nn.conv2d_transpose", "data, weight",
     "strides=1, padding=0, output_padding=0, dilation=1, groups=1, "
     "data_layout=\"NCHW\", kernel_layout=\"IOHW\", out_layout=None, "
     "out_dtype=None"},
    {"nn.conv3d", "data, weight",
     "strides=1, padding=0, dilation=1, groups=1, data_layout=\"NCDHW\", "
     "kernel_layout=\"OIDHW\", out_layout=None, out_dtype=None"},
    {"nn.conv3d_transpose", "data, weight",
     "strides=1, padding=0, output_padding=0, dilation=1, groups=1, "
     "data_layout=\"NCDHW\", kernel_layout=\"IODHW\", out_layout=None, "
     "out_dtype=None"},
};

constexpr Row kNetworks[] = {
    {"nn.adaptive_avg_pool1d", "data",
     "output_size=None, layout=\"NCW\", out_layout=None"},
    {"nn.adaptive_avg_pool2d", "data",
     "output_size=None, layout=\"NCHW\", out_layout=None"},
    {"nn.adaptive_avg_pool3d", "data",
     "output_size=None, layout=\"NCDHW\", out_layout=None"},
    {"nn.avg_pool1d", "data", kPool1},
    {"nn.avg_pool2d", "data", kPool2},
    {"nn.avg_pool3d", "data", kPool3},
    {"nn.batch_flatten", "data", ""},
    {"nn.batch_norm", "data, gamma, beta, moving_mean, moving_var",
     "axis=, epsilon=1e-05, center=True, scale=True, momentum=0.1, "
     "training=True"},
    {"nn.cross_entropy_with_logits", "predictions, labels", ""},
    {"nn.dropout", "data", "rate=0.5"},
    {"nn.group_norm", "data, gamma, beta",
     "num_groups=, channel_axis=, axes=, epsilon=1e-05, center=True, "
     "scale=True"},
    {"nn.instance_norm", "data, gamma, beta",
     "channel_axis=, axes=, epsilon=1e-05, center=True, scale=True"},
    {"nn.layer_norm", "data, gamma, beta",
     "axes=, epsilon=1e-05, center=True, scale=True"},
    {"nn.log_softmax", "data", "axis=-1"},
    {"nn.max_pool1d", "data", kPool1},
    {"nn.max_pool2d", "data", kPool2},
    {"nn.max_pool3d", "data", kPool3},
    {"nn.nll_loss", "predictions, targets, weights",
     "reduction=\"mean\", ignore_index=-100"},
    {"nn.pad", "data", "pad_width=, pad_value=0.0, pad_mode=\"constant\""},
    {"nn.pixel_shuffle", "data", "upscale_factor="},
    {"nn.rms_norm", "data, weight", "axes=-1, epsilon=1e-05"},
    {"nn.softmax", "data", "axis=-1"},
    {"dequantize", "data, scale, zero_point", "out_dtype=\"float32\", axis=-1"},
    {"quantize", "data, scale, zero_point", "out_dtype=\"int8\", axis=-1"},
    {"grad.avg_pool2d_backward", "output_grad, data", kPool2},
    {"grad.end_checkpoint", "input", ""},
    {"grad.max_pool2d_backward", "output_grad, data", kPool2},
    {"grad.nll_loss_backward", "output_grad, predictions, targets, weights",
     "reduction=\"mean\", ignore_index=-100"},
    {"grad.no_grad", "input", ""},
    {"grad.start_checkpoint", "input", ""},
    {"grad.take_backward", "output_grad, x, indices",
     "axis=None, mode=\"fast\""},
};

constexpr Row kImages[] = {
    {"image.affine_grid", "data, size", "align_corners=True"},
    {"image.grid_sample", "data, grid",
     "method=\"bilinear\", layout=\"NCHW\", padding_mode=\"zeros\", "
     "align_corners=True"},
    {"image.resize2d", "data, size",
     "roi=[0.0, 0.0, 0.0, 0.0], layout=\"NCHW\", method=\"linear\", "
     "coordinate_transformation_mode=\"half_pixel\", "
     "rounding_method=\"round\", cubic_alpha=-0.75, cubic_exclude=0, "
     "extrapolation_value=0.0, out_dtype=None"},
    {"image.resize3d", "data, size",
     "roi=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], layout=\"NCDHW\", "
     "method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "
     "rounding_method=\"\", cubic_alpha=-0.75, cubic_exclude=0, "
     "extrapolation_value=0.0, out_dtype=None"},
    {"vision.all_class_non_max_suppression",
     "boxes, scores, max_output_boxes_per_class, iou_threshold, "
     "score_threshold",
     "output_format=\"onnx\""},
    {"vision.get_valid_counts", "data",
     "score_threshold=0, id_index=0, score_index=1"},
    {"vision.multibox_transform_loc", "cls_pred, loc_pred, anchor",
     "clip=False, threshold=0.0, variances=[1.0, 1.0, 1.0, 1.0], "
     "keep_background=True, apply_softmax=True"},
    {"vision.non_max_suppression", "data, valid_count, indices",
     "max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, "
     "coord_start=2, score_index=1, id_index=0, return_indices=True, "
     "invalid_to_bottom=False, soft_nms_sigma=0.0, score_threshold=0.0"},
    {"vision.roi_align", "data, rois",
     "pooled_size=, spatial_scale=, sample_ratio=-1, aligned=False, "
     "layout=\"NCHW\", mode=\"avg\""},
    {"vision.roi_pool", "data, rois",
     "pooled_size=, spatial_scale=, layout=\"NCHW\""},
};

// Of the program rather than of its tensors.
constexpr Row kProgram[] = {
    {"assert_op", "condition, *", "format=\"\""},
    {"builtin.alloc_tensor", "shape, dtype, device_index, storage_scope", ""},
    {"builtin.stop_lift_params", "x", ""},
    {"call_inplace_packed", "func, *", "inplace_indices="},
    {"call_builtin_with_ctx", "func, args", ""},
    {"call_dps_packed", "func, args", ""},
    {"call_pure_packed", "func, *", ""},
    {"call_py_func", "func_name, args", ""},
    {"call_tir", "func, args, tir_vars", ""},
    {"call_tir_inplace", "func, args, tir_vars", "inplace_indices="},
    {"call_tir_with_grad", "func, args, tir_vars",
     "te_grad_name=, te_grad_kwargs={}"},
    {"ccl.allgather", "x", "num_workers=, in_group=True"},
    {"ccl.allreduce", "x", "op_type=\"sum\", in_group=True"},
    {"ccl.broadcast_from_worker0", "x", ""},
    {"ccl.scatter_from_worker0", "x", "num_workers=, axis=0"},
    {"hint_on_device", "data", "dst_vdevice=None"},
    {"inspect.tensor_byte_offset", "tensor", ""},
    {"inspect.tensor_dtype_bits", "tensor", ""},
    {"inspect.tensor_dtype_code", "tensor", ""},
    {"inspect.tensor_dtype_lanes", "tensor", ""},
    {"inspect.tensor_elem_offset", "tensor", ""},
    {"inspect.tensor_ndim", "tensor", ""},
    {"inspect.tensor_shape_i", "tensor, axis", ""},
    {"inspect.tensor_stride_i", "tensor, axis", ""},
    {"invoke_closure", "closure, args", ""},
    {"invoke_pure_closure", "closure, args", ""},
    {"make_closure", "func, args", ""},
    {"memory.alloc_storage", "size, device_index, storage_scope, dtype", ""},
    {"memory.alloc_tensor", "storage, offset, shape, dtype, device_index", ""},
    {"memory.ensure_zero_offset", "data", ""},
    {"memory.kill_storage", "storage", ""},
    {"memory.kill_tensor", "tensor", ""},
    {"memory.view", "data, shape, dtype, relative_byte_offset", ""},
    {"null_value", "", ""},
    {"print", "*", "format=\"\""},
    {"shape_of", "expr", ""},
    {"shape_to_tensor", "expr", ""},
    {"size", "expr", ""},
    {"tensor_to_shape", "expr", ""},
    {"to_vdevice", "data", "dst_vdevice=None"},
    {"vm.alloc_storage", "shape, device_index, dtype, storage_scope", ""},
    {"vm.alloc_tensor", "storage, offset, shape, dtype, device_index", ""},
    {"vm.call_tir_dyn", "func, args", ""},
    {"vm.kill_object", "obj", ""},
    {"wrap_param", "data", "dtype=\"float32\""},
};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "a=[1, 2], b" at its commas, but for those in brackets.
std::vector<std::string_view> Parts(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    const std::string_view part = Trimmed(list.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

OpSignature Signature(const Row& row) {
  OpSignature signature;
  signature.name = row.name;
  for (std::string_view arg : Parts(row.args)) {
    signature.args.emplace_back(arg);
  }
  for (std::string_view attr : Parts(row.attrs)) {
    const size_t equals = attr.find('=');
    signature.attrs.push_back({std::string(attr.substr(0, equals)),
                               std::string(attr.substr(equals + 1))});
  }
  return signature;
}

template <size_t n>
void Append(const Row (&rows)[n], std::vector<OpSignature>& all) {
  for (const Row& row : rows) all.push_back(Signature(row));
}

std::vector<OpSignature> All() {
  std::vector<OpSignature> all;
  Append(kOneByOne, all);
  Append(kOfTwo, all);
  Append(kReductions, all);
  Append(kShapes, all);
  Append(kMakers, all);
  Append(kOrder, all);
  Append(kProducts, all);
  Append(kNetworks, all);
  Append(kImages, all);
  Append(kProgram, all);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace

const AttributeSignature* OpSignature::FindAttribute(
    std::string_view attr) const {
  for (const AttributeSignature& known : attrs) {
    if (known.name == attr) return &known;
  }
  return nullptr;
}

const std::vector<OpSignature>& Signatures() {
  static const auto& all = *new std::vector<OpSignature>(All());
  return all;
}

const OpSignature* FindSignature(std::string_view op) {
  const std::vector<OpSignature>& all = Signatures();
  const auto at =
      std::lower_bound(all.begin(), all.end(), op,
                       [](const OpSignature& row, std::string_view name) {
                         return row.name < name;
                       });
  return at != all.end() && at->name == op ? &*at : nullptr;
}

}  // namespace kiln::graph
