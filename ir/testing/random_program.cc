// A program grows stage by stage: each stage picks tensors that exist and an
// operation that fits their shapes, and drops the idea when it would take too
// many iterations. Every tensor carries a bound of the magnitude of its
// elements, and stages clamp what has grown too large.
//
//   A0 of 5 x 7                                       at most 1
//   T0: A0 times a new W1 of 7 x 4                    7
//   T1: max(T0, 0)                                    7
//   T2: the sum of T1 over its first dimension        35
//   main(A0, W1, T2): inputs that are read, then tensors that no stage reads
#include "kiln/ir/testing/random_program.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include "kiln/base/check.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/numerics.h"

namespace kiln {
namespace {

using Indices = const std::vector<Expr>&;

struct Item {
  te::Tensor tensor;
  double bound;  // of the magnitude of its elements
  bool is_input = false;
  bool is_read = false;
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomProgramOptions& options)
      : random_(seed), options_(options), has_halves_(seed % 4 == 0) {}

  Function Run();

 private:
  using Shape = std::vector<int64_t>;
  struct Stage {
    te::Tensor tensor;
    double bound;
  };

  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool Chance(int percent) { return Below(100) < percent; }
  int64_t Extent() {
    return has_halves_
               ? 2 * Between(1, std::max<int64_t>(options_.max_extent / 2, 1))
               : Between(1, options_.max_extent);
  }

  DType PickType();
  Item& PickItem();
  Item* PickOfRank(size_t rank);
  te::Tensor Input(const Shape& shape, const char* name);
  bool Fits(const Shape& spatial, const Shape& reduce) const;
  std::string NextName() { return "T" + std::to_string(stage_++); }
  bool is_float() const { return dtype_.is_float(); }
  double limit() const { return dtype_ == DType::Float(16) ? 64 : 4096; }
  Expr Const(int64_t quarters) const;

  void AddStage();
  std::optional<Stage> TryStage();
  std::optional<Stage> Unary();
  std::optional<Stage> Pair();
  std::optional<Stage> Permute();
  std::optional<Stage> Reindex();
  std::optional<Stage> Reduce();
  std::optional<Stage> Matmul();
  std::optional<Stage> NarrowMatmul();
  std::optional<Stage> Conv();
  std::optional<Stage> Pool();
  std::optional<Stage> PadZeros();

  Expr UnaryOf(const Expr& x, double in, double* out);
  static Shape ShapeOf(const te::Tensor& t);
  static std::vector<Expr> Exprs(const Shape& shape);

  std::mt19937_64 random_;
  RandomProgramOptions options_;
  bool has_halves_;
  DType dtype_;
  std::vector<Item> items_;
  std::vector<te::Tensor> narrow_;  // inputs of other types
  int stage_ = 0, inputs_ = 0;
};

DType Generator::PickType() {
  const int64_t roll = Below(100);
  if (roll < 70) return DType::Float(32);
  if (roll < 78) return DType::Float(64);
  if (roll < 85) return DType::Float(16);
  return roll < 94 ? DType::Int(32) : DType::Int(64);
}

Generator::Shape Generator::ShapeOf(const te::Tensor& t) {
  Shape shape;
  for (const Expr& e : t.shape()) shape.push_back(*AsInt(e));
  return shape;
}

std::vector<Expr> Generator::Exprs(const Shape& shape) {
  std::vector<Expr> exprs;
  for (int64_t extent : shape) exprs.push_back(Int(extent));
  return exprs;
}

// A quarter is exact in every float type.
Expr Generator::Const(int64_t quarters) const {
  return is_float() ? Constant(quarters * 0.25, dtype_)
                    : Constant(static_cast<double>(quarters), dtype_);
}

Item& Generator::PickItem() {
  // Late tensors are likelier, so that chains grow.
  const size_t n = items_.size();
  return Chance(60) ? items_[n - 1] : items_[Below(n)];
}

Item* Generator::PickOfRank(size_t rank) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    Item& item = PickItem();
    if (item.tensor.shape().size() == rank) return &item;
  }
  return nullptr;
}

