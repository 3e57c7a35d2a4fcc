// A copy of the body is made with the variable bound to its value in the index
// normalizer, so each index is folded once, on the way, and conditions that it
// decides lose a branch. No pass has to simplify copies later:
//
//   for i in unrolled(6), j in unrolled(4): A[i*64 + j*16] = 1
//     →   A[0] = 1, A[16] = 1, ..., A[368] = 1
//
// The size of the result is known before the first copy. Loops are asked from
// the outside in whether the function can afford them, and one that it cannot
// afford stays a loop around inner ones that may fit: of unrolled loops over i
// in 1000 and j in 10, with at most 4096 statements, i stays and j becomes 10
// statements.
//
// An innermost loop that stays, but whose body is a store or two, would go on
// and look for its end more often than it stores. It does several of its
// iterations in one, and the others behind it:
//
//   for i in 83: B[i*8:+8] = A[i*8:+8]
//     →   for i in 10: B[i*64:+8] = A[i*64:+8], ..., 8 of them
//         B[640:+8] = A[640:+8], B[648:+8] = A[648:+8], B[656:+8] = ...
#include "kiln/codegen/lower/vector/unroll_loops.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/guards/alternatives.h"
#include "kiln/codegen/lower/vector/lane_divisions.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Operations of a store that is as long as the rest of its loop.
constexpr int64_t kShortOperations = 4;

constexpr int64_t kMany = std::numeric_limits<int64_t>::max() / 4;

// What a statement is once unrolled.
struct Size {
  int64_t steps = 0;      // stores and calls
  bool has_loop = false;  // a loop stays in it
};

int64_t Times(int64_t a, int64_t b) {
  return b != 0 && a > kMany / b ? kMany : a * b;
}

// Whether a store is short: so few operations between loads of other buffers
// that the loop around it takes a good part of the time.
bool IsShort(const StoreNode& store) {
  int64_t operations = 0;
  bool is_plain = true;
  Visit(store.value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load) is_plain &= load->buffer != store.buffer;
    is_plain &= e.kind() != ExprKind::kCall;
    operations += e.As<BinaryNode>() != nullptr;
    return is_plain && !load;
  });
  return is_plain && operations <= kShortOperations;
}

bool AreShort(const Stmt& s) {
  if (const auto* store = s.As<StoreNode>()) return IsShort(*store);
  const auto* seq = s.As<SeqNode>();
  return seq && absl::c_all_of(seq->stmts, AreShort);
}

// How many registers of 64 bytes an iteration over `var` adds to, where each
// store of `s` adds to local floats whose place `var` does not move; else 0.
// They wait for each other unless several sums take turns (part_sums.h).
int64_t CountSums(const Stmt& s, const Var& var) {
  constexpr int64_t kBytes = 64;
  int64_t most = 0;
  bool are_sums = true;
  Visit(s, [&](const Stmt& part) {
    const auto* store = part.As<StoreNode>();
    are_sums = are_sums && part.kind() != StmtKind::kEvaluate &&
               part.kind() != StmtKind::kIf;
    if (!store) return are_sums;
    const DType dtype = store->value.dtype();
    are_sums = are_sums && store->buffer->scope == "local" &&
               dtype.is_float() && store->value.kind() == ExprKind::kAdd &&
               !UsesVar(store->indices[0], var);
    most = std::max(most, (dtype.bytes() + kBytes - 1) / kBytes);
    return are_sums;
  });
  return are_sums ? most : 0;
}

class Unroller {
 public:
  // Serial loops of up to `unasked` steps are unrolled though nobody asked.
  explicit Unroller(int64_t unasked) : unasked_(unasked) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt RunFor(const ForNode& loop);
  Stmt RunIf(const IfNode& node);
  Stmt RunSeq(const SeqNode& seq);
  Stmt Repeat(const ForNode& loop, int64_t min, int64_t count);
  int64_t SideBySide(const ForNode& loop, Size body, int64_t count) const;
  Stmt RepeatInLoop(const ForNode& loop, int64_t min, int64_t count,
                    int64_t copies);
  Stmt KeepLoop(const ForNode& loop, Expr min, Expr extent);
  Size SizeOf(const Stmt& s, int64_t max_step) const;
  Size SizeOfFor(const ForNode& loop, int64_t max_step) const;
  bool Afford(const ForNode& loop, int64_t steps);
  static bool Unrolls(const ForNode& loop, Size body, int64_t count,
                      int64_t max_step);
  int64_t MaxStep(const ForNode& loop, int64_t outer) const;

