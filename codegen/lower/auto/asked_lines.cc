#include "kiln/codegen/lower/auto/asked_lines.h"

#include "kiln/ir/arith/index_normalizer.h"

namespace kiln::lower {

bool AskedLines::Add(const Buffer& buffer, const Expr& index) {
  Linear form = ToLinear(index);
  const int64_t line = line_bytes_ / buffer->dtype.bytes();
  for (const auto& [other, asked] : lines_) {
    if (other != buffer.get()) continue;
    const Linear apart = Difference(form, asked);
    if (!apart.is_constant()) continue;
    if (apart.constant == 0 || (apart.constant > 0 && apart.constant < line)) {
      return false;
    }
  }
  lines_.emplace_back(buffer.get(), std::move(form));
  return true;
}

Expr Plus(const Expr& index, int64_t apart) {
  const auto* sum = index.As<BinaryNode>();
  const int64_t* known =
      sum && sum->kind == ExprKind::kAdd ? AsInt(sum->b) : nullptr;
  if (apart == 0) return index;
  return known ? Add(sum->a, Int(*known + apart)) : Add(index, Int(apart));
}

Stmt Prefetch(const Buffer& buffer, const Expr& index, bool writes,
              int locality) {
  const Expr address =
      Call(DType::Handle(), Intrinsic::kAddressOf, {Load(buffer, {index})});
  return MakeEvaluate(
      Call(DType::Int(32), Intrinsic::kPrefetch,
           {address, Int(writes ? 1 : 0), Int(locality), Int(1)}));
}

}  // namespace kiln::lower
