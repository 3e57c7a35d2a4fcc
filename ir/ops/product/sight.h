// Which keys the queries of attention see.
//
//   causal_mask    none behind the query, counted from the first key
//                  ("TopLeft") or from the last one ("BottomRight")
//   window_size    w: none that is w or more ahead of that place
//
// Several sequences may stand one behind the other, sequence s from its start
// to the start of s + 1; a query then sees keys of its own sequence only, and
// places are counted in it.
#ifndef KILN_IR_OPS_PRODUCT_SIGHT_H_
#define KILN_IR_OPS_PRODUCT_SIGHT_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"

namespace kiln {

enum class Mask : uint8_t { kNone, kTopLeft, kBottomRight };

// Elements of one axis in sequences.
struct Sequences {
  te::Tensor starts;  // and behind the last one the number of all elements
  te::Tensor number;  // of the sequence of each element

  // For an axis of `count` elements; elements behind the last sequence have its
  // number plus 1.
  static Sequences Of(const te::Tensor& starts, const Expr& count);
  Expr Start(const Expr& sequence) const;
  Expr Place(const Expr& element) const;
};

struct Sight {
  Mask mask = Mask::kNone;
  std::optional<int64_t> window;
  Expr queries, keys;  // how many there are
  std::optional<Sequences> query_sequences, key_sequences;

  // By the attributes of the call. Refuses a window without an element.
  static absl::StatusOr<Sight> Of(const OpCall& call);
  // Whether `query` sees `key`; null: every query sees every key.
  Expr Sees(const Expr& query, const Expr& key) const;
};

}  // namespace kiln

#endif  // KILN_IR_OPS_PRODUCT_SIGHT_H_
