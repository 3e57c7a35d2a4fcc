// One pass over the stores in program order, with a bound on the magnitude of
// what each buffer holds. An accumulation counts once for each iteration of the
// loops that its element does not follow:
//
//   C[i, j] = C[i, j] + A[i, k] * B[k, j]   # |A|, |B| <= 3, k < 1024
//
// bounds C by 9 * 1024.
#include "kiln/search/measure/whole_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

enum class Form : uint8_t {
  kWhole,    // whole numbers, exactly
  kRounded,  // an exact value rounded once
  kLoose,    // depends on how it is computed
};

struct Known {
  Form form = Form::kWhole;
  double bound = 0;  // of the magnitude
};

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr Known kNothing = {Form::kLoose, kUnbounded};
constexpr double kNormwiseSlack = 64;
// Beyond it, a constant stands for infinity: it is what a maximum begins with.
constexpr double kHuge = 1e4;

// Up to which magnitude a type holds every whole number.
double ExactLimit(DType dtype) {
  if (!dtype.is_float()) return kUnbounded;
  if (dtype.code() == TypeCode::kBFloat) return std::ldexp(1, 8);
  if (dtype.bits() == 16) return std::ldexp(1, 11);
  return std::ldexp(1, dtype.bits() == 32 ? 24 : 53);
}

// `slack`: how many times larger than the sums themselves partial sums may be.
Known Whole(double bound, DType dtype, double slack) {
  if (!dtype.is_float()) {
    // Wraps, in any order alike.
    return {Form::kWhole, std::min(bound, std::ldexp(1, dtype.bits()))};
  }
  return bound * slack <= ExactLimit(dtype) ? Known{Form::kWhole, bound}
                                            : kNothing;
}

Known Join(const Known& a, const Known& b) {
  return {std::max(a.form, b.form), std::max(a.bound, b.bound)};
}

class Pass {
 public:
  Pass(std::unordered_map<const BufferNode*, Known> known, double slack)
      : slack_(slack), known_(std::move(known)) {}