te::Tensor Generator::Input(const Shape& shape, const char* name) {
  te::Tensor input =
      te::Placeholder(Exprs(shape), dtype_, name + std::to_string(inputs_++));
  items_.push_back({input, is_float() ? 1.0 : 8.0, /*is_input=*/true});
  return input;
}

bool Generator::Fits(const Shape& spatial, const Shape& reduce) const {
  int64_t work = 1;
  for (int64_t extent : spatial) work *= extent;
  for (int64_t extent : reduce) work *= extent;
  return work > 0 && work <= options_.max_work;
}

// x of magnitude `in` through a random function; `out` bounds the result.
Expr Generator::UnaryOf(const Expr& x, double in, double* out) {
  const Expr zero = Const(0);
  *out = in;
  switch (Below(is_float() ? 8 : 5)) {
    case 0:
      return Max(x, zero);
    case 1:
      *out = in * 2 + 12;
      return Add(Mul(x, Const(2)), Const(Between(-12, 12)));
    case 2:
      return Call(dtype_, Intrinsic::kAbs, {x});
    case 3:
      return Select(LT(x, zero), Sub(zero, x), zero);
    case 4:
      if (is_float()) return Binary(ExprKind::kDiv, x, Const(6));
      return Chance(50) ? FloorDiv(x, Const(Between(1, 5)))
                        : FloorMod(x, Const(Between(1, 5)));
    case 5:
      *out = 1;
      return Call(dtype_, Intrinsic::kTanh, {x});
    case 6:
      *out = 3;
      return Call(dtype_, Intrinsic::kExp, {Min(x, Const(4))});
    default:
      *out = std::sqrt(in) + 1;
      return Call(dtype_, Intrinsic::kSqrt,
                  {Call(dtype_, Intrinsic::kAbs, {x})});
  }
}

std::optional<Generator::Stage> Generator::Unary() {
  Item& a = PickItem();
  if (!Fits(ShapeOf(a.tensor), {})) return std::nullopt;
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double in = a.bound;
  double out = in;
  if (in > limit()) {
    te::Tensor clamped = te::Compute(
        source.shape(),
        [&](Indices i) { return Max(Min(source(i), Const(16)), Const(-16)); },
        NextName());
    return Stage{clamped, is_float() ? 4.0 : 16.0};
  }
  te::Tensor result = te::Compute(
      source.shape(), [&](Indices i) { return UnaryOf(source(i), in, &out); },
      NextName());
  return Stage{result, out};
}

// Two tensors of one shape, or one with a vector along its last dimension.
std::optional<Generator::Stage> Generator::Pair() {
  const size_t first = &PickItem() - items_.data();
  const te::Tensor a = items_[first].tensor;
  const Shape shape = ShapeOf(a);
  if (shape.empty() || !Fits(shape, {})) return std::nullopt;
  int second = -1;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i != first && ShapeOf(items_[i].tensor) == shape && Chance(70)) {
      second = static_cast<int>(i);
    }
  }
  const bool broadcast = second < 0;
  const te::Tensor b =
      broadcast ? Input({shape.back()}, "V") : items_[second].tensor;
  if (broadcast) second = static_cast<int>(items_.size()) - 1;
  const double x = items_[first].bound, y = items_[second].bound;
  items_[first].is_read = items_[second].is_read = true;
  const int64_t kind = x * y > limit() ? Between(1, 3) : Below(4);
  te::Tensor result = te::Compute(
      a.shape(),
      [&](Indices i) -> te::Value {
        const Expr p = a(i);
        const Expr q = broadcast ? b(std::vector<Expr>{i.back()}) : b(i);
        if (kind == 0) return Mul(p, q);
        if (kind == 1) return Add(p, q);
        if (kind == 2) return Sub(p, q);
        return Select(EQ(FloorMod(i[0], Int(2)), Int(0)), p, Max(p, q));
      },
      NextName());
  return Stage{result, kind == 0 ? x * y : x + y};
}

