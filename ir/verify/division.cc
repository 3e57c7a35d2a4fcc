// To prove low <= high, the difference high - low is simplified and its terms
// are looked at one by one: each rule replaces a quotient or remainder by a
// bound without it, and asks the analyzer for what then has to hold.
//
//   v // 4 <= (v + 1) // 4     a // c - b // c >= (a - b) // c:  1 // 4 = 0
//   f // n <= 13               f < 14 * n
//   (i*4 + 1) % 5 <= i*4 + 3   x % d <= x for x >= 0:  i*4 + 1 <= i*4 + 3
//   n <= (n + 4) // 5 * 5      x // c * c >= x - (c - 1):  n + 4 - 4 >= n
//
// A divisor may be 0, which gives a quotient of 0 and at most the dividend as
// remainder: the rules ask for that case too. Only one quotient, or a pair of
// one divisor, is replaced at a time.
#include "kiln/ir/verify/division.h"

#include <vector>

#include "kiln/ir/arith/cases.h"
#include "kiln/ir/expr/same.h"

namespace kiln::verify_internal {
namespace {

struct Term {
  Expr e;
  bool is_negative;
};

void Split(const Expr& e, bool is_negative, std::vector<Term>* terms) {
  const auto* op = e.As<BinaryNode>();
  const bool is_sum =
      op && (op->kind == ExprKind::kAdd || op->kind == ExprKind::kSub);
  if (is_sum) {
    Split(op->a, is_negative, terms);
    const bool flips = op->kind == ExprKind::kSub;
    return Split(op->b, is_negative != flips, terms);
  }
  if (op && op->kind == ExprKind::kMul && IsConst(op->b, -1)) {
    return Split(op->a, !is_negative, terms);
  }
  terms->push_back({e, is_negative});
}

// The sum of all terms but those numbered `a` and `b`.
Expr Rest(const std::vector<Term>& terms, size_t a, size_t b) {
  Expr sum = Int(0);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i == a || i == b) continue;
    sum = terms[i].is_negative ? Sub(sum, terms[i].e) : Add(sum, terms[i].e);
  }
  return sum;
}

const BinaryNode* Quotient(const Expr& e) {
  const auto* op = e.As<BinaryNode>();
  return op && op->kind == ExprKind::kFloorDiv ? op : nullptr;
}

// Whether the sum of the terms is at least 0 because quotient `i`, which is
// added, is.
bool ProvesWithout(const std::vector<Term>& terms, size_t i,
                   Analyzer* analyzer) {
  const BinaryNode& x = *Quotient(terms[i].e);
  return analyzer->CanProveLessEqual(Int(0), x.a) &&
         analyzer->CanProveLessEqual(Int(0), x.b) &&
         analyzer->CanProveLessEqual(Int(0), Rest(terms, i, i));
}

// Because quotient `i`, which is subtracted, is no more than the other terms.
bool ProvesUpTo(const std::vector<Term>& terms, size_t i, Analyzer* analyzer) {
  const BinaryNode& x = *Quotient(terms[i].e);
  const Expr most = Add(Rest(terms, i, i), Int(1));
  const bool is_sure = analyzer->CanProveLessEqual(Int(1), x.b) ||
                       (analyzer->CanProveLessEqual(Int(0), x.b) &&
                        analyzer->CanProveLessEqual(Int(1), most));
  return is_sure && analyzer->CanProveLess(x.a, Mul(most, x.b));
}

// Because quotient `i` is subtracted from quotient `j` of the same divisor.
bool ProvesByPair(const std::vector<Term>& terms, size_t i, size_t j,
                  Analyzer* analyzer) {
  const BinaryNode& x = *Quotient(terms[i].e);
  const BinaryNode& y = *Quotient(terms[j].e);
  const int64_t* divisor = AsInt(y.b);
  if (!divisor || *divisor < 1 || !SameExpr(x.b, y.b)) return false;
  const Expr apart = FloorDiv(Sub(y.a, x.a), y.b);
  return analyzer->CanProveLessEqual(Int(0), Add(apart, Rest(terms, i, j)));
}

// Because the remainder in term `i`, which is subtracted, is no more than its
// dividend, and that no more than the other terms.
bool ProvesByRemainder(const std::vector<Term>& terms, size_t i,
                       Analyzer* analyzer) {
  const auto& x = *terms[i].e.As<BinaryNode>();
  return analyzer->CanProveLessEqual(Int(0), x.b) &&
         analyzer->CanProveLessEqual(Int(0), x.a) &&
         analyzer->CanProveLessEqual(x.a, Rest(terms, i, i));
}

// Lower bounds of a quotient or a positive multiple of one: of x // c * c the
// one by x, and the constant bound that the analyzer knows.
std::vector<Expr> Least(const Expr& e, Analyzer* analyzer) {
  const auto* product = e.As<BinaryNode>();
  const bool is_multiple = product && product->kind == ExprKind::kMul;
  const BinaryNode* x = Quotient(is_multiple ? product->a : e);
  const int64_t* factor = is_multiple ? AsInt(product->b) : nullptr;
  const int64_t* divisor = x ? AsInt(x->b) : nullptr;
  if (!divisor || *divisor < 1 || (is_multiple && (!factor || *factor < 1))) {
    return {};
  }
  std::vector<Expr> least;
  if (factor && *factor == *divisor) {
    least.push_back(Sub(x->a, Int(*divisor - 1)));
  }
  const int64_t bound = analyzer->Bound(e).min;
  if (bound != ConstBound::kNegInf) least.push_back(Int(bound));
  return least;
}

// Because term `i`, which is added, is at least as much as the others need.
bool ProvesByLeast(const std::vector<Term>& terms, size_t i,
                   Analyzer* analyzer) {
  for (const Expr& least : Least(terms[i].e, analyzer)) {
    const Expr sum = Add(least, Rest(terms, i, i));
    if (analyzer->CanProveLessEqual(Int(0), sum)) return true;
  }
  return false;
}

bool ProvesCase(const Expr& low, const Expr& high, Analyzer* analyzer) {
  std::vector<Term> terms;
  Split(analyzer->Simplify(Sub(high, low)), false, &terms);
  std::vector<size_t> added, subtracted;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].is_negative && terms[i].e.kind() == ExprKind::kFloorMod &&
        ProvesByRemainder(terms, i, analyzer)) {
      return true;
    }
    if (!terms[i].is_negative && ProvesByLeast(terms, i, analyzer)) return true;
    if (!Quotient(terms[i].e)) continue;
    (terms[i].is_negative ? subtracted : added).push_back(i);
  }
  for (size_t j : added) {
    if (ProvesWithout(terms, j, analyzer)) return true;
  }
  for (size_t i : subtracted) {
    if (ProvesUpTo(terms, i, analyzer)) return true;
    for (size_t j : added) {
      if (ProvesByPair(terms, i, j, analyzer)) return true;
    }
  }
  return false;
}

}  // namespace

bool ProvesByDivision(const Expr& low, const Expr& high, Analyzer* analyzer) {
  return HoldsByCases(low, high, [&](const Expr& a, const Expr& b) {
    return analyzer->CanProveLessEqual(a, b) || ProvesCase(a, b, analyzer);
  });
}

}  // namespace kiln::verify_internal
