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
//
// Statements that share no sum and no operand with the others, as those of
// other channels in a depthwise convolution, come apart from them: only their
// own sums and operands are live then.
//
//   c[p, v] += a[p + k, v] * w[k, v], 4 pixels, 3 taps, 2 vectors: 4 sums and 3
//   weights of v = 0, and then those of v = 1, and not 8 sums and 6 weights
#include "kiln/codegen/lower/vector/reorder_unrolled_updates.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/codegen/lower/vector/added_term.h"
#include "kiln/ir/arith/index_normalizer.h"
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
  int64_t place;  // in that buffer
  std::array<Operand, 2> operands;
};

const RampNode* ContiguousVector(const std::vector<Expr>& indices) {
  const auto* ramp = indices.size() == 1 ? indices[0].As<RampNode>() : nullptr;
  return ramp && IsOne(ramp->stride) ? ramp : nullptr;
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
  const Expr added = lower::AddedTerm(*store);
  if (!added) return std::nullopt;
  const std::vector<const LoadNode*> loads = LoadsIn(added);
  if (loads.size() != 2) return std::nullopt;
  Term term{s, store->buffer.get(), *AsInt(place->base), {}};
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
  std::vector<int64_t> sums;  // of each, where it is added to
  std::array<std::vector<int64_t>, 2> places;

  // False, with nothing added, for a term that does not belong to them.
  bool Add(Term term) {
    const Term& first = terms.empty() ? term : terms.front();
    const auto a = Distance(first.operands[0], term.operands[0]);
    const auto b = Distance(first.operands[1], term.operands[1]);
    if (term.sum != first.sum || !a || !b) return false;
    sums.push_back(term.place);
    places[0].push_back(*a);
    places[1].push_back(*b);
    terms.push_back(std::move(term));
    return true;
  }
};

size_t CountDistinct(const std::vector<int64_t>& places) {
  return std::set<int64_t>(places.begin(), places.end()).size();
}

// A group has so many sums, or so few terms that a processor finds those of
// the next ones: else it would wait for sums, one term after the other.
constexpr int64_t kSumsAtATime = 6;
constexpr int64_t kTermsInSight = 96;

// Groups read other parts of the same lines, which have to be there still: a
// group reads so many vectors before the next one does.
constexpr size_t kPlacesInWindow = 32;

// Finds the terms that are connected by what they share.
class Groups {
 public:
  explicit Groups(size_t size) : above_(size) {
    for (size_t i = 0; i < size; ++i) above_[i] = i;
  }
  // The first term of those that `i` is connected with.
  size_t Of(size_t i) const {
    while (above_[i] != i) i = above_[i];
    return i;
  }
  void Connect(size_t a, size_t b) {
    a = Of(a), b = Of(b);
    above_[std::max(a, b)] = std::min(a, b);
  }
  // Connects all terms with the same key.
  void Connect(const std::vector<int64_t>& keys) {
    std::map<int64_t, size_t> first;
    for (size_t i = 0; i < keys.size(); ++i) {
      Connect(first.try_emplace(keys[i], i).first->second, i);
    }
  }

 private:
  std::vector<size_t> above_;
};

// Whether the lines that hold `places` lie where each pushes others out of the
// first cache: as of 512 channels of float32, pixels 2 KiB apart.
bool AreCrowded(const std::vector<int64_t>& places, int64_t element_bytes,
                const Machine& machine) {
  const int64_t first = *absl::c_min_element(places);
  int64_t apart = 0;
  for (const int64_t place : places) {
    const int64_t line = (place - first) * element_bytes / machine.line_bytes;
    apart = std::gcd(apart, line * machine.line_bytes);
  }
  return NearPlacesOfRows(machine, apart) < kFewPlaces;
}

// The number of the group of each term, all 0 where groups are too small or
// their lines would not stay in the first cache from one to the next.
std::vector<size_t> GroupsOf(const Run& run, const Machine& machine) {
  std::vector<size_t> group(run.terms.size());
  for (int i = 0; i < 2; ++i) {
    const int64_t bytes = run.terms[0].operands[i].buffer->dtype.bytes();
    if (AreCrowded(run.places[i], bytes, machine)) return group;
  }
  Groups groups(run.terms.size());
  for (const auto& keys : {run.sums, run.places[0], run.places[1]}) {
    groups.Connect(keys);
  }
  std::map<size_t, std::set<int64_t>> sums;
  std::map<size_t, int64_t> terms;
  for (size_t i = 0; i < group.size(); ++i) {
    group[i] = groups.Of(i);
    sums[group[i]].insert(run.sums[i]);
    ++terms[group[i]];
  }
  const bool is_small = absl::c_any_of(terms, [&](const auto& of) {
    return std::ssize(sums[of.first]) < kSumsAtATime &&
           of.second > kTermsInSight;
  });
  if (is_small) absl::c_fill(group, 0);
  return group;
}

// By place: the number of its window, each of the next kPlacesInWindow places.
std::map<int64_t, size_t> WindowsOf(const std::vector<int64_t>& places) {
  std::map<int64_t, size_t> windows;
  for (const int64_t place : places) windows[place] = 0;
  size_t number = 0;
  for (auto& [place, window] : windows) window = number++ / kPlacesInWindow;
  return windows;
}

// The statements of `run` by the place of the operand that is read in more
// places, if any is read there more than once; in each window group after
// group.
void AppendOrdered(const Run& run, const Machine& machine,
                   std::vector<Stmt>* out) {
  std::vector<size_t> order(run.terms.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const size_t counts[] = {CountDistinct(run.places[0]),
                           CountDistinct(run.places[1])};
  const int shared = counts[1] > counts[0];
  if (counts[shared] < order.size()) {
    const std::vector<int64_t>& places = run.places[shared];
    const std::map<int64_t, size_t> windows = WindowsOf(places);
    const std::vector<size_t> groups = GroupsOf(run, machine);
    const auto key = [&](size_t i) {
      return std::tuple(windows.at(places[i]), groups[i], places[i]);
    };
    absl::c_stable_sort(order,
                        [&](size_t a, size_t b) { return key(a) < key(b); });
  }
  for (const size_t i : order) out->push_back(run.terms[i].stmt);
}

Stmt Ordered(const Stmt& s, const Machine& machine);

Stmt OrderedSeq(const SeqNode& seq, const Machine& machine) {
  std::vector<Stmt> out;
  Run run;
  const auto flush = [&] {
    AppendOrdered(run, machine, &out);
    run = {};
  };
  for (const Stmt& stmt : seq.stmts) {
    if (lower::DoesNothing(stmt)) continue;
    std::optional<Term> term = AsTerm(stmt);
    if (!term) {
      flush();
      out.push_back(Ordered(stmt, machine));
    } else if (!run.Add(*term)) {
      flush();
      run.Add(*std::move(term));
    }
  }
  flush();
  return MakeSeq(std::move(out));
}

Stmt Ordered(const Stmt& s, const Machine& machine) {
  if (const auto* seq = s.As<SeqNode>()) return OrderedSeq(*seq, machine);
  return MapChildren(
      s, [&](const Stmt& child) { return Ordered(child, machine); });
}

}  // namespace

absl::StatusOr<Function> ReorderUnrolledUpdates(Function f,
                                                const Machine& machine) {
  if (!IsStrict(f)) f.body = Ordered(f.body, machine);
  return f;
}

}  // namespace kiln
