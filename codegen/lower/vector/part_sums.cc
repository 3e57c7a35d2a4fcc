// An addition begins when the one before it to the same sum is done, some four
// cycles later, and two may begin in each cycle. A single sum takes eight times
// as long as eight of them:
//
//   for k in 256:                          q[0:16] = 0
//     c[0:16] += a[k*2] * b[k*32:+16]      for k in 256:
//     c[0:16] += a[k*2+1] * ..        →      c[0:16] += a[k*2] * b[k*32:+16]
//                                            q[0:16] += a[k*2+1] * ..
//                                          c[0:16] += q[0:16]
//
// The terms of a sum go to its parts in turns. That several stand in one
// iteration is the work of the pass that unrolls loops.
#include "kiln/codegen/lower/vector/part_sums.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/vector/added_term.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// One of the places that a loop adds to, and its parts: the place itself and
// others.
struct Sum {
  Buffer buffer;
  Expr index;
  int64_t terms = 0;  // in an iteration
  std::vector<Buffer> parts;

  int lanes() const { return index.dtype().lanes(); }
  // Where it is in that part.
  Expr At(size_t part) const {
    return part == 0      ? index
           : lanes() == 1 ? Int(0)
                          : Ramp(Int(0), Int(1), lanes());
  }
};

struct Update {
  size_t sum;
  Expr term;
};

bool IsKnown(const Expr& index) {
  const auto* ramp = index.As<RampNode>();
  return AsInt(ramp ? ramp->base : index) && (!ramp || IsOne(ramp->stride));
}

const ForNode* SerialLoop(const Stmt& s) {
  const auto* loop = s.As<ForNode>();
  return loop && loop->for_kind == ForKind::kSerial ? loop : nullptr;
}

// A loop, or loops with nothing between them.
struct LoopNest {
  const ForNode* innermost = nullptr;
  int64_t iterations = 1;  // an open loop counts as a short one
};

LoopNest NestOf(const ForNode& outermost) {
  LoopNest nest;
  for (const ForNode* loop = &outermost; loop; loop = SerialLoop(loop->body)) {
    const int64_t* extent = AsInt(loop->extent);
    nest.iterations *= extent ? *extent : kLeastTermsOfPart;
    nest.innermost = loop;
  }
  return nest;
}

// The nest with another body of its innermost loop.
Stmt NestWith(const ForNode& loop, const Stmt& body) {
  const ForNode* inner = SerialLoop(loop.body);
  ForFields fields = loop.fields();
  fields.body = inner ? NestWith(*inner, body) : body;
  return MakeFor(std::move(fields));
}

// The additions of a nest that does nothing else.
class Additions {
 public:
  // False where `body` holds anything else.
  bool Add(const Stmt& body) {
    if (const auto* seq = body.As<SeqNode>()) {
      return absl::c_all_of(seq->stmts,
                            [this](const Stmt& s) { return Add(s); });
    }
    const auto* store = body.As<StoreNode>();
    const bool is_local = store && store->buffer->scope == "local" &&
                          store->buffer->dtype.is_float() &&
                          IsKnown(store->indices[0]);
    const Expr term = is_local ? lower::AddedTerm(*store) : nullptr;
    if (!term) return false;
    updates_.push_back({IndexOf(*store), term});
    return true;
  }

  // Parts of each sum, where the nest has so many iterations; 1 where the terms
  // of a sum stay together.
  int64_t CountParts(int64_t iterations, const VectorRegisters& vectors) const {
    if (sums_.empty() || Overlap() || TermsReadSums()) return 1;
    int64_t registers = 0, terms = sums_[0].terms;
    for (const Sum& sum : sums_) {
      const int64_t of_one = vectors.Lanes(sum.buffer->dtype.bytes());
      registers += (sum.lanes() + of_one - 1) / of_one;
      terms = std::min(terms, sum.terms);
    }
    const int64_t most =
        std::min(terms, terms * iterations / kLeastTermsOfPart);
    int64_t parts = PartsOfSums(registers);
    while (parts > most) parts /= 2;
    return std::max<int64_t>(parts, 1);
  }

