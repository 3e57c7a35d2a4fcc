#include "kiln/schedule/rewrite/inlined_size.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Far above all limits, and far below where products of two overflow.
constexpr int64_t kHuge = int64_t{1} << 31;

int64_t Capped(int64_t nodes) { return std::min(nodes, kHuge); }

class Sizes {
 public:
  Sizes(const BlockNode& producer, const StoreNode& store)
      : buffer_(store.buffer) {
    VarTable<bool> iters;
    for (const IterVar& iter : producer.iters) iters[iter.var.get()] = true;
    Visit(store.value, [&](const Expr& e) {
      ++value_;
      const auto* var = e.As<VarNode>();
      if (var && iters.count(var) > 0) ++uses_;
      return true;
    });
  }

  int64_t value() const { return value_; }

  static int64_t Of(const Expr& e) {
    int64_t nodes = 0;
    Visit(e, [&](const Expr&) { return ++nodes > 0; });
    return nodes;
  }

  // Of `e` after the replacement. An iterator counts as the largest index.
  int64_t Inlined(const Expr& e) const {
    if (!e->has_loads) return Capped(Of(e));
    int64_t sum = 1, largest = 1;
    ForEachOperand(e, [&](const Expr& operand) {
      const int64_t size = Inlined(operand);
      sum = Capped(sum + size);
      largest = std::max(largest, size);
    });
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != buffer_) return sum;
    return Capped(value_ + uses_ * (largest - 1));
  }

 private:
  const Buffer& buffer_;
  int64_t value_ = 0;  // nodes of the stored value
  int64_t uses_ = 0;   // of the producer's iterators in it
};

}  // namespace

Reason WhyTooLargeInlined(const Stmt& consumer, const BlockNode& producer,
                          const StoreNode& store) {
  const Sizes sizes(producer, store);
  const auto both = [&](const Expr& e) { return Sizes::Of(e) + sizes.value(); };
  Reason reason;
  Visit(consumer, [&](const Stmt& s) {
    ForEachExpr(s, [&](const Expr& e) {
      if (reason || !e->has_loads) return;
      const int64_t nodes = sizes.Inlined(e);
      if (nodes <= kMostInlinedNodes || nodes <= both(e)) return;
      reason =
          absl::StrCat("an expression that reads `", store.buffer->name,
                       "` more than once would have ",
                       nodes == kHuge ? "billions of" : absl::StrCat(nodes),
                       " nodes; ", kMostInlinedNodes, " is the most");
    });
    return !reason;
  });
  return reason;
}

}  // namespace kiln