  const int64_t unasked_;
  IndexNormalizer normalizer_;
  int depth_ = 0;
  int64_t max_step_ = unasked_;
  bool is_counted_ = false;   // what is emitted now is in `emitted_` already
  bool keeps_loops_ = false;  // of a product for tiles
  int64_t emitted_ = 0;       // statements that unrolled loops have become
};

int64_t Unroller::MaxStep(const ForNode& loop, int64_t outer) const {
  auto found = loop.annotations.find("pragma_auto_unroll_max_step");
  if (found == loop.annotations.end() || !found->second.expr()) return outer;
  const int64_t* value = AsInt(*found->second.expr());
  return value ? std::max(*value, unasked_) : outer;
}

bool Unroller::Unrolls(const ForNode& loop, Size body, int64_t count,
                       int64_t max_step) {
  if (loop.for_kind == ForKind::kUnrolled) return true;
  return loop.for_kind == ForKind::kSerial && !body.has_loop &&
         Times(body.steps, count) <= max_step;
}

Size Unroller::SizeOfFor(const ForNode& loop, int64_t max_step) const {
  max_step = MaxStep(loop, max_step);
  const Size body = SizeOf(loop.body, max_step);
  const int64_t* count = AsInt(loop.extent);
  if (IsMarked(loop, kTileProduct)) return {body.steps, true};
  if (count && *count == 1) return body;
  if (count && Unrolls(loop, body, *count, max_step)) {
    return {Times(body.steps, *count), body.has_loop};
  }
  return {body.steps, true};
}

Size Unroller::SizeOf(const Stmt& s, int64_t max_step) const {
  if (const auto* loop = s.As<ForNode>()) return SizeOfFor(*loop, max_step);
  Size size;
  const bool is_leaf =
      s.kind() == StmtKind::kStore || s.kind() == StmtKind::kEvaluate;
  size.steps = is_leaf ? 1 : 0;
  ForEachChild(s, [&](const Stmt& child) {
    const Size part = SizeOf(child, max_step);
    size.steps = std::min(kMany, size.steps + part.steps);
    size.has_loop |= part.has_loop;
  });
  return size;
}

Stmt Unroller::Repeat(const ForNode& loop, int64_t min, int64_t count) {
  std::vector<Stmt> copies;
  copies.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    normalizer_.Bind(loop.var.get(), Int(min + i));
    copies.push_back(Run(loop.body));
  }
  normalizer_.Bind(loop.var.get(), nullptr);
  return MakeSeq(std::move(copies));
}

// How many iterations of a loop that stays become one, 1 where it stays as it
// is: of sums, so many that there are terms for each of its parts; else as many
// as are allowed, or a few less where none remains then; so many that the lanes
// of what they load are at the same distances each time, where that takes few.
int64_t Unroller::SideBySide(const ForNode& loop, Size body,
                             int64_t count) const {
  if (unasked_ == 0 || body.steps == 0) return 1;
  const bool may_be_sums = loop.for_kind == ForKind::kSerial && !body.has_loop;
  if (const int64_t sums = may_be_sums ? CountSums(loop.body, loop.var) : 0) {
    return std::clamp<int64_t>(kSumsAtOnce / (sums * body.steps), 1, count);
  }
  if (!AreShort(loop.body)) return 1;
  const int64_t period = lower::LanePeriod(loop.body, loop.var.get());
  const bool is_plain = loop.for_kind == ForKind::kSerial ||
                        (loop.for_kind == ForKind::kParallel && period > 1);
  if (!is_plain) return 1;
  const int64_t most = std::min(count, kStepsSideBySide / body.steps);
  if (most < 2 || emitted_ + most * body.steps > kMaxUnrolledStatements) {
    return 1;
  }
  if (period > most) {
    const bool is_short = Times(body.steps, period) <= kImplicitSteps;
    const int64_t others = loop.for_kind == ForKind::kSerial ? most : 1;
    return is_short && period <= count ? period : others;
  }
  for (int64_t copies = most / period * period; 2 * copies > most;
       copies -= period) {
    if (count % copies == 0) return copies;
  }
  return most / period * period;
}

Stmt Unroller::RepeatInLoop(const ForNode& loop, int64_t min, int64_t count,
                            int64_t copies) {
  const Var turn(loop.var->name, loop.var.dtype());
  const Expr passed = Mul(turn, Int(copies));
  normalizer_.SetDepth(turn.get(), ++depth_);
  std::vector<Stmt> body;
  for (int64_t i = 0; i < copies; ++i) {
    normalizer_.Bind(loop.var.get(),
                     normalizer_.Run(Add(passed, Int(min + i))));
    body.push_back(Run(loop.body));
  }
  --depth_;
  ForFields fields = loop.fields();
  fields.var = turn;
  fields.min = Int(0);
  fields.extent = Int(count / copies);
  fields.body = MakeSeq(std::move(body));
  const int64_t done = count / copies * copies;
  std::vector<Stmt> all = {MakeFor(std::move(fields))};
  if (done < count) all.push_back(Repeat(loop, min + done, count - done));
  normalizer_.Bind(loop.var.get(), nullptr);
  return MakeSeq(std::move(all));
}