  void Go(const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) return Store(*store);
    if (const auto* loop = s.As<ForNode>()) {
      loops_.push_back(loop);
      Go(loop->body);
      loops_.pop_back();
      return;
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (size_t i = 0; i < realize->values.size(); ++i) {
        bound_[realize->block->iters[i].var.get()] =
            Substitute(realize->values[i], bound_);
      }
    }
    const auto* branch = s.As<IfNode>();
    const auto* let = s.As<LetStmtNode>();
    if (branch) Condition(branch->condition);
    if (let) lets_[let->var.get()] = Of(let->value);
    ForEachChild(s, [&](const Stmt& child) { Go(child); });
  }

  bool IsExact(const Buffer& buffer) const {
    const auto found = known_.find(buffer.get());
    return !loose_conditions_ &&
           (found == known_.end() || found->second.form != Form::kLoose);
  }

 private:
  // How often a store may meet one element.
  double Meetings(const std::vector<Expr>& indices) const {
    double meetings = 1;
    for (const ForNode* loop : loops_) {
      const bool follows =
          std::any_of(indices.begin(), indices.end(),
                      [&](const Expr& index) { return index == loop->var; });
      const int64_t* extent = AsInt(loop->extent);
      if (!follows) meetings *= extent ? *extent : kUnbounded;
    }
    return meetings;
  }

  void Store(const StoreNode& store) {
    std::vector<Expr> indices;
    for (const Expr& index : store.indices) {
      indices.push_back(Substitute(index, bound_));
    }
    Known& known = known_[store.buffer.get()];
    const double meetings = Meetings(indices);
    if (!LoadsFrom(store.value, store.buffer) || meetings == 1) {
      known = Join(known, Of(store.value));
    } else {
      known = Accumulated(store, indices, known, meetings);
    }
  }

  // What many steps of `x = x + term`, or of a maximum, make of `known`.
  Known Accumulated(const StoreNode& store, const std::vector<Expr>& indices,
                    const Known& known, double meetings) {
    const auto* step = store.value.As<BinaryNode>();
    if (!step) return kNothing;
    const bool first = IsOwn(step->a, store.buffer, indices);
    const Expr& own = first ? step->a : step->b;
    const Expr& term = first ? step->b : step->a;
    if (!IsOwn(own, store.buffer, indices) || LoadsFrom(term, store.buffer)) {
      return kNothing;
    }
    const Known one = Of(term);
    const bool adds =
        step->kind == ExprKind::kAdd || (step->kind == ExprKind::kSub && first);
    if (step->kind == ExprKind::kMax || step->kind == ExprKind::kMin) {
      return Join(known, one);
    }
    if (!adds || known.form != Form::kWhole || one.form != Form::kWhole) {
      return kNothing;
    }
    return Whole(known.bound + meetings * one.bound, store.value.dtype(),
                 slack_);
  }

  bool IsOwn(const Expr& e, const Buffer& buffer,
             const std::vector<Expr>& indices) const {
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != buffer) return false;
    Analyzer analyzer;
    for (size_t d = 0; d < indices.size(); ++d) {
      const Expr index = Substitute(load->indices[d], bound_);
      if (!analyzer.CanProveEqual(index, indices[d])) return false;
    }
    return true;
  }

  // A condition on loose values may be decided either way.
  void Condition(const Expr& e) {
    if (Of(e).form == Form::kLoose) loose_conditions_ = true;
  }

  Known OfConstant(double value) const {
    const double magnitude = std::abs(value);
    if (magnitude >= kHuge) return {Form::kWhole, 0};
    if (value != std::nearbyint(value)) return {Form::kRounded, magnitude};
    return {Form::kWhole, magnitude};
  }

  Known Of(const Expr& e) {
    if (const auto* imm = e.As<FloatImmNode>()) return OfConstant(imm->value);
    if (const int64_t* imm = AsInt(e)) {
      return {Form::kWhole, std::abs(static_cast<double>(*imm))};
    }
    if (const auto* load = e.As<LoadNode>()) {
      for (const Expr& index : load->indices) {
        if (Of(index).form == Form::kLoose) return kNothing;
      }
      return known_[load->buffer.get()];
    }
    if (const auto* var = e.As<VarNode>()) {
      const auto found = lets_.find(var);
      if (found != lets_.end()) return found->second;
      return {Form::kWhole, std::ldexp(1, 31)};
    }
    if (const auto* cast = e.As<CastNode>()) return OfCast(*cast);
    if (const auto* choice = e.As<SelectNode>()) {
      Condition(choice->condition);
      return Join(Of(choice->true_value), Of(choice->false_value));
    }
    if (const auto* binary = e.As<BinaryNode>()) return OfBinary(*binary);
    if (const auto* call = e.As<CallNode>()) return OfCall(*call);
    if (const auto* negated = e.As<NotNode>()) return Of(negated->value);
    if (const auto* let = e.As<LetNode>()) {
      lets_[let->var.get()] = Of(let->value);
      return Of(let->body);
    }
    return kNothing;
  }

  Known OfCast(const CastNode& cast) {
    const Known from = Of(cast.value);
    if (!cast.dtype.is_float() || from.form == Form::kLoose) {
      return from.form == Form::kWhole ? Whole(from.bound, cast.dtype, slack_)
                                       : from;
    }
    if (from.bound > ExactLimit(cast.dtype)) {
      return {Form::kRounded, from.bound};
    }
    return from;
  }

  Known OfBinary(const BinaryNode& binary) {
    const Known a = Of(binary.a), b = Of(binary.b);
    const bool whole = a.form == Form::kWhole && b.form == Form::kWhole;
    switch (binary.kind) {
      case ExprKind::kAdd:
      case ExprKind::kSub:
        return whole ? Whole(a.bound + b.bound, binary.dtype, slack_)
                     : kNothing;
      case ExprKind::kMul:
        return whole ? Whole(a.bound * b.bound, binary.dtype, slack_)
                     : kNothing;
      case ExprKind::kMin:
      case ExprKind::kMax:
        return Join(a, b);
      case ExprKind::kDiv:
        return kNothing;
      case ExprKind::kFloorDiv:
      case ExprKind::kTruncDiv:
        return whole ? a : kNothing;
      case ExprKind::kFloorMod:
      case ExprKind::kTruncMod:
        return whole ? b : kNothing;
      default:
        // Comparisons.
        return a.form == Form::kLoose || b.form == Form::kLoose
                   ? kNothing
                   : Known{Form::kWhole, 1};
    }
  }

  Known OfCall(const CallNode& call) {
    switch (call.op) {
      case Intrinsic::kIfThenElse:
        Condition(call.args[0]);
        return Join(Of(call.args[1]), Of(call.args[2]));
      case Intrinsic::kLikely:
      case Intrinsic::kAbs:
        return Of(call.args[0]);
      case Intrinsic::kSqrt: {
        const Known from = Of(call.args[0]);
        return from.form == Form::kWhole ? Known{Form::kRounded, from.bound}
                                         : kNothing;
      }
      case Intrinsic::kMinValue:
      case Intrinsic::kMaxValue:
      case Intrinsic::kInfinity:
        return {Form::kWhole, 0};
      default:
        return kNothing;
    }
  }

  const double slack_;
  std::unordered_map<const BufferNode*, Known> known_;
  std::unordered_map<const VarNode*, Known> lets_;
  std::vector<const ForNode*> loops_;
  VarMap bound_;
  bool loose_conditions_ = false;
};

int CountExact(const Function& f, const std::vector<bool>& is_drawn,
               std::vector<double> magnitudes, double drawn) {
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    if (is_drawn[i]) magnitudes[i] = drawn;
  }
  const std::vector<bool> exact = ExactBuffers(f, magnitudes);
  return static_cast<int>(std::count(exact.begin(), exact.end(), true));
}

}  // namespace

std::vector<bool> ExactBuffers(const Function& f,
                               absl::Span<const double> magnitudes) {
  std::unordered_map<const BufferNode*, Known> known;
  std::vector<Buffer> buffers;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    known[param.buffer.get()] = {Form::kWhole, magnitudes[buffers.size()]};
    buffers.push_back(param.buffer);
  }
  // Products by quadrants add operands first, and their results several times.
  Pass pass(std::move(known), AllowsNormwise(f) ? kNormwiseSlack : 1);
  pass.Go(f.body);
  std::vector<bool> exact;
  for (const Buffer& buffer : buffers) exact.push_back(pass.IsExact(buffer));
  return exact;
}

int64_t LargestExactMagnitude(const Function& f,
                              const std::vector<bool>& is_drawn,
                              const std::vector<double>& others) {
  const int most = CountExact(f, is_drawn, others, 1);
  for (int64_t magnitude : {3, 2}) {
    if (CountExact(f, is_drawn, others, static_cast<double>(magnitude)) ==
        most) {
      return magnitude;
    }
  }
  return 1;
}

void FillWholeNumbers(const NDArray& array, int64_t magnitude, uint64_t seed) {
  const DType dtype = array.dtype();
  if (dtype.is_bool()) return FillSmallInts(array, 0, 1, seed);
  if (dtype.is_uint()) return FillSmallInts(array, 1, magnitude, seed);
  FillNonZeroInts(array, magnitude, seed);
}

}  // namespace kiln
