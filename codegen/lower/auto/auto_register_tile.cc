// An update that goes through memory, or through a single accumulator, waits
// for its own last addition. The additions of a tile of accumulators do not
// wait for each other, and each operand that a step loads serves a whole row or
// column of the tile. Where choose_tile.cc finds 4 rows of 8 lanes for
//
//   for i in 4, k in 8, j in 40: C[i*40 + j] += A[i*8 + k] * B[k*40 + j]
//
// this file builds
//
//   for j in 5:
//     C_tile[0:32] = the 4 x 8 elements of C
//     for k in 8:
//       for i in unrolled(4), lane in vectorized(8):
//         C_tile[i*8 + lane] += A[i*8 + k] * B[k*40 + j*8 + lane]
//     the 4 x 8 elements of C = C_tile[0:32]
//
// Spatial loops may stand anywhere in such a nest (nest.h), and reductions keep
// their order, so each element sees the same additions in the same order. A
// loop that the tile does not divide is cut in two beforehand, and each of the
// two nests looks for a tile of its own.
#include "kiln/codegen/lower/auto/auto_register_tile.h"

#include <algorithm>

#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/auto/choose_tile.h"
#include "kiln/codegen/lower/auto/nest.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::Nest;
using lower::NestLoop;
using lower::RegisterTile;

// Makes the tiled form of one nest.
class Builder {
 public:
  Builder(const Nest& nest, const RegisterTile& tile, Function* f)
      : nest_(nest), tile_(tile), f_(f) {
    NameParts();
  }
  Stmt Run();

 private:
  void NameParts();
  bool InChain(size_t loop) const;
  Expr Position(size_t loop) const;
  Stmt InTile(const Stmt& step) const;
  Stmt Around(Stmt body, size_t begin, size_t end) const;
  Stmt WithAccumulators() const;

  const Nest& nest_;
  const RegisterTile& tile_;
  Function* f_;
  std::vector<Var> outer_, part_;  // for each loop
  Var lane_{"lane"};
  VarMap values_;  // of the nest's variables
  Expr element_;   // which element of the tile
};

bool Builder::InChain(size_t loop) const {
  return std::find(tile_.chain.begin(), tile_.chain.end(),
                   static_cast<int>(loop)) != tile_.chain.end();
}

// The value of the loop's variable.
Expr Builder::Position(size_t loop) const {
  const int64_t factor = tile_.factors[loop];
  if (nest_.loops[loop].extent == 1) return Int(0);
  if (factor == 1) return outer_[loop];
  Expr part = part_[loop];
  if (InChain(loop)) {
    part = static_cast<int>(loop) == tile_.chain[0] ? Expr(lane_) : Int(0);
  }
  if (factor == nest_.loops[loop].extent) return part;
  return Add(Mul(outer_[loop], Int(factor)), part);
}

void Builder::NameParts() {
  for (const NestLoop& loop : nest_.loops) {
    outer_.emplace_back(loop.loop->var.name());
    part_.emplace_back(loop.loop->var.name());
  }
  element_ = Int(0);
  for (size_t i = 0; i < nest_.loops.size(); ++i) {
    values_[nest_.loops[i].loop->var.get()] = Position(i);
    if (InChain(i) || tile_.factors[i] == 1) continue;
    element_ = Add(Mul(element_, Int(tile_.factors[i])), part_[i]);
  }
  element_ = Add(Mul(element_, Int(tile_.lanes)), lane_);
}

// `step` for each element of the tile.
Stmt Builder::InTile(const Stmt& step) const {
  Stmt s =
      MakeFor(f_->NewId(), lane_, Int(tile_.lanes), step, ForKind::kVectorized);
  for (size_t i = nest_.loops.size(); i-- > 0;) {
    if (InChain(i) || tile_.factors[i] == 1) continue;
    s = MakeFor(f_->NewId(), part_[i], Int(tile_.factors[i]), s,
                ForKind::kUnrolled);
  }
  return s;
}

