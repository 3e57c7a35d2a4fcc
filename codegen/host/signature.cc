#include "kiln/codegen/host/signature.h"

#include <set>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using ScalarNumbers = std::unordered_map<const VarNode*, int>;

// Buffers that `body` writes, and the addresses of those that are views.
std::set<const Node*> Written(const Stmt& body) {
  std::set<const Node*> written;
  auto add = [&](const Buffer& buffer) {
    written.insert(buffer.get());
    if (buffer->data) written.insert(buffer->data.get());
  };
  Visit(body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) add(store->buffer);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const BufferRegion& region : realize->block->writes) {
        add(region.buffer);
      }
    }
    return true;
  });
  return written;
}

bool DeclaresNoalias(const Function& f) {
  for (const char* name : {"tir.noalias", "tirx.noalias"}) {
    const auto found = f.attrs.find(name);
    const Expr* value = found == f.attrs.end() ? nullptr : found->second.expr();
    const int64_t* known = value ? AsInt(*value) : nullptr;
    if (known && *known != 0) return true;
  }
  return false;
}

absl::StatusOr<KernelDim> MakeDim(const Buffer& buffer, const Expr& extent,
                                  const ScalarNumbers& scalars) {
  if (const int64_t* known = AsInt(extent)) return KernelDim::Constant(*known);
  auto found = scalars.find(extent.As<VarNode>());
  if (found != scalars.end()) return KernelDim::Symbolic(found->second);
  return absl::InvalidArgumentError(
      absl::StrCat("parameter ", buffer->name,
                   " has an extent that is neither a number nor "
                   "a variable; name it as a dimension of its own"));
}

absl::StatusOr<KernelBuffer> MakeKernelBuffer(const Buffer& buffer,
                                              const ScalarNumbers& scalars) {
  if (!buffer->strides.empty() ||
      (buffer->elem_offset && !IsZero(buffer->elem_offset))) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", buffer->name,
                     " has strides or an offset; only compact "
                     "row-major parameters can be called"));
  }
  KernelBuffer result;
  result.name = buffer->name;
  result.dtype = buffer->dtype;
  result.alignment =
      KernelAlignment(buffer->alignment, buffer->dtype.Element().bytes());
  for (const Expr& extent : buffer->shape) {
    KILN_ASSIGN_OR_RETURN(KernelDim dim, MakeDim(buffer, extent, scalars));
    result.shape.push_back(dim);
  }
  return result;
}

}  // namespace

absl::StatusOr<KernelSignature> MakeSignature(const Function& f) {
  KernelSignature signature;
  signature.name = f.name;
  signature.noalias = DeclaresNoalias(f);
  ScalarNumbers numbers;
  auto add_scalar = [&](const Var& var) {
    numbers[var.get()] = static_cast<int>(signature.scalars.size());
    signature.scalars.push_back({var.name(), var.dtype()});
  };
  for (const Param& param : f.params) {
    if (!param.buffer) add_scalar(param.var);
  }
  for (const Var& dim : SymbolicDims(f)) add_scalar(dim);
  const std::set<const Node*> written = Written(f.body);
  for (const Param& param : f.params) {
    if (!param.buffer) {
      signature.params.push_back(
          {KernelParam::Kind::kScalar, numbers[param.var.get()]});
      continue;
    }
    KILN_ASSIGN_OR_RETURN(KernelBuffer buffer,
                          MakeKernelBuffer(param.buffer, numbers));
    buffer.written =
        written.count(param.buffer.get()) > 0 ||
        (param.buffer->data && written.count(param.buffer->data.get()) > 0);
    signature.params.push_back({KernelParam::Kind::kBuffer,
                                static_cast<int>(signature.buffers.size())});
    signature.buffers.push_back(std::move(buffer));
  }
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  return signature;
}

}  // namespace kiln
