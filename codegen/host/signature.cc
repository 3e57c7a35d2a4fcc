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

std::set<const BufferNode*> Written(const Stmt& body) {
  std::set<const BufferNode*> written;
  Visit(body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      written.insert(store->buffer.get());
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const BufferRegion& region : realize->block->writes) {
        written.insert(region.buffer.get());
      }
    }
    return true;
  });
  return written;
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
  ScalarNumbers numbers;
  auto add_scalar = [&](const Var& var) {
    numbers[var.get()] = static_cast<int>(signature.scalars.size());
    signature.scalars.push_back({var.name(), var.dtype()});
  };
  for (const Param& param : f.params) {
    if (!param.buffer) add_scalar(param.var);
  }
  for (const Var& dim : SymbolicDims(f)) add_scalar(dim);
  const std::set<const BufferNode*> written = Written(f.body);
  for (const Param& param : f.params) {
    if (!param.buffer) {
      signature.params.push_back(
          {KernelParam::Kind::kScalar, numbers[param.var.get()]});
      continue;
    }
    KILN_ASSIGN_OR_RETURN(KernelBuffer buffer,
                          MakeKernelBuffer(param.buffer, numbers));
    buffer.written = written.count(param.buffer.get()) > 0;
    signature.params.push_back({KernelParam::Kind::kBuffer,
                                static_cast<int>(signature.buffers.size())});
    signature.buffers.push_back(std::move(buffer));
  }
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  return signature;
}

}  // namespace kiln
