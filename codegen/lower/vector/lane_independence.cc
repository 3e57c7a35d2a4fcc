// Two accesses of one buffer, made in different lanes, touch one element where
//
//   c * (lane1 - lane2) + (terms of inner loops) + d == 0
//
// c is the stride of the lane, the same for both, and d the distance of the
// constants. Inner terms with strides up to c sum up to a number in an
// interval; those with larger ones are multiples of a unit, and so are
// variables from outside that do not cancel. So with 16 lanes v,
//
//   C[r*16 + v] += ...   unit 16, and lanes reach 15 at most: never 0
//   C[r*15 + v] += ...   unit 15: lane 15 of row 0 meets lane 0 of row 1
//   A[v + 16] = A[v]     no unit, d = 16, and 15 is the most that lanes differ
//   A[n*16 + v] = A[v]   unit 16, whatever n is
//
// Only where the equation is seen to have no solution are iterations
// independent. An index that has a load among its terms, or a variable of these
// loops inside of a division, is not looked into: it may meet any other.
#include "kiln/codegen/lower/vector/lane_independence.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

struct Access {
  const BufferNode* buffer;
  Linear index;
  bool is_affine;  // in the variables bound inside the loop
  bool is_write;
};

// What is bound outside of the loop moves two accesses apart by a constant and
// some multiple of `unit`; 0: by the constant.
struct Distance {
  int64_t constant = 0, unit = 0;
};

// Constant bounds of a loop inside; extent -1 when they are not constant.
struct Bounds {
  int64_t min, extent;
};

class Checker {
 public:
  explicit Checker(const ForNode& loop)
      : lane_(loop.var.get()), lanes_(*AsInt(loop.extent)) {
    BindLoop(loop);
    Collect(loop.body);
  }

  bool IsIndependent() const {
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (!accesses_[i].is_write) continue;
      for (const Access& other : accesses_) {
        if (other.buffer == accesses_[i].buffer &&
            !NeverMeet(accesses_[i], other)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  void BindLoop(const ForNode& loop) {
    const int64_t* min = AsInt(loop.min);
    const int64_t* extent = AsInt(loop.extent);
    bounds_[loop.var.get()] =
        min && extent ? Bounds{*min, *extent} : Bounds{0, -1};
  }
  void Collect(const Stmt& s);
  void Add(const Buffer& buffer, const std::vector<Expr>& indices, bool write);
  bool NeverMeet(const Access& a, const Access& b) const;
  std::optional<Distance> OuterDistance(const Access& a, const Access& b) const;

  const VarNode* lane_;
  int64_t lanes_;
  std::unordered_map<const VarNode*, Bounds> bounds_;
  std::unordered_set<const VarNode*> lets_;
  std::unordered_set<const BufferNode*> private_;
  std::vector<Access> accesses_;
};

void Checker::Add(const Buffer& buffer, const std::vector<Expr>& indices,
                  bool write) {
  if (private_.count(buffer.get())) return;
  Access access{buffer.get(), {}, false, write};
  if (indices.size() == 1 && indices[0].dtype() == DType::Index()) {
    access.index = ToLinear(indices[0]);
    auto is_bound = [&](const VarNode* v) {
      return bounds_.count(v) || lets_.count(v);
    };
    access.is_affine = !access.index.HidesVar(is_bound);
    for (const Term& term : access.index.terms) {
      const auto* var = term.atom.As<VarNode>();
      access.is_affine &= !lets_.count(var) && !term.atom.As<LoadNode>();
    }
  }
  accesses_.push_back(std::move(access));
}

void Checker::Collect(const Stmt& s) {
  if (const auto* node = s.As<AllocateNode>()) {
    private_.insert(node->buffer.get());
  }
  if (const auto* loop = s.As<ForNode>()) BindLoop(*loop);
  if (const auto* let = s.As<LetStmtNode>()) lets_.insert(let->var.get());
  ForEachExpr(s, [&](const Expr& e) {
    Visit(e, [&](const Expr& x) {
      if (const auto* let = x.As<LetNode>()) lets_.insert(let->var.get());
      if (const auto* load = x.As<LoadNode>()) {
        Add(load->buffer, load->indices, false);
      }
      return true;
    });
  });
  if (const auto* store = s.As<StoreNode>()) {
    Add(store->buffer, store->indices, true);
  }
  ForEachChild(s, [&](const Stmt& child) { Collect(child); });
}

// Of a - b, where lanes and inner loops do not move.
std::optional<Distance> Checker::OuterDistance(const Access& a,
                                               const Access& b) const {
  const Linear difference = Difference(a.index, b.index);
  if (!difference.ok) return std::nullopt;
  Distance distance = {.constant = difference.constant};
  for (const Term& term : difference.terms) {
    if (bounds_.count(term.atom.As<VarNode>())) continue;
    distance.unit = std::gcd(distance.unit, term.coefficient);
  }
  return distance;
}

// Whether [low, high] has a multiple of `unit`; of 0: whether it has 0.
bool HasMultiple(int64_t low, int64_t high, int64_t unit) {
  if (unit == 0) return low <= 0 && high >= 0;
  const int64_t last = high >= 0 ? high / unit : -((-high + unit - 1) / unit);
  return last * unit >= low;
}

// Two accesses in different lanes: c*(lane1 - lane2) + (inner terms) + d, which
// must never be 0. Inner terms are multiples of `unit`, or sum up to something
// between `low` and `high`.
bool Checker::NeverMeet(const Access& a, const Access& b) const {
  if (!a.is_affine || !b.is_affine) return false;
  const int64_t c = std::abs(a.index.Coefficient(lane_));
  if (c == 0 || a.index.Coefficient(lane_) != b.index.Coefficient(lane_)) {
    return false;
  }
  const std::optional<Distance> distance = OuterDistance(a, b);
  if (!distance) return false;
  int64_t low = distance->constant, high = low, unit = distance->unit;
  for (const auto& [var, bounds] : bounds_) {
    if (var == lane_) continue;
    const int64_t x = a.index.Coefficient(var), y = b.index.Coefficient(var);
    if (x == 0 && y == 0) continue;
    const int64_t step = std::gcd(x, y);
    if (step > c) {
      unit = std::gcd(unit, step);
      continue;
    }
    if (bounds.extent < 0) return false;
    const int64_t last = std::max<int64_t>(0, bounds.extent - 1);
    low += (x - y) * bounds.min +
           (std::min<int64_t>(x, 0) - std::max<int64_t>(y, 0)) * last;
    high += (x - y) * bounds.min +
            (std::max<int64_t>(x, 0) - std::min<int64_t>(y, 0)) * last;
  }
  const int64_t reach = c * (lanes_ - 1);
  if (!HasMultiple(low - reach, high + reach, unit)) return true;
  // Less than a lane apart, but for whole units, which no lane reaches.
  if (unit != 0) {
    const int64_t shift = (low + (high - low) / 2 + unit / 2);
    const int64_t units =
        shift >= 0 ? shift / unit : -((-shift + unit - 1) / unit);
    low -= units * unit;
    high -= units * unit;
  }
  const int64_t most = std::max(high, -low);
  return most < c && (unit == 0 || reach + most < unit);
}

}  // namespace

bool IterationsAreIndependent(const ForNode& loop) {
  return Checker(loop).IsIndependent();
}

}  // namespace kiln::lower
