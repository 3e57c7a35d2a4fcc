#include "kiln/codegen/llvm/transposed_copy.h"

#include <cstdlib>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::codegen_internal {
namespace {

constexpr int64_t kLeastSize = 4, kMostSize = 16;

// A store of consecutive elements whose lanes are loaded from elements that
// stand apart, and may be cast to another type.
struct Gathering {
  const StoreNode* store = nullptr;
  const LoadNode* load = nullptr;
  Expr first;
  int64_t stride = 0;
};

std::optional<Gathering> FindGathering(const Stmt& s) {
  const auto* store = s.As<StoreNode>();
  if (!store) return std::nullopt;
  const auto* cast = store->value.As<CastNode>();
  const auto* load = (cast ? cast->value : store->value).As<LoadNode>();
  if (!load || load->buffer == store->buffer) return std::nullopt;
  if (load->dtype.is_bool() || store->value.dtype().is_bool() ||
      !load->buffer->dtype.is_scalar()) {
    return std::nullopt;
  }
  const auto* to = store->indices[0].As<RampNode>();
  const auto* from = load->indices[0].As<RampNode>();
  if (!to || !from || !IsOne(to->stride)) return std::nullopt;
  const int64_t* stride = AsInt(from->stride);
  if (!stride || from->base.dtype() != DType::Index()) return std::nullopt;
  return Gathering{store, load, from->base, *stride};
}

bool IsSize(int64_t size) {
  return size >= kLeastSize && size <= kMostSize && (size & (size - 1)) == 0;
}

}  // namespace

std::optional<TransposedCopy> FindTransposedCopy(absl::Span<const Stmt> stmts) {
  if (stmts.empty()) return std::nullopt;
  const std::optional<Gathering> start = FindGathering(stmts[0]);
  if (!start) return std::nullopt;
  const int64_t size = start->load->dtype.lanes();
  if (!IsSize(size) || static_cast<int64_t>(stmts.size()) < size ||
      std::abs(start->stride) < size) {
    return std::nullopt;
  }
  TransposedCopy copy{
      start->load->buffer, start->first, start->stride, size, {}};
  const Linear first = ToLinear(start->first);
  for (int64_t i = 0; i < size; ++i) {
    const std::optional<Gathering> row = FindGathering(stmts[i]);
    if (!row || row->load->buffer != copy.source ||
        row->store->buffer != start->store->buffer ||
        row->stride != copy.stride || row->load->dtype.lanes() != size) {
      return std::nullopt;
    }
    const Linear step = Difference(ToLinear(row->first), first);
    if (!step.is_constant() || step.constant != i) return std::nullopt;
    copy.stores.push_back(row->store);
  }
  return copy;
}

}  // namespace kiln::codegen_internal