std::optional<Generator::Stage> Generator::Permute() {
  Item& a = PickItem();
  Shape shape = ShapeOf(a.tensor);
  if (shape.size() < 2 || !Fits(shape, {})) return std::nullopt;
  std::vector<size_t> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random_);
  Shape permuted;
  for (size_t d : order) permuted.push_back(shape[d]);
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::Tensor result = te::Compute(
      Exprs(permuted),
      [&](Indices i) {
        std::vector<Expr> at(order.size());
        for (size_t d = 0; d < order.size(); ++d) at[order[d]] = i[d];
        return source(at);
      },
      NextName());
  return Stage{result, bound};
}

// Strided, reversed, repeated or shifted reads along one dimension.
std::optional<Generator::Stage> Generator::Reindex() {
  Item& a = PickItem();
  Shape shape = ShapeOf(a.tensor);
  if (shape.empty() || !Fits(shape, {2})) return std::nullopt;
  const size_t d = Below(shape.size());
  const int64_t n = shape[d], kind = Below(4), begin = Below(n);
  if (kind == 0) shape[d] = (n - begin + 1) / 2;
  if (kind == 2) shape[d] = n * 2;
  if (kind == 3) shape[d] = n - begin;
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::Tensor result = te::Compute(
      Exprs(shape),
      [&](Indices i) {
        std::vector<Expr> at = i;
        if (kind == 0) at[d] = Add(Mul(i[d], Int(2)), Int(begin));
        if (kind == 1) at[d] = Sub(Int(n - 1), i[d]);
        if (kind == 2) at[d] = FloorDiv(i[d], Int(2));
        if (kind == 3) at[d] = Add(i[d], Int(begin));
        return source(at);
      },
      NextName());
  return Stage{result, bound};
}

std::optional<Generator::Stage> Generator::Reduce() {
  Item& a = PickItem();
  Shape shape = ShapeOf(a.tensor);
  if (shape.empty() || !Fits(shape, {})) return std::nullopt;
  const size_t d = Below(shape.size());
  const int64_t extent = shape[d], kind = Below(4);
  if (kind < 2 && a.bound * extent > limit() * 16) return std::nullopt;
  shape.erase(shape.begin() + static_cast<int64_t>(d));
  if (shape.empty()) shape = {1};
  const bool keeps_one = a.tensor.shape().size() == 1;
  te::IterVar k = te::ReduceAxis(0, extent, "k");
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::Tensor result = te::Compute(
      Exprs(shape),
      [&](Indices i) {
        std::vector<Expr> at = keeps_one ? std::vector<Expr>{} : i;
        at.insert(at.begin() + static_cast<int64_t>(d), k);
        const Expr x = source(at);
        if (kind == 2) return te::Max(x, {k});
        return kind == 3 ? te::Min(x, {k}) : te::Sum(x, {k});
      },
      NextName());
  return Stage{result, kind < 2 ? bound * extent : bound};
}

// (.., n, k) by (k, m), or by (m, k).
std::optional<Generator::Stage> Generator::Matmul() {
  const size_t rank = Chance(75) ? 2 : 3;
  Item* a = PickOfRank(rank);
  if (!a) return std::nullopt;
  Shape shape = ShapeOf(a->tensor);
  const int64_t depth = shape.back(), m = Extent();
  shape.back() = m;
  const double bound = a->bound * depth * (is_float() ? 1 : 8);
  if (!Fits(shape, {depth}) || bound > limit() * 16) return std::nullopt;
  a->is_read = true;
  const te::Tensor x = a->tensor;
  const bool transposed = Chance(30);
  const te::Tensor w =
      Input(transposed ? Shape{m, depth} : Shape{depth, m}, "W");
  items_.back().is_read = true;
  te::IterVar k = te::ReduceAxis(0, depth, "k");
  te::Tensor result = te::Compute(
      Exprs(shape),
      [&](Indices i) {
        std::vector<Expr> at = i;
        at.back() = k;
        const Expr weight = transposed ? w(i.back(), k) : w(k, i.back());
        return te::Sum(Mul(x(at), weight), {k});
      },
      NextName());
  return Stage{result, bound};
}

