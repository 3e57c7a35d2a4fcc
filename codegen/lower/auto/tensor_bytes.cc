#include "kiln/codegen/lower/auto/tensor_bytes.h"

#include <algorithm>
#include <cstdint>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {

namespace {

Expr WithOpenDimsOfOne(const Expr& extent) {
  VarMap ones;
  for (const Var& var : FreeVars(extent)) ones[var.get()] = Int(1, var.dtype());
  return Analyzer().Simplify(Substitute(extent, ones));
}

}  // namespace

double BytesOf(const Buffer& buffer) {
  if (buffer->shape.size() != 1) return 0;
  const Expr extent = WithOpenDimsOfOne(buffer->shape[0]);
  const int64_t* size = AsInt(extent);
  return size && *size > 0 ? static_cast<double>(*size) * buffer->dtype.bytes()
                           : 0;
}

double TensorBytes(const Function& f) {
  double bytes = 0;
  for (const Param& param : f.params) {
    if (param.buffer) bytes += BytesOf(param.buffer);
  }
  Visit(f.body, [&](const Stmt& s) {
    const auto* allocate = s.As<AllocateNode>();
    if (allocate && !allocate->is_view) bytes += BytesOf(allocate->buffer);
    return true;
  });
  return bytes;
}

double ShareOfCore(double bytes, absl::Span<const ForNode* const> loops,
                   const Expr& index, int cores) {
  double parts = 1;
  for (const ForNode* loop : loops) {
    const int64_t* extent = AsInt(loop->extent);
    if (loop->for_kind != ForKind::kParallel || !UsesVar(index, loop->var))
      continue;
    parts *= extent ? static_cast<double>(*extent) : cores;
  }
  return bytes / std::clamp<double>(parts, 1, cores);
}

}  // namespace kiln::lower
