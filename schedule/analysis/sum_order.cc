// A reduction iterator is a sum of digits of loops, and terms come in the order
// of the digits, the outermost loop's first:
//
//   for k_0 in 4, k_1 in 16:  vk = k_0 * 16 + k_1      vk*16, vk*1
//
// Where a digit goes on from the one before it, both are one, so that this is
// "vk*1", as of one loop over k; with the loops swapped it is "vk*1, vk*16".
#include "kiln/schedule/analysis/sum_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// (loop // lower) % extent * scale, of a loop counted from the outermost.
struct Digit {
  size_t loop;
  int64_t lower = 1, scale = 1;
  int64_t extent = 0;  // 0: not known
  const VarNode* iter = nullptr;
};
using Digits = std::vector<Digit>;

struct Order {
  const BlockNode* block;
  std::string digits;         // empty: cannot be told
  std::vector<LoopId> loops;  // around it
  std::vector<Expr> values;   // of its iterators
};

class Collector {
 public:
  std::vector<Order> Run(const Function& f) {
    Walk(f.body);
    return std::move(orders_);
  }

 private:
  void Walk(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      loops_.push_back(loop);
      Walk(loop->body);
      loops_.pop_back();
    } else if (const auto* realize = s.As<BlockRealizeNode>()) {
      WalkBlock(*realize);
    } else {
      ForEachChild(s, [&](const Stmt& child) { Walk(child); });
    }
  }

  void WalkBlock(const BlockRealizeNode& realize) {
    const BlockNode& block = *realize.block;
    const size_t count = orders_.size();
    std::vector<Expr> values;
    for (size_t i = 0; i < realize.values.size(); ++i) {
      values.push_back(Substitute(realize.values[i], iters_));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      iters_[block.iters[i].var.get()] = values[i];
    }
    Walk(block.body);
    // The order of a block around other reductions is theirs.
    if (orders_.size() == count && SumsFloats(block)) Add(block, values);
  }

  static bool SumsFloats(const BlockNode& block) {
    return std::any_of(block.iters.begin(), block.iters.end(),
                       [](const IterVar& iter) {
                         return iter.type == IterType::kReduce;
                       }) &&
           std::any_of(block.writes.begin(), block.writes.end(),
                       [](const BufferRegion& region) {
                         return region.buffer->dtype.is_float();
                       });
  }

  void Add(const BlockNode& block, const std::vector<Expr>& values) {
    Order order{&block, "", {}, values};
    for (const ForNode* loop : loops_) order.loops.push_back(loop->id);
    Digits all;
    bool known = true;
    for (size_t i = 0; i < values.size(); ++i) {
      if (block.iters[i].type != IterType::kReduce) continue;
      const auto digits = DigitsOf(values[i]);
      known = known && digits;
      if (!known) break;
      for (Digit digit : *digits) {
        digit.iter = block.iters[i].var.get();
        all.push_back(digit);
      }
    }
    if (known) order.digits = ToText(std::move(all));
    orders_.push_back(std::move(order));
  }

  std::optional<Digits> DigitsOf(const Expr& e) const;
  std::optional<Digits> DigitsOfBinary(const BinaryNode& e) const;

  static std::string ToText(Digits digits) {
    std::stable_sort(
        digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
          return std::pair(a.loop, -a.lower) < std::pair(b.loop, -b.lower);
        });
    std::string text = "order:";
    for (size_t i = 0; i < digits.size(); ++i) {
      const Digit& digit = digits[i];
      const bool goes_on =
          i + 1 < digits.size() && digits[i + 1].iter == digit.iter &&
          digits[i + 1].extent > 0 &&
          digits[i + 1].extent * digits[i + 1].scale == digit.scale;
      if (goes_on) continue;
      absl::StrAppend(&text, " ", digit.iter->name, "*", digit.scale);
    }
    return text;
  }

  std::vector<const ForNode*> loops_;
  VarMap iters_;  // of the blocks around, in terms of loops
  std::vector<Order> orders_;
};

std::optional<Digits> Collector::DigitsOf(const Expr& e) const {
  if (AsInt(e)) return Digits();
  if (const auto* cast = e.As<CastNode>()) return DigitsOf(cast->value);
  if (const auto* var = e.As<VarNode>()) {
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i]->var.get() != var) continue;
      const int64_t* extent = AsInt(loops_[i]->extent);
      if (extent && *extent == 1) return Digits();
      return Digits{{i, 1, 1, extent ? *extent : 0}};
    }
    return std::nullopt;
  }
  const auto* binary = e.As<BinaryNode>();
  return binary ? DigitsOfBinary(*binary) : std::nullopt;
}

std::optional<Digits> Collector::DigitsOfBinary(const BinaryNode& e) const {
  std::optional<Digits> a = DigitsOf(e.a);
  if (!a) return std::nullopt;
  if (e.kind == ExprKind::kAdd) {
    const std::optional<Digits> b = DigitsOf(e.b);
    if (!b) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    return a;
  }
  const int64_t* c = AsInt(e.b);
  if (!c) return std::nullopt;
  if (e.kind == ExprKind::kSub) return a;
  if (e.kind == ExprKind::kMul) {
    for (Digit& digit : *a) digit.scale *= *c;
    return a;
  }
  const bool divides = e.kind == ExprKind::kFloorDiv;
  if (a->empty()) return a;
  if ((!divides && e.kind != ExprKind::kFloorMod) || a->size() != 1 ||
      (*a)[0].scale != 1 || *c <= 0) {
    return std::nullopt;
  }
  Digit& digit = (*a)[0];
  if (divides) {
    digit.lower *= *c;
    digit.extent = (digit.extent + *c - 1) / *c;
  } else if (digit.extent == 0 || digit.extent > *c) {
    digit.extent = *c;
  }
  if (digit.extent == 1) a->clear();
  return a;
}

bool SameLoops(const Order& a, const Order& b) {
  return a.loops == b.loops && std::equal(a.values.begin(), a.values.end(),
                                          b.values.begin(), b.values.end());
}

bool IsKept(const Order& order, const std::vector<Order>& before) {
  for (const Order& old : before) {
    if (old.block->id != order.block->id) continue;
    return SameLoops(old, order) ||
           (!order.digits.empty() && order.digits == old.digits);
  }
  return !order.digits.empty() &&
         std::any_of(before.begin(), before.end(), [&](const Order& old) {
           return old.digits == order.digits;
         });
}

}  // namespace

absl::Status CheckSumOrder(const Function& before, const Function& after,
                           std::string_view primitive) {
  const std::vector<Order> old = Collector().Run(before);
  for (const Order& order : Collector().Run(after)) {
    if (IsKept(order, old)) continue;
    return Refusal(
        primitive,
        absl::StrCat(Describe(*order.block),
                     " might add up its terms in another order, which numerics "
                     "\"strict\" forbids"),
        "keep the order of its reduction loops, or leave out the attribute");
  }
  return absl::OkStatus();
}

}  // namespace kiln