// (n, k) by (k, m) of integers of fewer bits, which are made int32.
std::optional<Generator::Stage> Generator::NarrowMatmul() {
  const Shape out = {Extent(), Extent()};
  const int64_t depth = Extent();
  if (!Fits(out, {depth})) return std::nullopt;
  const DType types[] = {DType::Int(8), DType::UInt(8), DType::Int(16)};
  const auto input = [&](const Shape& shape, const char* name) {
    narrow_.push_back(te::Placeholder(Exprs(shape), types[Below(3)],
                                      name + std::to_string(inputs_++)));
    return narrow_.back();
  };
  Shape rows = out;
  rows.back() = depth;
  const te::Tensor x = input(rows, "N"), w = input({depth, out.back()}, "W");
  te::IterVar k = te::ReduceAxis(0, depth, "k");
  te::Tensor result = te::Compute(
      Exprs(out),
      [&](Indices i) {
        std::vector<Expr> at = i;
        at.back() = k;
        return te::Sum(Mul(Cast(dtype_, x(at)), Cast(dtype_, w(k, i.back()))),
                       {k});
      },
      NextName());
  return Stage{result, 64.0 * static_cast<double>(depth)};
}

// Valid convolution of (.., spatial.., c); padding is a stage of its own.
std::optional<Generator::Stage> Generator::Conv() {
  const size_t spatial = Chance(50) ? 1 : 2;
  Item* a = PickOfRank(spatial + 1);
  if (!a) return std::nullopt;
  const Shape in = ShapeOf(a->tensor);
  const int64_t kernel = Between(1, 3), stride = Between(1, 2), co = Extent();
  Shape out, filter, reduce;
  for (size_t d = 0; d < spatial; ++d) {
    if (in[d] < kernel) return std::nullopt;
    out.push_back((in[d] - kernel) / stride + 1);
    filter.push_back(kernel);
  }
  filter.push_back(in.back());
  reduce = filter;
  filter.push_back(co);
  out.push_back(co);
  const double bound =
      a->bound * in.back() * std::pow(kernel, spatial) * (is_float() ? 1 : 8);
  if (!Fits(out, reduce) || bound > limit() * 16) return std::nullopt;
  a->is_read = true;
  const te::Tensor x = a->tensor, w = Input(filter, "F");
  items_.back().is_read = true;
  std::vector<te::IterVar> taps;
  for (size_t d = 0; d < reduce.size(); ++d) {
    taps.push_back(te::ReduceAxis(0, reduce[d], "r" + std::to_string(d)));
  }
  te::Tensor result = te::Compute(
      Exprs(out),
      [&](Indices i) {
        std::vector<Expr> at, weight(taps.begin(), taps.end());
        for (size_t d = 0; d < spatial; ++d) {
          at.push_back(Add(Mul(i[d], Int(stride)), taps[d]));
        }
        at.push_back(taps.back());
        weight.push_back(i.back());
        return te::Sum(Mul(x(at), w(weight)), taps);
      },
      NextName());
  return Stage{result, bound};
}

// The maximum over a window along one dimension.
std::optional<Generator::Stage> Generator::Pool() {
  Item& a = PickItem();
  Shape shape = ShapeOf(a.tensor);
  const size_t d = Below(shape.size());
  const int64_t window = Between(2, 3), stride = Between(1, 3);
  if (shape[d] < window) return std::nullopt;
  shape[d] = (shape[d] - window) / stride + 1;
  if (!Fits(shape, {window})) return std::nullopt;
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::IterVar k = te::ReduceAxis(0, window, "k");
  te::Tensor result = te::Compute(
      Exprs(shape),
      [&](Indices i) {
        std::vector<Expr> at = i;
        at[d] = Add(Mul(i[d], Int(stride)), k);
        return te::Max(source(at), {k});
      },
      NextName());
  return Stage{result, bound};
}

std::optional<Generator::Stage> Generator::PadZeros() {
  Item& a = PickItem();
  Shape shape = ShapeOf(a.tensor);
  const size_t d = Below(shape.size());
  const int64_t before = Between(0, 2), after = Between(1, 2), n = shape[d];
  shape[d] += before + after;
  if (!Fits(shape, {})) return std::nullopt;
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::Tensor result = te::Compute(
      Exprs(shape),
      [&](Indices i) {
        std::vector<Expr> at = i;
        at[d] = before ? Sub(i[d], Int(before)) : i[d];
        Expr inside = LT(i[d], Int(before + n));
        if (before) inside = And(LE(Int(before), i[d]), inside);
        return Call(dtype_, Intrinsic::kIfThenElse,
                    {inside, source(at), Const(0)});
      },
      NextName());
  return Stage{result, bound};
}

