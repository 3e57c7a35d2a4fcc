#include "kiln/codegen/llvm/transposed_copy.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::codegen_internal {
namespace {

constexpr int64_t kLeastSide = 2, kMostSide = 16;
constexpr int64_t kLeastSquare = 4;

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

// Whether both are of one copy.
bool GoesOn(const Gathering& row, const Gathering& start) {
  return row.load->buffer == start.load->buffer &&
         row.store->buffer == start.store->buffer &&
         row.stride == start.stride && row.load->dtype == start.load->dtype;
}

bool IsSide(int64_t size) { return size >= kLeastSide && size <= kMostSide; }

// Where lanes fill the side of a square it ends there.
int64_t MostStores(int64_t lanes) {
  return lanes >= kLeastSquare && std::has_single_bit<uint64_t>(lanes)
             ? lanes
             : kMostSide;
}

}  // namespace

std::optional<TransposedCopy> FindTransposedCopy(absl::Span<const Stmt> stmts) {
  if (stmts.empty()) return std::nullopt;
  const std::optional<Gathering> start = FindGathering(stmts[0]);
  if (!start) return std::nullopt;
  const int64_t lanes = start->load->dtype.lanes();
  if (!IsSide(lanes)) return std::nullopt;
  TransposedCopy copy{
      start->load->buffer, start->first, start->stride, lanes, {}};
  const Linear first = ToLinear(start->first);
  const size_t most = std::min<size_t>(stmts.size(), MostStores(lanes));
  for (const Stmt& s : stmts.first(most)) {
    const std::optional<Gathering> row = FindGathering(s);
    if (!row || !GoesOn(*row, *start)) break;
    const Linear step = Difference(ToLinear(row->first), first);
    if (!step.is_constant() || step.constant != std::ssize(copy.stores)) break;
    copy.stores.push_back(row->store);
  }
  const int64_t rows = std::ssize(copy.stores);
  if (!IsSide(rows) || std::abs(copy.stride) < std::max(rows, lanes)) {
    return std::nullopt;
  }
  return copy;
}

}  // namespace kiln::codegen_internal
