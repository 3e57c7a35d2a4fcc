// All spellings of a declaration have their parameters in common, which Fill
// reads into a node. An address or offset that the declaration leaves open is a
// variable of the buffer where the program speaks of it, as A.data or
// A.elem_offset, and is absent elsewhere; which names the program mentions is
// known before (function_reader.cc).
//
//   A = T.match_buffer(a, (16, 16), offset_factor=1)
//     with A.elem_offset below:   elem_offset = A_elem_offset, a new variable
//     without:                    elem_offset is null, which counts as 0
//
// A buffer of T.allocate is named by its address. Every address leads back to
// its buffer (context_.data_of), whose regions a block states that only hands
// the address on.
#include "kiln/ir/text/reader/buffer_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/literal.h"

namespace kiln::script {
bool BufferReader::IsBufferAnnotation(const py::Expr& annotation) {
  const bool applied = annotation.kind == py::ExprKind::kCall ||
                       annotation.kind == py::ExprKind::kSubscript;
  return applied && TensorName(annotation.items[0]) == "Buffer";
}

absl::Status BufferReader::CheckSize(const BufferNode& buffer,
                                     py::Position at) const {
  int64_t bytes = buffer.dtype.bytes();
  for (const Expr& extent : buffer.shape) {
    const int64_t* known = AsInt(extent);
    if (known == nullptr) continue;
    if (*known < 0) {
      return context_.Error(
          at,
          absl::StrCat("`", buffer.name, "` has the negative extent ", *known));
    }
    if (__builtin_mul_overflow(bytes, *known, &bytes)) {
      return context_.Error(at, absl::StrCat("the extents of `", buffer.name,
                                             "` multiply to more bytes than an "
                                             "int64 can count"));
    }
  }
  return absl::OkStatus();
}

absl::Status BufferReader::Fill(const py::Arguments& args, BufferNode& node,
                                const py::Expr& call) {
  KILN_ASSIGN_OR_RETURN(const py::Expr* shape, args.Require("shape"));
  KILN_ASSIGN_OR_RETURN(node.shape, exprs_.Shape(*shape));
  node.dtype = DType::Float(32);
  if (const py::Expr* dtype = args.GetUnlessNone("dtype")) {
    KILN_ASSIGN_OR_RETURN(node.dtype, exprs_.Type(*dtype));
  }
  if (node.dtype.is_void()) {
    return context_.Error(call.begin, "a buffer of void holds nothing");
  }
  if (const py::Expr* strides = args.GetUnlessNone("strides")) {
    KILN_ASSIGN_OR_RETURN(node.strides, exprs_.Shape(*strides));
    if (!node.strides.empty() && node.strides.size() != node.shape.size()) {
      return context_.Error(strides->begin,
                            "there is one stride for each dimension");
    }
  }
  if (const py::Expr* offset = args.GetUnlessNone("elem_offset")) {
    KILN_ASSIGN_OR_RETURN(node.elem_offset, exprs_.Index(*offset));
  }
  if (const py::Expr* scope = args.GetUnlessNone("scope")) {
    KILN_ASSIGN_OR_RETURN(node.scope, exprs_.String(*scope));
  }
  if (const py::Expr* align = args.GetUnlessNone("align")) {
    KILN_ASSIGN_OR_RETURN(node.alignment,
                          py::IntegerValue(context_.source, *align));
    if (node.alignment <= 0) node.alignment = 64;
  }
  if (const py::Expr* factor = args.GetUnlessNone("offset_factor")) {
    KILN_ASSIGN_OR_RETURN(node.offset_factor,
                          py::IntegerValue(context_.source, *factor));
  }
  return CheckSize(node, shape->begin);
}

// Makes a variable of an offset or an address that the program mentions but
// does not give.
void BufferReader::OpenFields(BufferNode& node, BufferRole role) {
  const bool outer =
      role == BufferRole::kParameter || role == BufferRole::kMatch;
  if (outer && !node.elem_offset && context_.named_offset.count(node.name)) {
    node.elem_offset = Var(node.name + "_elem_offset");
  }
  if (!node.data && context_.named_data.count(node.name)) {
    node.data = Var(node.name + "_data", DType::Handle());
  }
}

void BufferReader::Remember(const Buffer& buffer) {
  if (buffer->data) context_.data_of.emplace(buffer->data.get(), buffer);
}

// Where a buffer lives that does not say so.
static std::string DefaultScope(const std::string& callee) {
  if (callee == "alloc_local") return "local";
  return callee == "alloc_shared" ? "shared" : "global";
}

absl::StatusOr<Buffer> BufferReader::Declare(const std::string& name,
                                             const py::Expr& call,
                                             BufferRole role) {
  const py::Source& source = context_.source;
  const bool match = TensorName(call.items[0]) == "match_buffer";
  KILN_ASSIGN_OR_RETURN(
      py::Arguments args,
      match ? py::Arguments::Bind(
                  source, call,
                  {"param", "shape", "dtype", "data", "strides", "elem_offset",
                   "scope", "align", "offset_factor", "buffer_type",
                   "axis_separators", "logical_scope", "layout", "annotations"})
            : py::Arguments::Bind(
                  source, call,
                  {"shape", "dtype", "data", "strides", "elem_offset", "scope",
                   "align", "offset_factor", "buffer_type", "axis_separators",
                   "logical_scope", "layout", "annotations"}));
  auto* node = new BufferNode;
  Buffer buffer(node);
  node->name = name;
  node->scope = DefaultScope(TensorName(call.items[0]));
  KILN_RETURN_IF_ERROR(Fill(args, *node, call));
  if (const py::Expr* data = args.GetUnlessNone("data")) {
    KILN_ASSIGN_OR_RETURN(Value address, exprs_.Read(*data));
    const auto* var = address.expr.As<VarNode>();
    if (var == nullptr || !var->dtype.is_handle()) {
      return context_.Error(data->begin,
                            "the data of a buffer is an address: A.data, or "
                            "what T.allocate gave");
    }
    node->data = Var(var);
  }
  OpenFields(*node, role);
  Remember(buffer);
  return buffer;
}

absl::StatusOr<Buffer> BufferReader::Annotation(const std::string& name,
                                                const py::Expr& annotation) {
  py::Expr call = annotation;  // T.Buffer[a, b] reads like T.Buffer(a, b)
  call.kind = py::ExprKind::kCall;
  return Declare(name, call, BufferRole::kParameter);
}

absl::StatusOr<Buffer> BufferReader::Allocated(const std::string& name,
                                               const py::Expr& call,
                                               AttrMap& annotations) {
  KILN_ASSIGN_OR_RETURN(py::Arguments args,
                        py::Arguments::Bind(context_.source, call,
                                            {"shape", "dtype", "scope",
                                             "condition", "annotations"}));
  auto* node = new BufferNode;
  Buffer buffer(node);
  node->name = name;
  KILN_RETURN_IF_ERROR(Fill(args, *node, call));
  node->data = Var(name, DType::Handle());
  if (const py::Expr* notes = args.GetUnlessNone("annotations")) {
    KILN_ASSIGN_OR_RETURN(annotations, exprs_.AttributeMap(*notes));
  }
  Remember(buffer);
  return buffer;
}

}  // namespace kiln::script