std::optional<Generator::Stage> Generator::TryStage() {
  if (dtype_ == DType::Int(32) && Chance(20)) return NarrowMatmul();
  const int64_t roll = Below(100);
  if (roll < 20) return Unary();
  if (roll < 38) return Pair();
  if (roll < 46) return Permute();
  if (roll < 54) return Reindex();
  if (roll < 64) return Reduce();
  if (roll < 80) return Matmul();
  if (roll < 90) return Conv();
  return roll < 95 ? Pool() : PadZeros();
}

void Generator::AddStage() {
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (std::optional<Stage> stage = TryStage()) {
      items_.push_back({stage->tensor, stage->bound});
      return;
    }
  }
  // Copying one element always fits.
  Item& a = items_.front();
  a.is_read = true;
  const te::Tensor source = a.tensor;
  const double bound = a.bound;
  te::Tensor copy = te::Compute(
      {Int(1)},
      [&](Indices) {
        return source(std::vector<Expr>(source.shape().size(), Int(0)));
      },
      NextName());
  items_.push_back({copy, bound});
}

Function Generator::Run() {
  dtype_ = PickType();
  Shape shape;
  for (int64_t rank = Between(1, 3); rank > 0; --rank) {
    shape.push_back(Extent());
  }
  Input(shape, "A");
  const int64_t stages = Between(1, std::max(options_.max_stages, 1));
  for (int64_t i = 0; i < stages; ++i) AddStage();
  std::vector<te::Tensor> params = narrow_;
  for (const Item& item : items_) {
    if (item.is_input && item.is_read) params.push_back(item.tensor);
  }
  for (const Item& item : items_) {
    if (!item.is_input && !item.is_read) params.push_back(item.tensor);
  }
  absl::StatusOr<Function> f = te::CreatePrimFunc(params);
  KILN_CHECK(f.ok()) << f.status().ToString();
  return *std::move(f);
}

// Lets the layout of every input but the first be free.
void FreeLayouts(Function* f) {
  std::vector<int> inputs;
  for (size_t i = 1; i < f->params.size(); ++i) {
    const Buffer& buffer = f->params[i].buffer;
    if (buffer->name[0] != 'T') inputs.push_back(static_cast<int>(i));
  }
  if (!inputs.empty()) SetLayoutFree(f, inputs);
}

double RandomElement(DType dtype, std::mt19937_64& random) {
  if (dtype.is_bool()) return static_cast<double>(random() % 2);
  if (dtype.is_uint()) return static_cast<double>(random() % 9);
  if (dtype.is_int()) return static_cast<double>(random() % 17) - 8;
  return (static_cast<double>(random() % 129) - 64) / 64;
}

}  // namespace

Function RandomProgram(uint64_t seed, const RandomProgramOptions& options) {
  Function f = Generator(seed, options).Run();
  if (seed % 2 == 0) AllowNormwise(&f);
  if (seed % 16 == 4) FreeLayouts(&f);
  return f;
}

std::vector<Tensor> RandomInputs(const Function& f, uint64_t seed,
                                 int64_t symbol) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& e :
         param.buffer ? param.buffer->shape : std::vector<Expr>()) {
      const int64_t* constant = AsInt(e);
      const int64_t extent = constant ? *constant : symbol;
      KILN_CHECK(extent >= 0) << param.buffer->name << " has a symbolic extent";
      shape.push_back(extent);
    }
    Tensor& t = inputs.emplace_back(
        param.buffer ? param.buffer->dtype : param.var.dtype(),
        std::move(shape));
    for (int64_t i = 0; i < t.size(); ++i) {
      t.Set(i, RandomElement(t.dtype.Element(), random));
    }
  }
  return inputs;
}

}  // namespace kiln
