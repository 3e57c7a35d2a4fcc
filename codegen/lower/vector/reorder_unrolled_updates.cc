// An unrolled loop leaves a run of statements that each add a product to one of
// several accumulators. Their operands lie at constant distances from those of
// the first, so each statement has two places, and a stable sort by the places
// of one operand brings together what reads the same vector:
//
//                            a  w                                   a  w
//   c[0] += a[i] * w[0]      0  0          c[0] += a[i] * w[0]      0  0
//   c[1] += a[i+1] * w[0]    1  0          c[1] += a[i+1] * w[0]    1  0
//   c[2] += a[i+2] * w[0]    2  0    →     c[0] += a[i+1] * w[1]    1  1
//   c[0] += a[i+1] * w[1]    1  1          c[2] += a[i+2] * w[0]    2  0
//   c[1] += a[i+2] * w[1]    2  1          c[1] += a[i+2] * w[1]    2  1
//
// a has three places and w two: sorted by a, only one vector of a is live at a
// time, and both of w stay in registers. The statements of a run add to one
// buffer and read others, so their order changes nothing but the order of
// additions.
#include "kiln/codegen/lower/vector/reorder_unrolled_updates.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// A vector of consecutive elements.
struct Operand {
  const BufferNode* buffer;
  Linear first;
};
// What a statement adds to an accumulator.
struct Term {
  Stmt stmt;
  const BufferNode* sum;
  std::array<Operand, 2> operands;
};

const RampNode* ContiguousVector(const std::vector<Expr>& indices) {
  const auto* ramp = indices.size() == 1 ? indices[0].As<RampNode>() : nullptr;
  return ramp && IsOne(ramp->stride) ? ramp : nullptr;
}

// What is added to the elements that `store` writes at `place`; null where it
// does not add.
Expr AddedBy(const StoreNode& store, const RampNode& place) {
  const auto* add = store.value.As<BinaryNode>();
  if (!add || store.value.kind() != ExprKind::kAdd) return nullptr;
  const auto is_sum = [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != store.buffer) return false;
    const RampNode* read = ContiguousVector(load->indices);
    return read && SameExpr(read->base, place.base);
  };
  if (is_sum(add->a)) return add->b;
  return is_sum(add->b) ? add->a : nullptr;
}

std::vector<const LoadNode*> LoadsIn(const Expr& e) {
  std::vector<const LoadNode*> loads;
  Visit(e, [&](const Expr& x) {
    if (const auto* load = x.As<LoadNode>()) loads.push_back(load);
    return true;
  });
  return loads;
}

std::optional<Term> AsTerm(const Stmt& s) {
  const auto* store = s.As<StoreNode>();
  const RampNode* place = store ? ContiguousVector(store->indices) : nullptr;
  if (!place || !AsInt(place->base)) return std::nullopt;
  const Expr added = AddedBy(*store, *place);
  if (!added) return std::nullopt;
  const std::vector<const LoadNode*> loads = LoadsIn(added);
  if (loads.size() != 2) return std::nullopt;
  Term term{s, store->buffer.get(), {}};
  for (int i = 0; i < 2; ++i) {
    const RampNode* vector = ContiguousVector(loads[i]->indices);
    if (!vector || loads[i]->buffer == store->buffer) return std::nullopt;
    term.operands[i] = {loads[i]->buffer.get(), ToLinear(vector->base)};
  }
  return term;
}

// How far an operand is from that of another term; nullopt where that varies.
std::optional<int64_t> Distance(const Operand& from, const Operand& to) {
  if (from.buffer != to.buffer) return std::nullopt;
  const Linear distance = Difference(to.first, from.first);
  if (!distance.is_constant()) return std::nullopt;
  return distance.constant;
}

// Terms of one sum, with the places of their operands from those of the first.
struct Run {
  std::vector<Term> terms;
  std::array<std::vector<int64_t>, 2> places;

  // False, with nothing added, for a term that does not belong to them.
  bool Add(Term term) {
    const Term& first = terms.empty() ? term : terms.front();
    const auto a = Distance(first.operands[0], term.operands[0]);
    const auto b = Distance(first.operands[1], term.operands[1]);
    if (term.sum != first.sum || !a || !b) return false;
    places[0].push_back(*a);
    places[1].push_back(*b);
    terms.push_back(std::move(term));
    return true;
  }
};

size_t CountDistinct(const std::vector<int64_t>& places) {
  return std::set<int64_t>(places.begin(), places.end()).size();
}

// The statements of `run`, by the place of the operand that is read in more
// places, if any is read there more than once.
void AppendOrdered(const Run& run, std::vector<Stmt>* out) {
  std::vector<size_t> order(run.terms.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const size_t counts[] = {CountDistinct(run.places[0]),
                           CountDistinct(run.places[1])};
  const int shared = counts[1] > counts[0];
  if (counts[shared] < order.size()) {
    const std::vector<int64_t>& places = run.places[shared];
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return places[a] < places[b]; });
  }
  for (const size_t i : order) out->push_back(run.terms[i].stmt);
}

Stmt Ordered(const Stmt& s);

Stmt OrderedSeq(const SeqNode& seq) {
  std::vector<Stmt> out;
  Run run;
  const auto flush = [&] {
    AppendOrdered(run, &out);
    run = {};
  };
  for (const Stmt& stmt : seq.stmts) {
    if (lower::DoesNothing(stmt)) continue;
    std::optional<Term> term = AsTerm(stmt);
    if (!term) {
      flush();
      out.push_back(Ordered(stmt));
    } else if (!run.Add(*term)) {
      flush();
      run.Add(*std::move(term));
    }
  }
  flush();
  return MakeSeq(std::move(out));
}

Stmt Ordered(const Stmt& s) {
  if (const auto* seq = s.As<SeqNode>()) return OrderedSeq(*seq);
  return MapChildren(s, [](const Stmt& child) { return Ordered(child); });
}

}  // namespace

absl::StatusOr<Function> ReorderUnrolledUpdates(Function f) {
  if (!IsStrict(f)) f.body = Ordered(f.body);
  return f;
}

}  // namespace kiln
