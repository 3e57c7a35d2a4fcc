#include "kiln/codegen/lower/auto/nest.h"

#include <algorithm>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

class Finder {
 public:
  std::optional<Nest> Run(const Stmt& s);

 private:
  bool AddLoops(const Stmt& s);
  bool AddStore();
  bool CheckValue(const Expr& e);
  bool CheckLoad(const LoadNode& load);
  bool CheckCall(const CallNode& call);
  bool IsInjective() const;
  void MarkUses(const Expr& e);

  Nest nest_;
};

bool Finder::AddLoops(const Stmt& s) {
  const Stmt* at = &s;
  while (const auto* loop = at->As<ForNode>()) {
    const int64_t* extent = AsInt(loop->extent);
    const bool runs_here = loop->for_kind == ForKind::kSerial ||
                           loop->for_kind == ForKind::kUnrolled ||
                           loop->for_kind == ForKind::kVectorized;
    if (!runs_here || !extent || *extent < 1 || !IsZero(loop->min)) {
      return false;
    }
    nest_.loops.push_back({loop, *extent});
    at = &loop->body;
  }
  nest_.store = at->As<StoreNode>();
  return nest_.store != nullptr && !nest_.loops.empty();
}

bool IsFlat(const Buffer& buffer, const std::vector<Expr>& indices) {
  return indices.size() == 1 && indices[0].dtype() == DType::Index() &&
         buffer->dtype.is_scalar() && !buffer->data;
}

// Whether `form` has `var` elsewhere than as an atom.
bool Hides(const Linear& form, const VarNode* var) {
  return form.HidesVar([&](const VarNode* v) { return v == var; });
}

bool Finder::AddStore() {
  const StoreNode& store = *nest_.store;
  if (!IsFlat(store.buffer, store.indices) || store.buffer->dtype.is_bool()) {
    return false;
  }
  const Linear form = ToLinear(store.indices[0]);
  for (NestLoop& loop : nest_.loops) {
    if (loop.extent == 1) continue;
    if (Hides(form, loop.loop->var.get())) return false;
    loop.stride = form.Coefficient(loop.loop->var.get());
    if (loop.stride < 0) return false;
  }
  return IsInjective();
}

// Each stride is longer than all shorter ones together can reach.
bool Finder::IsInjective() const {
  std::vector<const NestLoop*> spatial;
  for (const NestLoop& loop : nest_.loops) {
    if (loop.is_spatial()) spatial.push_back(&loop);
  }
  std::sort(spatial.begin(), spatial.end(),
            [](auto* a, auto* b) { return a->stride < b->stride; });
  int64_t reach = 0;
  for (const NestLoop* loop : spatial) {
    if (loop->stride <= reach) return false;
    reach += loop->stride * (loop->extent - 1);
  }
  return !spatial.empty();
}

void Finder::MarkUses(const Expr& e) {
  for (NestLoop& loop : nest_.loops) {
    if (loop.is_plain && UsesVar(e, loop.loop->var)) loop.is_plain = false;
  }
}

bool Finder::CheckLoad(const LoadNode& load) {
  if (!IsFlat(load.buffer, load.indices)) return false;
  if (load.buffer == nest_.store->buffer) {
    nest_.is_update = true;
    const Linear apart = Difference(ToLinear(load.indices[0]),
                                    ToLinear(nest_.store->indices[0]));
    return apart.is_constant() && apart.constant == 0;
  }
  const Linear form = ToLinear(load.indices[0]);
  NestAccess access{&load, {}, {}};
  for (NestLoop& loop : nest_.loops) {
    const VarNode* var = loop.loop->var.get();
    const bool hides = Hides(form, var);
    const int64_t stride = hides ? 0 : form.Coefficient(var);
    access.strides.push_back(stride);
    access.uses.push_back(loop.extent > 1 && (hides || stride != 0));
    if (hides) loop.is_plain = false;
  }
  nest_.loads.push_back(std::move(access));
  bool reads_stored = false;
  for (const Term& term : form.terms) {
    reads_stored |= LoadsFrom(term.atom, nest_.store->buffer);
  }
  return !reads_stored;
}

bool Finder::CheckCall(const CallNode& call) {
  if (GetIntrinsicInfo(call.op).purity != Purity::kPure ||
      call.op == Intrinsic::kCallPureExtern ||
      call.op == Intrinsic::kCallLlvmPureIntrin) {
    return false;
  }
  if (call.op == Intrinsic::kIfThenElse) MarkUses(call.args[0]);
  return true;
}

bool Finder::CheckValue(const Expr& e) {
  if (const auto* load = e.As<LoadNode>()) return CheckLoad(*load);
  if (e.kind() == ExprKind::kLet || !e.dtype().is_scalar()) return false;
  if (e.kind() == ExprKind::kVar) MarkUses(e);
  const auto* call = e.As<CallNode>();
  if (call && !CheckCall(*call)) return false;
  bool is_good = true;
  ForEachOperand(e, [&](const Expr& x) { is_good = is_good && CheckValue(x); });
  return is_good;
}

std::optional<Nest> Finder::Run(const Stmt& s) {
  if (!AddLoops(s) || !AddStore() || !CheckValue(nest_.store->value)) {
    return std::nullopt;
  }
  return std::move(nest_);
}

}  // namespace

std::optional<Nest> FindNest(const Stmt& s) { return Finder().Run(s); }

}  // namespace kiln::lower
