// One walk over the program meets every place in order, counts those that suit
// the kind, and changes the one that is wanted:
//
//   for k in 1024:                          for k in 1023:
//     C[0:16] = C[0:16] + A[k] * B[...]  →    C[0:16] = C[0:16] + A[k] * B[...]
//
// is place 0 of "last iteration left out". Conditions around a place are put to
// the iteration that is chosen, so that a fault is not hidden behind one that
// does not hold there.
#include "kiln/tests/mutation/mutate.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/codegen/lower/verify_lowered.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::mutation {
namespace {

// The constant extent of a loop; 0 where it is not constant.
int64_t ExtentOf(const ForNode& loop) {
  const int64_t* extent = AsInt(loop.extent);
  return extent && AsInt(loop.min) ? *extent : 0;
}

bool SameIndex(const Expr& a, const Expr& b) {
  Analyzer analyzer;
  const auto* x = a.As<RampNode>();
  const auto* y = b.As<RampNode>();
  if (x && y) {
    return x->lanes == y->lanes && analyzer.CanProveEqual(x->base, y->base) &&
           analyzer.CanProveEqual(x->stride, y->stride);
  }
  return !x && !y && a.dtype() == b.dtype() && a.dtype().lanes() == 1 &&
         analyzer.CanProveEqual(a, b);
}

// The element that a store adds to, where its value is a sum with it.
std::optional<Expr> OldValue(const StoreNode& store) {
  const auto* sum = store.value.As<BinaryNode>();
  if (!sum || sum->kind != ExprKind::kAdd) return std::nullopt;
  std::optional<Expr> old;
  Visit(store.value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load && load->buffer == store.buffer &&
        SameIndex(load->indices[0], store.indices[0])) {
      old = e;
    }
    const auto* binary = e.As<BinaryNode>();
    return binary && binary->kind == ExprKind::kAdd;
  });
  return old;
}

bool IsConstant(const Expr& e) {
  if (const auto* broadcast = e.As<BroadcastNode>()) {
    return IsConstant(broadcast->value);
  }
  if (const auto* call = e.As<CallNode>()) return call->args.empty();
  return AsInt(e) || e.As<FloatImmNode>();
}

// `index` one further, but not beyond the buffer; null for other indices.
Expr Shifted(const Buffer& buffer, const Expr& index) {
  const int64_t* size = AsInt(buffer->shape[0]);
  if (!size) return nullptr;
  if (const auto* ramp = index.As<RampNode>()) {
    const int64_t* stride = AsInt(ramp->stride);
    const int64_t last = stride ? *size - 1 - *stride * (ramp->lanes - 1) : 0;
    if (last < 1) return nullptr;
    return Ramp(Min(Add(ramp->base, Int(1)), Int(last)), ramp->stride,
                ramp->lanes);
  }
  if (index.dtype().lanes() != 1 || *size < 2) return nullptr;
  return Min(Add(index, Int(1)), Int(*size - 1));
}

Expr FirstLoad(const Expr& e) {
  Expr found;
  Visit(e, [&](const Expr& x) {
    if (!found && x.As<LoadNode>()) found = x;
    return !found;
  });
  return found;
}

bool IsOfOneBuffer(const Expr& a, const Expr& b) {
  const Expr x = FirstLoad(a), y = FirstLoad(b);
  return !x || !y || x.As<LoadNode>()->buffer == y.As<LoadNode>()->buffer;
}

// An operand in the place of another; null where none fits.
Expr WithWrongOperand(const Expr& e) {
  if (const auto* select = e.As<SelectNode>()) {
    return Select(select->condition, select->false_value, select->true_value);
  }
  const auto* binary = e.As<BinaryNode>();
  if (!binary || !e.dtype().is_float()) return nullptr;
  switch (binary->kind) {
    case ExprKind::kSub:
    case ExprKind::kDiv:
      return Binary(binary->kind, binary->b, binary->a);
    case ExprKind::kMax:
      return Min(binary->a, binary->b);
    case ExprKind::kMin:
      return Max(binary->a, binary->b);
    case ExprKind::kMul:
      // The square of one factor, where they come from different buffers.
      return IsOfOneBuffer(binary->a, binary->b) ? Expr()
                                                 : Mul(binary->b, binary->b);
    default:
      return nullptr;
  }
}