Stmt Unroller::KeepLoop(const ForNode& loop, Expr min, Expr extent) {
  normalizer_.SetDepth(loop.var.get(), ++depth_);
  Stmt body = Run(loop.body);
  --depth_;
  ForFields fields = loop.fields();
  fields.min = std::move(min);
  fields.extent = std::move(extent);
  fields.body = std::move(body);
  if (fields.for_kind == ForKind::kUnrolled) {
    fields.for_kind = ForKind::kSerial;
  }
  return MakeFor(std::move(fields));
}

// Whether the limit allows `loop` to become `steps` statements. The size of an
// unrolled loop holds those of the loops inside whose extents were known.
bool Unroller::Afford(const ForNode& loop, int64_t steps) {
  if (is_counted_ && AsInt(loop.extent)) return true;
  if (emitted_ + steps > kMaxUnrolledStatements) return false;
  emitted_ += steps;
  is_counted_ = true;
  return true;
}

Stmt Unroller::RunFor(const ForNode& loop) {
  Expr min = normalizer_.Run(loop.min), extent = normalizer_.Run(loop.extent);
  const int64_t* count = AsInt(extent);
  const int64_t* first = AsInt(min);
  if (count && *count <= 0) return MakeEvaluate(Int(0));
  const int64_t outer_max_step = max_step_;
  const bool outer_is_counted = is_counted_;
  const bool outer_keeps_loops = keeps_loops_;
  keeps_loops_ |= IsMarked(loop, kTileProduct);
  max_step_ = MaxStep(loop, max_step_);
  Stmt result;
  if (count && *count == 1 && !IsMarked(loop, kTileProduct)) {
    normalizer_.Bind(loop.var.get(), min);
    result = Run(loop.body);
    normalizer_.Bind(loop.var.get(), nullptr);
  } else if (count && first && !keeps_loops_) {
    const Size body = SizeOf(loop.body, max_step_);
    if (Unrolls(loop, body, *count, max_step_) &&
        Afford(loop, Times(body.steps, *count))) {
      result = Repeat(loop, *first, *count);
    } else if (const int64_t copies = SideBySide(loop, body, *count);
               copies > 1) {
      emitted_ += copies * body.steps;
      result = RepeatInLoop(loop, *first, *count, copies);
    }
  }
  if (!result) result = KeepLoop(loop, min, extent);
  keeps_loops_ = outer_keeps_loops;
  max_step_ = outer_max_step;
  is_counted_ = outer_is_counted;
  return result;
}

Stmt Unroller::RunIf(const IfNode& node) {
  const Expr condition = normalizer_.Run(node.condition);
  const int64_t* known = AsInt(condition);
  if (!known) {
    return MakeIf(condition, Run(node.then_case),
                  node.else_case ? Run(node.else_case) : nullptr);
  }
  if (*known) return Run(node.then_case);
  return node.else_case ? Run(node.else_case) : MakeEvaluate(Int(0));
}

Stmt Unroller::RunSeq(const SeqNode& seq) {
  std::vector<Stmt> stmts;
  stmts.reserve(seq.stmts.size());
  for (const Stmt& child : seq.stmts) {
    Stmt stmt = Run(child);
    const auto* evaluate = stmt.As<EvaluateNode>();
    if (!evaluate || !AsInt(evaluate->value)) stmts.push_back(std::move(stmt));
  }
  return MakeSeq(std::move(stmts));
}

Stmt Unroller::Run(const Stmt& s) {
  if (const auto* seq = s.As<SeqNode>()) return RunSeq(*seq);
  if (const auto* loop = s.As<ForNode>()) return RunFor(*loop);
  if (const auto* node = s.As<IfNode>()) return RunIf(*node);
  Stmt own = MapExprs(s, [&](const Expr& e) { return normalizer_.Run(e); });
  return MapChildren(own, [&](const Stmt& child) { return Run(child); });
}

}  // namespace

absl::StatusOr<Function> UnrollLoops(Function f) {
  const int64_t unasked = IsAuto(f) ? kImplicitSteps : 0;
  f.body = lower::MapAlternatives(
      f.body, [&](const Stmt& part) { return Unroller(unasked).Run(part); });
  return f;
}

}  // namespace kiln
