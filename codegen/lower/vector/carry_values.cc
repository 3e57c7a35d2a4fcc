// A running sum reads what the iteration before has written, and a store that
// is loaded at once takes longer on its way than the addition:
//
//   for i in 100:                               y[0] = x[0]
//     y[i] = if_then_else(i == 0,          →    c[0] = y[0]
//         x[i], y[i - 1] + x[i])                for i in 1 .. 99:
//                                                 c[0] = c[0] + x[i]
//                                                 y[i] = c[0]
//
// The first iteration is the loop's body with the loop variable known, so that
// whatever it tests is decided there, and in the others as well. A store of the
// loop is carried where a load at its place of the iteration before stands in
// it or in a store above it, and no other store may reach the place between the
// two: all indices are linear, and differ by constants.
#include "kiln/codegen/lower/vector/carry_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kiln/codegen/lower/guards/known_conditions.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// More than a loop has.
constexpr int64_t kMostIterations = int64_t{1} << 40;

// Elements of a buffer side by side: one, or those of a vector.
struct Place {
  Linear first;
  int lanes = 1;
};

std::optional<Place> PlaceOf(const Expr& index) {
  if (index.dtype().is_scalar()) return Place{ToLinear(index), 1};
  const auto* ramp = index.As<RampNode>();
  if (!ramp || !IsOne(ramp->stride)) return std::nullopt;
  return Place{ToLinear(ramp->base), ramp->lanes};
}

// The elements from the first of `b` to that of `a`; nullopt where that is no
// constant.
std::optional<int64_t> Distance(const Place& a, const Place& b) {
  const Linear difference = Difference(a.first, b.first);
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant;
}

// A store in a loop, and what is carried of it.
struct Stored {
  const StoreNode* store = nullptr;
  Place place;
  int64_t step = 0;  // elements from one iteration to the next
  Buffer carried;    // null where nothing is
  Expr index_of_carried;
};

// The stores of `body`, in their order; none where it holds anything else, or
// where a place is no linear one.
std::vector<Stored> StoresOf(const Stmt& body, const VarNode* var) {
  std::vector<Stored> stores;
  bool is_plain = true;
  Visit(body, [&](const Stmt& s) {
    if (s.As<SeqNode>()) return true;
    const auto* store = s.As<StoreNode>();
    const auto place =
        store ? PlaceOf(store->indices[0]) : std::optional<Place>();
    is_plain = is_plain && place && place->first.ok &&
               !store->indices[0]->has_loads &&
               !place->first.HidesVar([&](const auto* v) { return v == var; });
    if (!is_plain) return false;
    const int64_t step = place->first.Coefficient(var);
    stores.push_back({store, *place, step, nullptr, nullptr});
    return false;
  });
  return is_plain ? stores : std::vector<Stored>();
}

// Calls `use` on the loads that evaluating `e` evaluates in any case.
void ForEachSureLoad(const Expr& e, FunctionRef<void(const LoadNode&)> use) {
  Visit(e, [&](const Expr& part) {
    if (const auto* load = part.As<LoadNode>()) use(*load);
    return part.kind() != ExprKind::kSelect && part.kind() != ExprKind::kCall &&
           part.kind() != ExprKind::kAnd && part.kind() != ExprKind::kOr;
  });
}

class LoopCarrier {
 public:
  LoopCarrier(const Machine& machine, const Function& f)
      : machine_(machine), f_(f) {
    Visit(f.body, [&](const Stmt& s) {
      const auto* allocate = s.As<AllocateNode>();
      if (allocate && allocate->is_view) views_.insert(allocate->buffer.get());
      return true;
    });
  }

  Stmt Run(const Stmt& s) {
    const Stmt inner =
        MapChildren(s, [this](const Stmt& child) { return Run(child); });
    const auto* loop = inner.As<ForNode>();
    return loop ? RunLoop(inner, *loop) : inner;
  }

 private:
  Stmt RunLoop(const Stmt& s, const ForNode& loop) {
    const int64_t* min = AsInt(loop.min);
    const int64_t* extent = AsInt(loop.extent);
    if (loop.for_kind != ForKind::kSerial || !min || (extent && *extent < 2))
      return s;
    ForFields fields = loop.fields();
    fields.min = Int(*min + 1);
    fields.extent = Sub(loop.extent, Int(1));
    const Stmt body = InLaterIterations(fields);
    std::vector<Stored> stores = StoresOf(body, loop.var.get());
    if (!ChooseCarried(&stores)) return s;
    fields.body = Body(stores);
    const Stmt first =
        lower::ResolvePins(loop.body, {{Expr(loop.var), {*min, *min}}});
    Stmt result = Assembled(first, MakeFor(fields), stores, {loop.var, *min});
    return extent ? result : MakeIf(LT(Int(0), loop.extent), result);
  }

  // What is certain in all iterations is so in those of an open extent.
  static Stmt InLaterIterations(ForFields later) {
    if (!AsInt(later.extent)) later.extent = Int(kMostIterations);
    const Stmt loop = MakeFor(later);
    return lower::ResolveKnown(
        later.body, lower::CertainIn(later.body, {loop.As<ForNode>()}, {}));
  }

