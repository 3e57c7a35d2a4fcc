// Values of script expressions, and how their types come together.
//
// A number that is written plainly has no type of its own: it is "weak" and
// takes the type of what it meets. A weak integer alone is an index (int64).
//
// Index variables are int64 here, but int32 in most texts. Where a text mixes
// one with an int32 value and shows no cast, both count as int32 (so that
// shifts wrap as they should), unless the result is an index itself.
#ifndef KILN_IR_TEXT_READER_VALUE_H_
#define KILN_IR_TEXT_READER_VALUE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::script {

struct Value {
  Expr expr;
  bool weak = false;   // then an IntImm of int64 or a FloatImm of float64
  bool index = false;  // made of index variables and numbers alone
};

// What an index does beside an int32 value: the value widens, or the index
// narrows.
enum class Mixing { kWiden, kNarrow };

// These say in words what is wrong where they fail; the caller adds the place.
// An `ok` with a null expression does not happen.

// `value` as an expression of `dtype`: a weak one becomes a constant of that
// type, if it fits; an integer converts to a type that holds all of its
// values, and what is made of indices to int32; nothing else does.
absl::StatusOr<Expr> ConvertTo(const Value& value, DType dtype);

// Whether what comes of both is made of index variables alone.
inline bool BothIndex(const Value& a, const Value& b) {
  return (a.index || a.weak) && (b.index || b.weak) && (a.index || b.index);
}

// A weak value gets its own type: int64, float32.
Expr Settle(const Value& value);

// Both operands in one type, as TVM brings them together: a weak one takes the
// type of the other, the narrower integer or float widens, and an integer of
// any width becomes a float of the type beside it (int8 and float32 give
// float32, int32 and float16 float16).
absl::StatusOr<std::pair<Expr, Expr>> Unify(const Value& a, const Value& b,
                                            Mixing mixing = Mixing::kWiden);

// A binary operator of the script: + - * / // % ** << >> & | ^ == != < <= > >=.
// Two weak operands give a weak result.
absl::StatusOr<Value> ApplyBinary(std::string_view op, const Value& a,
                                  const Value& b,
                                  Mixing mixing = Mixing::kWiden);

// Minimum or maximum (`kind` kMin or kMax).
absl::StatusOr<Value> ApplyMinMax(ExprKind kind, const Value& a, const Value& b,
                                  Mixing mixing = Mixing::kWiden);

// - + ~ not.
absl::StatusOr<Value> ApplyUnary(std::string_view op, const Value& a);

// `value` where a truth value is needed.
absl::StatusOr<Expr> AsCondition(const Value& value);

// `value` where an index or an extent is needed: int64, perhaps a vector.
absl::StatusOr<Expr> AsIndex(const Value& value);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_VALUE_H_
