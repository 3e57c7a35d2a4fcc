// The digit (low, high) of a loop variable v is v % high // low. A sum tells
// its digits where each coefficient exceeds what the smaller ones add up to;
// digits tell v where they follow each other from 1 up to its extent.
//
//   i*8 + j, i < 4, j < 8                  8 exceeds 7: tells i and j, whole
//   f // 12, f // 4 % 3, f % 4, f < 60     (12, 60), (4, 12), (1, 4): tell f
//   i*7 + j, i < 4, j < 8                  7 does not exceed 7: tells neither
//
// Only sums of digits of loops from 0 with constant extents are understood;
// anything else is left to iter_map_solver.h.
#include "kiln/ir/arith/iter_map_digits.h"

#include <algorithm>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

struct Digit {
  size_t loop = 0;
  int64_t low = 1, high = 1;  // high: at most the loop's extent
};

struct Term {
  Digit digit;
  int64_t coefficient;
  int64_t last() const { return (digit.high - 1) / digit.low; }
};

using Terms = absl::InlinedVector<Term, 6>;

class DigitMap {
 public:
  explicit DigitMap(const std::vector<LoopRange>& loops) : loops_(loops) {}

  bool AddBinding(const Expr& binding) {
    Terms terms;
    if (!Collect(binding, 1, &terms)) return false;
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
      return a.coefficient < b.coefficient;
    });
    int64_t reach = 0;
    for (const Term& term : terms) {
      if (term.last() == 0) continue;  // always 0: tells nothing, hides nothing
      int64_t most;
      if (term.coefficient <= reach ||
          !FoldInt(ExprKind::kMul, term.coefficient, term.last(), &most) ||
          !FoldInt(ExprKind::kAdd, reach, most, &reach)) {
        return false;
      }
      digits_.push_back(term.digit);
    }
    return true;
  }

  bool DeterminesLoops() {
    std::sort(digits_.begin(), digits_.end(),
              [](const Digit& a, const Digit& b) {
                return a.loop != b.loop ? a.loop < b.loop : a.low < b.low;
              });
    size_t next = 0;
    for (size_t i = 0; i < loops_.size(); ++i) {
      int64_t known = 1;
      for (; next < digits_.size() && digits_[next].loop == i; ++next) {
        if (digits_[next].low != known) return false;
        known = digits_[next].high;
      }
      if (known < *AsInt(loops_[i].range.extent)) return false;
    }
    return true;
  }

 private:
  bool Collect(const Expr& e, int64_t scale, Terms* terms) const {
    if (AsInt(e)) return true;
    const auto* node = e.As<BinaryNode>();
    if (node && node->kind == ExprKind::kAdd) {
      return Collect(node->a, scale, terms) && Collect(node->b, scale, terms);
    }
    if (node && node->kind == ExprKind::kMul) {
      const int64_t* factor = AsInt(node->b);
      return factor && *factor > 0 &&
             FoldInt(ExprKind::kMul, scale, *factor, &scale) &&
             Collect(node->a, scale, terms);
    }
    const std::optional<Digit> digit = Parse(e);
    if (digit) terms->push_back({*digit, scale});
    return digit.has_value() || IsFixed(e);
  }

  // Whether `e` is the same in all iterations.
  bool IsFixed(const Expr& e) const {
    return std::none_of(
        loops_.begin(), loops_.end(),
        [&](const LoopRange& loop) { return UsesVar(e, loop.var); });
  }

  std::optional<Digit> Parse(const Expr& e) const {
    if (const auto* var = e.As<VarNode>()) return FindLoop(var);
    const auto* node = e.As<BinaryNode>();
    const int64_t* divisor = node ? AsInt(node->b) : nullptr;
    if (!divisor || *divisor <= 0) return std::nullopt;
    const bool is_quotient = node->kind == ExprKind::kFloorDiv;
    if (!is_quotient && node->kind != ExprKind::kFloorMod) return std::nullopt;
    std::optional<Digit> digit = Parse(node->a);
    int64_t bound;
    if (!digit || !FoldInt(ExprKind::kMul, digit->low, *divisor, &bound)) {
      return std::nullopt;
    }
    if (is_quotient) {
      digit->low = bound;
    } else if (bound < digit->high) {
      const bool is_top = digit->high == *AsInt(ExtentOf(*digit));
      if (!is_top && digit->high % bound != 0) return std::nullopt;
      digit->high = bound;
    }
    return digit;
  }

  const Expr& ExtentOf(const Digit& digit) const {
    return loops_[digit.loop].range.extent;
  }

  std::optional<Digit> FindLoop(const VarNode* var) const {
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i].var.get() != var) continue;
      return Digit{i, 1, *AsInt(loops_[i].range.extent)};
    }
    return std::nullopt;
  }

  const std::vector<LoopRange>& loops_;
  absl::InlinedVector<Digit, 8> digits_;
};

}  // namespace

bool DetermineByDigits(const std::vector<Expr>& bindings,
                       const std::vector<LoopRange>& loops) {
  for (const LoopRange& loop : loops) {
    const int64_t* extent = AsInt(loop.range.extent);
    if (!extent || *extent < 1 || !IsZero(loop.range.min)) return false;
  }
  DigitMap map(loops);
  for (const Expr& binding : bindings) {
    const DType dtype = binding.dtype();
    if (!dtype.is_int() || dtype.bits() < 32 || !map.AddBinding(binding)) {
      return false;
    }
  }
  return map.DeterminesLoops();
}

}  // namespace kiln