  // The nest with other sums around it.
  Stmt Parted(const ForNode& loop, int64_t parts) {
    std::vector<Stmt> all;
    for (Sum& sum : sums_) {
      sum.parts = {sum.buffer};
      for (int64_t i = 1; i < parts; ++i) {
        sum.parts.push_back(
            MakeBuffer(absl::StrCat(sum.buffer->name, "_part", i),
                       sum.buffer->dtype, {Int(sum.lanes())}, "local"));
        all.push_back(MakeStore(sum.parts[i], Zero(sum), {sum.At(i)}));
      }
    }
    all.push_back(NestWith(loop, Body(parts)));
    for (const Sum& sum : sums_) AddUp(sum, &all);
    Stmt result = MakeSeq(std::move(all));
    for (const Sum& sum : sums_) {
      for (int64_t i = 1; i < parts; ++i) {
        result = MakeAllocate(sum.parts[i], result);
      }
    }
    return result;
  }

 private:
  size_t IndexOf(const StoreNode& store) {
    const auto found = absl::c_find_if(sums_, [&](const Sum& sum) {
      return sum.buffer == store.buffer &&
             SameExpr(sum.index, store.indices[0]);
    });
    const size_t i = found - sums_.begin();
    if (found == sums_.end()) {
      sums_.push_back({store.buffer, store.indices[0], 0, {}});
    }
    ++sums_[i].terms;
    return i;
  }

  // Whether an element belongs to two sums.
  bool Overlap() const {
    const auto first = [](const Sum& sum) {
      const auto* ramp = sum.index.As<RampNode>();
      return *AsInt(ramp ? ramp->base : sum.index);
    };
    for (const Sum& a : sums_) {
      for (const Sum& b : sums_) {
        if (&a == &b || a.buffer != b.buffer) continue;
        if (first(b) >= first(a) && first(b) < first(a) + a.lanes()) {
          return true;
        }
      }
    }
    return false;
  }

  bool TermsReadSums() const {
    bool reads = false;
    for (const Update& update : updates_) {
      Visit(update.term, [&](const Expr& e) {
        const auto* load = e.As<LoadNode>();
        reads = reads || (load && absl::c_any_of(sums_, [&](const Sum& sum) {
                            return sum.buffer == load->buffer;
                          }));
        return !reads;
      });
    }
    return reads;
  }

  static Expr Zero(const Sum& sum) {
    const Expr zero = Float(0, sum.buffer->dtype);
    return sum.lanes() == 1 ? zero : Broadcast(zero, sum.lanes());
  }

  static Stmt AddTo(const Sum& sum, size_t part, const Expr& term) {
    const Expr now = Load(sum.parts[part], {sum.At(part)});
    return MakeStore(sum.parts[part], kiln::Add(now, term), {sum.At(part)});
  }

  Stmt Body(int64_t parts) const {
    std::vector<int64_t> turn(sums_.size(), 0);
    std::vector<Stmt> body;
    for (const Update& update : updates_) {
      const Sum& sum = sums_[update.sum];
      const size_t part = turn[update.sum]++ % parts;
      body.push_back(AddTo(sum, part, update.term));
    }
    return MakeSeq(std::move(body));
  }

  // Each part to the one half of the parts before it.
  static void AddUp(const Sum& sum, std::vector<Stmt>* out) {
    for (size_t half = sum.parts.size() / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) {
        const size_t from = half + i;
        out->push_back(AddTo(sum, i, Load(sum.parts[from], {sum.At(from)})));
      }
    }
  }

  std::vector<Sum> sums_;
  std::vector<Update> updates_;
};

Stmt PartIn(const Stmt& s, const Machine& machine) {
  const ForNode* loop = SerialLoop(s);
  const LoopNest nest = loop ? NestOf(*loop) : LoopNest();
  Additions additions;
  if (!loop || !additions.Add(nest.innermost->body)) {
    return MapChildren(
        s, [&](const Stmt& child) { return PartIn(child, machine); });
  }
  const int64_t parts = additions.CountParts(nest.iterations, machine.vectors);
  return parts > 1 ? additions.Parted(*loop, parts) : s;
}

}  // namespace

absl::StatusOr<Function> PartSums(Function f, const Machine& machine) {
  if (!IsStrict(f)) f.body = PartIn(f.body, machine);
  return f;
}

}  // namespace kiln