class Walk {
 public:
  Walk(FaultKind kind, int64_t wanted, uint64_t seed, bool is_witness = false)
      : kind_(kind), is_witness_(is_witness), wanted_(wanted), random_(seed) {}

  Stmt Change(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) return ChangeLoop(*loop, s);
    if (const auto* store = s.As<StoreNode>()) return ChangeStore(*store, s);
    if (const auto* branch = s.As<IfNode>()) return ChangeIf(*branch);
    return MapChildren(s, [&](const Stmt& child) { return Change(child); });
  }

  int64_t count() const { return count_; }
  const std::string& place() const { return place_; }

 private:
  // Counts a place; whether it is the one to change.
  bool Take(const std::string& what) {
    if (count_++ != wanted_) return false;
    std::vector<std::string> names;
    for (const ForNode* loop : loops_) names.push_back(loop->var.name());
    place_ = names.empty()
                 ? what
                 : absl::StrCat(what, " under ", absl::StrJoin(names, ", "));
    return true;
  }

  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % n); }

  Stmt ChangeIf(const IfNode& branch) {
    conditions_.push_back(branch.condition);
    Stmt yes = Change(branch.then_case);
    conditions_.back() = Not(branch.condition);
    Stmt no = branch.else_case ? Change(branch.else_case) : nullptr;
    conditions_.pop_back();
    return MakeIf(branch.condition, std::move(yes), std::move(no));
  }

  Stmt ChangeLoop(const ForNode& loop, const Stmt& s) {
    if (Stmt changed = FaultyLoop(loop, s)) return changed;
    loops_.push_back(&loop);
    Stmt body = Change(loop.body);
    loops_.pop_back();
    return WithBody(loop, std::move(body));
  }

  // Null where the loop is not the place.
  Stmt FaultyLoop(const ForNode& loop, const Stmt& s) {
    const int64_t extent = ExtentOf(loop);
    if (extent < 2) return nullptr;
    const std::string name =
        absl::StrCat("loop ", loop.var.name(), " of ", extent);
    const Expr last = Add(loop.min, Int(extent - 1));
    switch (kind_) {
      case FaultKind::kLastIteration:
        if (!DoesSomethingAt(loop, last) || !Take(name)) return nullptr;
        return WithExtent(loop, extent - 1);
      case FaultKind::kBorderTile:
        if (!loops_.empty() || !HoldsLoop(loop.body) ||
            !DoesSomethingAt(loop, last) || !Take(name)) {
          return nullptr;
        }
        return WithBody(loop, MakeIf(LT(loop.var, last), loop.body));
      case FaultKind::kTap: {
        if (extent > 16 || !AddsUp(loop)) return nullptr;
        const Expr tap = Add(loop.min, Int(Pick(extent)));
        if (!DoesSomethingAt(loop, tap)) return nullptr;
        if (!Take(absl::StrCat(name, ", iteration ", *AsInt(tap)))) {
          return nullptr;
        }
        return WithBody(loop, MakeIf(Not(EQ(loop.var, tap)), loop.body));
      }
      case FaultKind::kRace:
        return RacyLoop(loop, s, name);
      case FaultKind::kOneTerm:
      case FaultKind::kReadShift:
      case FaultKind::kLane:
      case FaultKind::kWriteShift:
      case FaultKind::kOperand:
      case FaultKind::kNoInit:
      case FaultKind::kConstant:
        return nullptr;
    }
    return nullptr;
  }

  static Stmt WithExtent(const ForNode& loop, int64_t extent) {
    ForFields fields = loop.fields();
    fields.extent = Int(extent);
    return MakeFor(std::move(fields));
  }

  static bool HoldsLoop(const Stmt& s) {
    bool found = false;
    Visit(s, [&](const Stmt& node) {
      found |= node.As<ForNode>() != nullptr;
      return !found;
    });
    return found;
  }

  // Whether a store below adds to what does not move with the loop and does not
  // belong to one iteration.
  static bool AddsUp(const ForNode& loop) {
    bool found = false;
    std::vector<Buffer> own;
    Visit(loop.body, [&](const Stmt& node) {
      const auto* allocate = node.As<AllocateNode>();
      const auto* store = node.As<StoreNode>();
      if (allocate) own.push_back(allocate->buffer);
      found |= store && OldValue(*store) &&
               !UsesVar(store->indices[0], loop.var) &&
               std::find(own.begin(), own.end(), store->buffer) == own.end();
      return !found;
    });
    return found;
  }

  // Whether the buffer lies in memory: one whose elements all have constant
  // places becomes registers, of each iteration its own whatever is declared.
  static bool IsInMemory(const Stmt& body, const Buffer& buffer) {
    bool found = false;
    Visit(body, [&](const Stmt& node) {
      const auto* store = node.As<StoreNode>();
      found |=
          store && store->buffer == buffer && store->indices[0]->var_bits != 0;
      return !found;
    });
    return found;
  }

  // Whether some store below runs in that iteration and adds no padding.
  bool DoesSomethingAt(const ForNode& loop, const Expr& iteration) {
    loops_.push_back(&loop);
    bool found = false;
    std::vector<const ForNode*> inner;
    Visit(loop.body, [&](const Stmt& node) {
      if (const auto* below = node.As<ForNode>()) inner.push_back(below);
      return true;
    });
    VarMap values = Middle(inner);
    values[loop.var.get()] = iteration;
    found = AnyStoreRuns(loop.body, values);
    loops_.pop_back();
    return found;
  }

  bool AnyStoreRuns(const Stmt& s, const VarMap& values) {
    if (const auto* branch = s.As<IfNode>()) {
      const int holds = Decide(branch->condition, values);
      if (holds != 0 && AnyStoreRuns(branch->then_case, values)) return true;
      return holds != 1 && branch->else_case &&
             AnyStoreRuns(branch->else_case, values);
    }
    if (const auto* store = s.As<StoreNode>()) {
      return ConditionsHold(values) && TakesNoPadding(*store, values);
    }
    bool found = false;
    ForEachChild(s, [&](const Stmt& child) {
      found = found || AnyStoreRuns(child, values);
    });
    return found;
  }

  // 1: true, 0: false, -1: unknown.
  static int Decide(const Expr& condition, const VarMap& values) {
    Analyzer analyzer;
    const Expr value = analyzer.Simplify(Substitute(condition, values));
    const int64_t* known = AsInt(value);
    return known ? *known != 0 : -1;
  }

  bool ConditionsHold(const VarMap& values) const {
    return std::all_of(conditions_.begin(), conditions_.end(),
                       [&](const Expr& c) { return Decide(c, values) == 1; });
  }

  // Whether every choice in the value is for its first branch.
  static bool TakesNoPadding(const StoreNode& store, const VarMap& values) {
    bool takes = true;
    Visit(store.value, [&](const Expr& e) {
      const auto* select = e.As<SelectNode>();
      const auto* call = e.As<CallNode>();
      if (select) takes &= Decide(select->condition, values) == 1;
      if (call && call->op == Intrinsic::kIfThenElse) {
        takes &= Decide(call->args[0], values) == 1;
      }
      return takes;
    });
    return takes;
  }

  // Every loop around, and the given ones, near the middle.
  VarMap Middle(const std::vector<const ForNode*>& inner) {
    VarMap values;
    auto add = [&](const ForNode* loop) {
      const int64_t extent = ExtentOf(*loop);
      if (extent < 1) return;
      const int64_t middle = extent / 2 - (extent > 8 ? Pick(extent / 8) : 0);
      values[loop->var.get()] = Add(loop->min, Int(middle));
    };
    for (const ForNode* loop : loops_) add(loop);
    for (const ForNode* loop : inner) add(loop);
    return values;
  }

  // The loop made parallel, where its iterations add to the same elements or
  // work in one buffer.
  Stmt RacyLoop(const ForNode& loop, const Stmt& s, const std::string& name) {
    const auto* allocate = loop.body.As<AllocateNode>();
    if (loop.for_kind == ForKind::kParallel && allocate && !allocate->is_view &&
        IsInMemory(allocate->body, allocate->buffer)) {
      if (!Take(absl::StrCat("one ", allocate->buffer->name,
                             " for all iterations of ", name))) {
        return nullptr;
      }
      return MakeAllocate(allocate->buffer, WithBody(loop, allocate->body),
                          false, allocate->annotations);
    }
    // Enough work for iterations to meet.
    if (loop.for_kind != ForKind::kSerial || ExtentOf(loop) < 8 ||
        !AddsUp(loop) || !Take(absl::StrCat("parallel ", name))) {
      return nullptr;
    }
    parallel_ = loop.id;
    return s;
  }

 public:
  // The loop to make parallel in a program without other parallel loops.
  LoopId parallel() const { return parallel_; }

 private:
  Stmt ChangeStore(const StoreNode& store, const Stmt& s) {
    const std::string name = absl::StrCat(store.buffer->name, "[...] = ...");
    switch (kind_) {
      case FaultKind::kTap:
        // An unrolled one.
        return OldValue(store) && RunsInTheMiddle(store) && Take(name)
                   ? MakeEvaluate(Int(0))
                   : s;
      case FaultKind::kOneTerm:
        return WithoutOneTerm(store, s, name);
      case FaultKind::kReadShift:
        return WithShiftedRead(store, s);
      case FaultKind::kLane:
        return WithoutLane(store, s, name);
      case FaultKind::kWriteShift: {
        const Expr shifted = Shifted(store.buffer, store.indices[0]);
        if (!shifted || !RunsInTheMiddle(store) || !Take(name)) return s;
        return MakeStore(store.buffer, store.value, {shifted});
      }
      case FaultKind::kOperand:
        return WithChange(store, s, name,
                          [](const Expr& e) { return WithWrongOperand(e); });
      case FaultKind::kNoInit:
        if (!IsConstant(store.value) || !RunsInTheMiddle(store) ||
            !Take(name)) {
          return s;
        }
        return is_witness_ ? WithHugeValue(store) : MakeEvaluate(Int(0));
      case FaultKind::kConstant:
        return WithChange(store, s, name, [](const Expr& e) {
          const auto* imm = e.As<FloatImmNode>();
          return imm ? Float(imm->value + 1, imm->dtype) : Expr();
        });
      case FaultKind::kLastIteration:
      case FaultKind::kBorderTile:
      case FaultKind::kRace:
        return s;
    }
    return s;
  }

  static Stmt WithHugeValue(const StoreNode& store) {
    const DType dtype = store.value.dtype();
    const Expr huge = Constant(dtype.is_float() ? 1e30 : 113, dtype.Element());
    return MakeStore(store.buffer, Broadcast(huge, dtype.lanes()),
                     store.indices);
  }

  bool RunsInTheMiddle(const StoreNode& store) {
    const VarMap values = Middle({});
    return ConditionsHold(values) && TakesNoPadding(store, values);
  }

  // Skips the store in one iteration of all loops around it.
  Stmt WithoutOneTerm(const StoreNode& store, const Stmt& s,
                      const std::string& name) {
    if (!OldValue(store)) return s;
    const VarMap values = Middle({});
    if (values.size() != loops_.size() || !ConditionsHold(values) ||
        !TakesNoPadding(store, values) || !Take(name)) {
      return s;
    }
    Expr there = Bool(true);
    for (const auto& [var, value] : values) {
      there = And(there, EQ(Var(var), value));
      absl::StrAppend(&place_, ", ", var->name, " = ", *AsInt(value));
    }
    return MakeIf(Not(there), s);
  }

  // Changes one subexpression of the value, in the first place that suits.
  Stmt WithChange(const StoreNode& store, const Stmt& s,
                  const std::string& name,
                  FunctionRef<Expr(const Expr&)> change) {
    if (!RunsInTheMiddle(store)) return s;
    bool done = false;
    const Expr value = Rewrite(store.value, [&](const Expr& e) {
      Expr changed = done || e.As<LoadNode>() ? Expr() : change(e);
      if (e.As<LoadNode>()) return e;
      if (!changed || !Take(name)) return Expr();
      done = true;
      return changed;
    });
    return done ? MakeStore(store.buffer, value, store.indices) : s;
  }

  Stmt WithShiftedRead(const StoreNode& store, const Stmt& s) {
    if (!RunsInTheMiddle(store)) return s;
    bool done = false;
    const Expr value = Rewrite(store.value, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      if (!load) return Expr();
      const Expr shifted = Shifted(load->buffer, load->indices[0]);
      if (!shifted || !Take("read of " + load->buffer->name)) return e;
      done = true;
      return Load(load->buffer, {shifted});
    });
    return done ? MakeStore(store.buffer, value, store.indices) : s;
  }

  // What a lane holds that is not stored. Where nothing was there before, zero:
  // what a compiler makes of an undefined value may be what is right.
  static Expr WithoutStore(const StoreNode& store, int lanes) {
    if (LoadsFrom(store.value, store.buffer)) {
      return Load(store.buffer, store.indices);
    }
    return Broadcast(Constant(0, store.buffer->dtype), lanes);
  }

  Stmt WithoutLane(const StoreNode& store, const Stmt& s,
                   const std::string& name) {
    const int lanes = store.value.dtype().lanes();
    if (lanes < 2 || !store.indices[0].As<RampNode>() ||
        store.buffer->dtype.lanes() > 1 || !RunsInTheMiddle(store)) {
      return s;
    }
    const int lane = static_cast<int>(Pick(lanes));
    if (!Take(absl::StrCat(name, ", lane ", lane, " of ", lanes))) return s;
    const Expr here =
        EQ(Ramp(Int(0), Int(1), lanes), Broadcast(Int(lane), lanes));
    return MakeStore(store.buffer,
                     Select(here, WithoutStore(store, lanes), store.value),
                     store.indices);
  }

  const FaultKind kind_;
  const bool is_witness_;
  const int64_t wanted_;
  std::mt19937_64 random_;
  int64_t count_ = 0;
  LoopId parallel_ = -1;
  std::string place_;
  std::vector<const ForNode*> loops_;
  std::vector<Expr> conditions_;
};

