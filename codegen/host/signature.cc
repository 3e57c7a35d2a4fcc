// A call brings shapes and scalars, so every extent of a signature is a number,
// a scalar by its place in the list, or arithmetic on these. Variables are
// numbered first, scalar parameters before symbolic dimensions; then the
// expressions of all buffers are translated. Of
//
//   def f(A: T.Buffer((n, m), ...), B: T.Buffer((n + m, (n + 1) // 2), ...))
//
// the scalars are n and m, and B has the shape s0 + s1, (s0 + 1) // 2. An
// expression of another kind, as a load, is refused with the operators that can
// be used. Whether the variables can be found from the arguments of a call is
// asked of the finished signature (CheckSignature).
#include "kiln/codegen/host/signature.h"

#include <optional>
#include <set>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/dim.h"
#include "kiln/ir/tensor/in_place.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

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

absl::StatusOr<KernelDim> MakeDim(const Buffer& buffer, const char* what,
                                  const Expr& e, const ScalarNumbers& scalars) {
  std::optional<KernelDim> dim = ToKernelDim(e, scalars);
  if (dim) return *std::move(dim);
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter ", buffer->name, " has the ", what, " ", PrintExpr(e),
      "; a call can tell numbers, variables, and what +, -, *, //, %, T.min, "
      "T.max and T.if_then_else make of them: name it as a variable of its "
      "own"));
}

absl::StatusOr<KernelBuffer> MakeKernelBuffer(const Buffer& buffer,
                                              const ScalarNumbers& scalars) {
  KernelBuffer result;
  result.name = buffer->name;
  result.dtype = buffer->dtype;
  result.alignment =
      KernelAlignment(buffer->alignment, buffer->dtype.Element().bytes());
  for (const Expr& extent : buffer->shape) {
    KILN_ASSIGN_OR_RETURN(KernelDim dim,
                          MakeDim(buffer, "extent", extent, scalars));
    result.shape.push_back(std::move(dim));
  }
  for (const Expr& stride : buffer->strides) {
    KILN_ASSIGN_OR_RETURN(KernelDim dim,
                          MakeDim(buffer, "stride", stride, scalars));
    result.strides.push_back(std::move(dim));
  }
  if (buffer->elem_offset) {
    KILN_ASSIGN_OR_RETURN(
        result.offset, MakeDim(buffer, "offset", buffer->elem_offset, scalars));
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
  KILN_ASSIGN_OR_RETURN(const std::vector<InPlacePair> pairs, InPlacePairs(f));
  for (const InPlacePair& pair : pairs) {
    const KernelParam& written = signature.params[pair.written];
    signature.buffers[written.index].in_place_of.push_back(
        signature.params[pair.read].index);
  }
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  return signature;
}

}  // namespace kiln
