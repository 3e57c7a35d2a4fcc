#include "kiln/ir/arith/interval.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr int64_t kNegInf = ConstBound::kNegInf;
constexpr int64_t kPosInf = ConstBound::kPosInf;

bool IsInf(int64_t x) { return x == kNegInf || x == kPosInf; }

// The product of two ends; an infinite or overflowing one keeps its sign.
int64_t EndProduct(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t product;
  if (!IsInf(a) && !IsInf(b) && !__builtin_mul_overflow(a, b, &product)) {
    return product;
  }
  return (a < 0) == (b < 0) ? kPosInf : kNegInf;
}

// The sum of two lower (upper) ends.
int64_t EndSum(int64_t a, int64_t b, int64_t unbounded) {
  int64_t sum;
  if (IsInf(a) || IsInf(b) || __builtin_add_overflow(a, b, &sum)) {
    return unbounded;
  }
  return sum;
}

}  // namespace

int64_t FloorQuotient(int64_t a, int64_t positive) {
  const int64_t q = a / positive;
  return a % positive < 0 ? q - 1 : q;
}

int64_t FloorRemainder(int64_t a, int64_t positive) {
  const int64_t r = a % positive;
  return r < 0 ? r + positive : r;
}

ConstBound Plus(const ConstBound& a, const ConstBound& b) {
  return {EndSum(a.min, b.min, kNegInf), EndSum(a.max, b.max, kPosInf)};
}

ConstBound Times(const ConstBound& a, const ConstBound& b) {
  const int64_t ends[] = {EndProduct(a.min, b.min), EndProduct(a.min, b.max),
                          EndProduct(a.max, b.min), EndProduct(a.max, b.max)};
  ConstBound product{*std::min_element(ends, ends + 4),
                     *std::max_element(ends, ends + 4)};
  // A lower end beyond int64 says nothing that an int64 can say.
  if (product.min == kPosInf) product.min = kNegInf;
  if (product.max == kNegInf) product.max = kPosInf;
  return product;
}

ConstBound Scale(const ConstBound& a, int64_t factor) {
  if (factor == 1) return a;
  return Times(a, Point(factor));
}

ConstBound Intersect(const ConstBound& a, const ConstBound& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

ConstBound Hull(const ConstBound& a, const ConstBound& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

ConstBound FloorDivBy(const ConstBound& a, int64_t divisor) {
  return {a.min == kNegInf ? kNegInf : FloorQuotient(a.min, divisor),
          a.max == kPosInf ? kPosInf : FloorQuotient(a.max, divisor)};
}

ConstBound FloorModBy(const ConstBound& a, int64_t divisor) {
  int64_t quotient;
  if (SingleQuotient(a, divisor, &quotient)) {
    return {FloorRemainder(a.min, divisor), FloorRemainder(a.max, divisor)};
  }
  return {0, divisor - 1};
}

bool SingleQuotient(const ConstBound& a, int64_t divisor, int64_t* quotient) {
  if (!IsFinite(a)) return false;
  *quotient = FloorQuotient(a.min, divisor);
  return *quotient == FloorQuotient(a.max, divisor);
}

}  // namespace kiln