  // Gives a buffer to each store that is to be carried. False where there is
  // none, or where they would not stay in registers.
  bool ChooseCarried(std::vector<Stored>* stores) const {
    int registers = 0;
    for (size_t i = 0; i < stores->size(); ++i) {
      Stored& stored = (*stores)[i];
      if (!IsReadNext(*stores, i) || !IsUntilThenKept(*stores, i)) continue;
      const int lanes = stored.place.lanes;
      const DType dtype = stored.store->buffer->dtype;
      stored.carried =
          MakeBuffer(absl::StrCat(stored.store->buffer->name, "_carried"),
                     dtype, {Int(lanes)}, "local");
      stored.index_of_carried =
          lanes == 1 ? Int(0) : Ramp(Int(0), Int(1), lanes);
      const int of_one = machine_.vectors.Lanes(dtype.bytes());
      registers += (lanes + of_one - 1) / of_one;
    }
    return registers > 0 && registers <= machine_.vectors.count / 2;
  }

  // Whether the place of stores[i] in the iteration before is surely loaded
  // there or above.
  static bool IsReadNext(const std::vector<Stored>& stores, size_t i) {
    bool is_read = false;
    for (size_t j = 0; j <= i && stores[i].step != 0; ++j) {
      ForEachSureLoad(stores[j].store->value, [&](const LoadNode& load) {
        is_read = is_read || IsPlaceBefore(load, stores[i]);
      });
    }
    return is_read;
  }

  static bool IsPlaceBefore(const LoadNode& load, const Stored& stored) {
    if (load.buffer != stored.store->buffer) return false;
    const std::optional<Place> place = PlaceOf(load.indices[0]);
    return place && place->first.ok && place->lanes == stored.place.lanes &&
           Distance(*place, stored.place) == -stored.step;
  }

  // Whether no other store reaches the place of stores[i] in the iteration
  // after it, or after it in its own.
  bool IsUntilThenKept(const std::vector<Stored>& stores, size_t i) const {
    const Stored& kept = stores[i];
    return absl::c_all_of(stores, [&](const Stored& other) {
      if (&other == &kept) return true;
      if (other.store->buffer != kept.store->buffer)
        return AreApart(*other.store->buffer, *kept.store->buffer);
      const auto distance = Distance(other.place, kept.place);
      const int lanes = std::max(other.place.lanes, kept.place.lanes);
      return distance && std::abs(*distance) >= lanes &&
             std::abs(*distance + kept.step) >= lanes;
    });
  }

  bool AreApart(const BufferNode& a, const BufferNode& b) const {
    const auto is_parameter = [&](const BufferNode& buffer) {
      return absl::c_any_of(f_.params, [&](const Param& param) {
        return param.buffer.get() == &buffer;
      });
    };
    if (views_.contains(&a) || views_.contains(&b)) return false;
    return f_.attrs.contains("tir.noalias") || !is_parameter(a) ||
           !is_parameter(b);
  }

  // The loop's body with what is carried in its buffers.
  static Stmt Body(const std::vector<Stored>& stores) {
    std::vector<Stmt> body;
    for (size_t i = 0; i < stores.size(); ++i) {
      const StoreNode& store = *stores[i].store;
      Expr value = Rewrite(store.value, [&](const Expr& e) {
        const auto* load = e.As<LoadNode>();
        for (size_t j = i; load && j < stores.size(); ++j) {
          if (stores[j].carried && IsPlaceBefore(*load, stores[j]))
            return Carried(stores[j]);
        }
        return Expr();
      });
      if (stores[i].carried) {
        body.push_back(Carry(stores[i], std::move(value)));
        value = Carried(stores[i]);
      }
      body.push_back(MakeStore(store.buffer, std::move(value), store.indices));
    }
    return MakeSeq(std::move(body));
  }

  static Expr Carried(const Stored& stored) {
    return Load(stored.carried, {stored.index_of_carried});
  }
  static Stmt Carry(const Stored& stored, Expr value) {
    return MakeStore(stored.carried, std::move(value),
                     {stored.index_of_carried});
  }

  struct FirstValue {
    Var var;
    int64_t value;
  };

  static Stmt Assembled(const Stmt& first, const Stmt& loop,
                        const std::vector<Stored>& stores,
                        const FirstValue& at) {
    std::vector<Stmt> all = {first};
    for (const Stored& stored : stores) {
      if (!stored.carried) continue;
      IndexNormalizer normalizer;
      normalizer.Bind(at.var.get(), Int(at.value));
      const Expr& index = stored.store->indices[0];
      const auto* ramp = index.As<RampNode>();
      const Expr element = normalizer.Run(ramp ? ramp->base : index);
      all.push_back(Carry(
          stored, Load(stored.store->buffer,
                       {ramp ? Ramp(element, Int(1), ramp->lanes) : element})));
    }
    all.push_back(loop);
    Stmt result = MakeSeq(std::move(all));
    for (auto stored = stores.rbegin(); stored != stores.rend(); ++stored) {
      if (stored->carried) result = MakeAllocate(stored->carried, result);
    }
    return result;
  }

  const Machine& machine_;
  const Function& f_;
  absl::flat_hash_set<const BufferNode*> views_;  // of others' storage
};

}  // namespace

absl::StatusOr<Function> CarryValues(Function f, const Machine& machine) {
  Stmt body = LoopCarrier(machine, f).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