// `body` in the loops order[begin] to order[end - 1]. The outermost loop gets
// the notes of all loops, for some of them may be gone.
Stmt Builder::Around(Stmt body, size_t begin, size_t end) const {
  for (size_t i = end; i-- > begin;) {
    const NestLoop& loop = nest_.loops[tile_.order[i]];
    ForFields fields = loop.loop->fields();
    fields.var = outer_[tile_.order[i]];
    fields.extent = Int(loop.extent / tile_.factors[tile_.order[i]]);
    if (fields.for_kind == ForKind::kVectorized) {
      fields.for_kind = ForKind::kSerial;
    }
    // Conditions on it may be decided once it is unrolled.
    if (!loop.is_plain && !loop.is_spatial() && loop.extent <= kMaxTileSteps) {
      fields.for_kind = ForKind::kUnrolled;
    }
    if (i == 0) {
      for (const NestLoop& any : nest_.loops) {
        fields.annotations.insert(any.loop->annotations.begin(),
                                  any.loop->annotations.end());
      }
    }
    fields.body = std::move(body);
    body = MakeFor(std::move(fields));
  }
  return body;
}

Stmt Builder::WithAccumulators() const {
  const StoreNode& store = *nest_.store;
  int64_t size = tile_.lanes;
  for (size_t i = 0; i < tile_.factors.size(); ++i) {
    if (!InChain(i)) size *= tile_.factors[i];
  }
  const Buffer sums = MakeBuffer(store.buffer->name + "_tile",
                                 store.buffer->dtype, {Int(size)}, "local");
  const Expr sum = Load(sums, {element_});
  const Expr index = Substitute(store.indices[0], values_);
  const Expr value =
      Rewrite(Substitute(store.value, values_), [&](const Expr& e) -> Expr {
        const auto* load = e.As<LoadNode>();
        const bool is_stored = load && load->buffer == store.buffer;
        return is_stored ? sum : Expr();
      });
  const size_t inner = tile_.order.size() - tile_.inner_reductions;
  const Stmt step = InTile(MakeStore(sums, value, {element_}));
  const Stmt tile =
      MakeSeq({InTile(MakeStore(sums, Load(store.buffer, {index}), {element_})),
               Around(step, inner, tile_.order.size()),
               InTile(MakeStore(store.buffer, sum, {index}))});
  return Around(MakeAllocate(sums, tile), 0, inner);
}

Stmt Builder::Run() {
  if (nest_.is_update && tile_.inner_reductions > 0) return WithAccumulators();
  return Around(InTile(Substitute(Stmt(nest_.store), values_)), 0,
                tile_.order.size());
}

class Tiler {
 public:
  Tiler(Function* f, const Machine& machine) : f_(f), machine_(machine) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt Tile(const Stmt& s);
  Stmt Cut(const Stmt& s, const NestLoop& loop, int64_t factor);
  Stmt Part(const Stmt& s, const ForNode* loop, int64_t first, int64_t count);

  Function* f_;
  const Machine& machine_;
};

// Iterations first, first + 1, ... of `loop`, which is in `s`.
Stmt Tiler::Part(const Stmt& s, const ForNode* loop, int64_t first,
                 int64_t count) {
  if (s.get() != loop) {
    return MapChildren(
        s, [&](const Stmt& child) { return Part(child, loop, first, count); });
  }
  ForFields fields = loop->fields();
  fields.id = first == 0 ? loop->id : f_->NewId();
  fields.var = Var(loop->var.name());
  fields.extent = Int(count);
  fields.body =
      Substitute(loop->body, {{loop->var.get(), Add(fields.var, Int(first))}});
  return MakeFor(std::move(fields));
}

// What `factor` divides of `loop`, and the rest.
Stmt Tiler::Cut(const Stmt& s, const NestLoop& loop, int64_t factor) {
  const int64_t whole = loop.extent / factor * factor;
  const Stmt most = Part(s, loop.loop, 0, whole);
  const Stmt rest = Part(s, loop.loop, whole, loop.extent - whole);
  return MakeSeq({Run(most), Run(rest)});
}

// Null when the nest stays as it is.
Stmt Tiler::Tile(const Stmt& s) {
  const std::optional<Nest> nest = lower::FindNest(s);
  if (!nest) return nullptr;
  const std::optional<RegisterTile> tile = lower::ChooseTile(*nest, machine_);
  if (!tile) return s;
  for (size_t i = 0; i < nest->loops.size(); ++i) {
    if (nest->loops[i].extent % tile->factors[i] != 0) {
      return Cut(s, nest->loops[i], tile->factors[i]);
    }
  }
  return Builder(*nest, *tile, f_).Run();
}

Stmt Tiler::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) {
    if (IsMarked(*loop, kTileProduct)) return s;
    if (Stmt tiled = Tile(s)) return tiled;
  }
  return MapChildren(s, [&](const Stmt& child) { return Run(child); });
}

}  // namespace

absl::StatusOr<Function> AutoRegisterTile(Function f, const Machine& machine) {
  Stmt body = Tiler(&f, machine).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