// The loop made parallel and all others serial.
Stmt OnlyParallel(const Stmt& s, LoopId id) {
  const Stmt below = MapChildren(
      s, [&](const Stmt& child) { return OnlyParallel(child, id); });
  const auto* loop = below.As<ForNode>();
  if (!loop) return below;
  ForFields fields = loop->fields();
  fields.for_kind = fields.id == id ? ForKind::kParallel : ForKind::kSerial;
  return MakeFor(std::move(fields));
}

}  // namespace

std::vector<FaultKind> AllFaultKinds() {
  return {
#define KILN_KIND(kind, name) FaultKind::k##kind,
      KILN_MUTATION_KINDS(KILN_KIND)
#undef KILN_KIND
  };
}

std::string_view FaultName(FaultKind kind) {
  switch (kind) {
#define KILN_CASE(kind, name) \
  case FaultKind::k##kind:    \
    return name;
    KILN_MUTATION_KINDS(KILN_CASE)
#undef KILN_CASE
  }
  return "";
}

int64_t CountPlaces(const Function& lowered, FaultKind kind, uint64_t seed) {
  Walk walk(kind, -1, seed);
  walk.Change(lowered.body);
  return walk.count();
}

std::optional<Mutant> PutIn(const Function& lowered, FaultKind kind,
                            int64_t place, uint64_t seed) {
  Walk walk(kind, place, seed);
  Mutant mutant = {kind, "", lowered, lowered};
  mutant.function.body = walk.Change(lowered.body);
  mutant.place = walk.place();
  if (walk.parallel() >= 0) {
    mutant.function.body = OnlyParallel(mutant.function.body, walk.parallel());
  }
  if (!VerifyLowered(mutant.function).ok()) return std::nullopt;
  Walk worst(kind, place, seed, /*is_witness=*/true);
  mutant.witness.body = kind == FaultKind::kNoInit ? worst.Change(lowered.body)
                                                   : mutant.function.body;
  return mutant;
}

}  // namespace kiln::mutation
