#include "kiln/codegen/lower/vector/complete_ragged_sums.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "kiln/codegen/lower/vector/near_lanes.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// A vector of a buffer, or one element: elements first, first + 1, ...
struct Lanes {
  int64_t first;
  int count;
};

std::optional<Lanes> LanesOf(const Expr& index) {
  if (const int64_t* element = AsInt(index)) return Lanes{*element, 1};
  const auto* ramp = index.As<RampNode>();
  if (!ramp || !IsOne(ramp->stride)) return std::nullopt;
  const int64_t* first = AsInt(ramp->base);
  if (!first) return std::nullopt;
  return Lanes{*first, ramp->lanes};
}

// Expressions of the first lanes of wider vectors in all lanes of those: zero
// where the first lanes end.
class Widener {
 public:
  Widener(int lanes, Expr mask) : lanes_(lanes), mask_(std::move(mask)) {}

  // Null for what is no sum or product of loads: one number for all lanes may
  // be infinite, and is no zero times zero.
  Expr Run(const Expr& e) const {
    if (e.As<LoadNode>()) return RunLoad(e);
    const auto* pair = e.As<BinaryNode>();
    if (!pair || !(e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub ||
                   e.kind() == ExprKind::kMul)) {
      return nullptr;
    }
    const Expr a = Run(pair->a), b = Run(pair->b);
    return a && b ? Binary(e.kind(), a, b) : nullptr;
  }

 private:
  Expr RunLoad(const Expr& e) const {
    const auto* load = e.As<LoadNode>();
    const auto* ramp = load->indices[0].As<RampNode>();
    const bool is_near = e.dtype().is_scalar() || (ramp && IsOne(ramp->stride));
    if (!is_near || e.dtype().bits() < lower::kLeastMaskedBits ||
        !e.dtype().is_float() || load->buffer->scope == "local") {
      return nullptr;
    }
    const Expr first = ramp ? ramp->base : load->indices[0];
    const Expr all = Load(load->buffer, {Ramp(first, Int(1), lanes_)});
    const Expr zeros = Broadcast(Constant(0, e.dtype().Element()), lanes_);
    return Call(all.dtype(), Intrinsic::kIfThenElse, {mask_, all, zeros});
  }

  int lanes_;
  Expr mask_;
};

class Completer {
 public:
  explicit Completer(const Machine& machine) : machine_(machine) {}

  Stmt Run(const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) return RunStore(s, *store);
    if (const auto* allocate = s.As<AllocateNode>()) {
      const BufferNode* buffer = allocate->buffer.get();
      if (!allocate->is_view) full_[buffer];
      Stmt result = RunChildren(s);
      full_.erase(buffer);
      return result;
    }
    const auto* loop = s.As<ForNode>();
    if (loop && loop->for_kind == ForKind::kParallel) {
      return Completer(machine_).RunChildren(s);  // others may be at the lanes
    }
    return RunChildren(s);
  }

 private:
  Stmt RunChildren(const Stmt& s) {
    return MapChildren(s, [this](const Stmt& child) { return Run(child); });
  }

  Stmt RunStore(const Stmt& s, const StoreNode& store) {
    const auto buffer = full_.find(store.buffer.get());
    const std::optional<Lanes> lanes = LanesOf(store.indices[0]);
    if (buffer == full_.end() || !lanes) return s;
    int& full = buffer->second[lanes->first];
    if (lanes->count < full) return Complete(s, store, full);
    if (FillsARegister(*lanes, *store.buffer)) full = lanes->count;
    return s;
  }

  // One, or a part of one, and surely within the buffer.
  bool FillsARegister(const Lanes& lanes, const BufferNode& buffer) const {
    const int64_t* size = AsInt(buffer.shape[0]);
    return size && lanes.first + lanes.count <= *size &&
           lanes.count <= machine_.vectors.Lanes(buffer.dtype.bytes());
  }

  // The store, of the first lanes of `full` that were stored before.
  Stmt Complete(const Stmt& s, const StoreNode& store, int full) const {
    const auto* sum = store.value.As<BinaryNode>();
    if (!sum || store.value.kind() != ExprKind::kAdd) return s;
    const auto* before = sum->a.As<LoadNode>();
    if (!before || before->buffer != store.buffer ||
        !SameExpr(before->indices[0], store.indices[0])) {
      return s;
    }
    const Lanes lanes = *LanesOf(store.indices[0]);
    const Expr mask = LT(Ramp(Int(0), Int(1), full), Int(lanes.count));
    const Expr added = Widener(full, mask).Run(sum->b);
    if (!added) return s;
    const Expr index = Ramp(Int(lanes.first), Int(1), full);
    const Expr all = Load(store.buffer, {index});
    return MakeStore(store.buffer, Add(all, added), {index});
  }

  const Machine& machine_;
  // Of buffers that are allocated around: lanes of the last vector that was
  // stored, by its first element.
  std::map<const BufferNode*, std::map<int64_t, int>> full_;
};

}  // namespace

absl::StatusOr<Function> CompleteRaggedSums(Function f,
                                            const Machine& machine) {
  if (machine.vectors.masked && !IsStrict(f)) {
    Stmt body = Completer(machine).Run(f.body);
    f.body = std::move(body);
  }
  return f;
}

}  // namespace kiln
